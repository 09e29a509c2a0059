// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The protocol classes of the process: what `URLProtocol.registerClass` has been told. Any thread.
enum ProtocolRegistry {
    /// The latest first.
    private static let registered = Lock<[AnyClass]>([])

    /// The classes, in the order in which they are asked.
    static var classes: [AnyClass] { registered.withLock { $0 } }

    /// What a new configuration has: nil for none.
    static var defaultClasses: [AnyClass]? {
        let classes = classes
        return classes.isEmpty ? nil : classes
    }

    /// Has a class asked before those that are there. One that is there keeps its place.
    static func add(_ new: AnyClass) {
        registered.withLock { classes in
            if !classes.contains(where: { $0 == new }) { classes.insert(new, at: 0) }
        }
    }

    /// Has a class not asked any more.
    static func remove(_ old: AnyClass) {
        registered.withLock { classes in classes.removeAll { $0 == old } }
    }
}
