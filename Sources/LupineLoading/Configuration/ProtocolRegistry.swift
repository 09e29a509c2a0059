// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The classes that were registered with `URLProtocol.registerClass` in this process. Any thread may use it.
enum ProtocolRegistry {
    /// The registered classes, the latest first.
    private static let registered = Lock<[AnyClass]>([])

    /// The classes in the order in which their `canInit(with:)` is called.
    static var classes: [AnyClass] { registered.withLock { $0 } }

    /// The classes of a new configuration; nil if there are none.
    static var defaultClasses: [AnyClass]? {
        let classes = classes
        return classes.isEmpty ? nil : classes
    }

    /// Adds a class before the others. A class that is registered already keeps its position.
    static func add(_ new: AnyClass) {
        registered.withLock { classes in
            if !classes.contains(where: { $0 == new }) { classes.insert(new, at: 0) }
        }
    }

    /// Removes a class.
    static func remove(_ old: AnyClass) {
        registered.withLock { classes in classes.removeAll { $0 == old } }
    }
}
