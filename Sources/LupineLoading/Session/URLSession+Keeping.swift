// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// Keeps something of the program's that the event loop which the caller is on may be the last to hold: it goes away on the delegate
    /// queue, when the loop has left what it is doing.
    ///
    /// - Parameters:
    ///   - object: What is kept.
    ///   - kept: What an earlier call has returned: the object is added to it, if the loop is still doing the same.
    /// - Returns: What holds the object; nil, and without effect, elsewhere than on a loop.
    package func keep(_ object: some Sendable, with kept: KeptObjects? = nil) -> KeptObjects? {
        guard let loop = EventLoop.current else { return nil }
        if let kept, kept.loop == ObjectIdentifier(loop), kept.add(object) { return kept }
        let kept = KeptObjects(object, loop: ObjectIdentifier(loop))
        loop.executeOnLoop { [core] in core.queue.add { kept.letGo() } }
        return kept
    }
}

/// Objects that whoever holds this last does not let go of: that happens where `letGo` is called.
package final class KeptObjects: Sendable {
    /// The loop that is not to be the last to hold them.
    fileprivate let loop: ObjectIdentifier?
    private let objects: Lock<[any Sendable]?>

    /// Keeps one object.
    package convenience init(_ object: some Sendable) { self.init(object, loop: nil) }

    fileprivate init(_ object: some Sendable, loop: ObjectIdentifier?) {
        self.loop = loop
        objects = Lock([object])
    }

    /// Keeps another one. False if they have been let go of.
    package func add(_ object: some Sendable) -> Bool {
        objects.withLock { objects in
            if objects == nil { return false }
            objects?.append(object)
            return true
        }
    }

    /// Lets go of all of them.
    package func letGo() { _ = objects.withLock { $0.take() } }
}
