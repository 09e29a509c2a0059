// SPDX-License-Identifier: MIT

internal import LupineTransport

extension URLSession {
    /// Keeps something of the program's that the event loop which the caller is on may be the last to hold: it goes away on the delegate
    /// queue, when the loop has left what it is doing. Without effect elsewhere than on a loop.
    package func keep(_ object: some Sendable) {
        guard let loop = EventLoop.current else { return }
        let kept = Kept(object)
        loop.executeOnLoop { [core] in core.queue.add { kept.letGo() } }
    }
}

/// Something that whoever holds this last does not let go of.
private final class Kept: Sendable {
    private let object: Lock<(any Sendable)?>

    init(_ object: some Sendable) { self.object = Lock(object) }

    func letGo() { _ = object.withLock { $0.take() } }
}
