// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The classes that were registered with `URLProtocol.registerClass` in this process. Any thread may use it.
enum ProtocolRegistry {
    /// The registered classes, the latest first.
    private static let registeredClasses = Lock<[AnyClass]>([])

    /// The registered classes, in the order in which their `canInit(with:)` is called: the latest first.
    static var classes: [AnyClass] { registeredClasses.withLock { $0 } }

    /// The `protocolClasses` of a new configuration; nil if no class is registered.
    static var defaultClasses: [AnyClass]? {
        let classes = classes
        return classes.isEmpty ? nil : classes
    }

    /// Adds a class before the others. A class that is registered already keeps its position.
    static func add(_ newClass: AnyClass) {
        registeredClasses.withLock { classes in
            if !classes.contains(where: { $0 == newClass }) { classes.insert(newClass, at: 0) }
        }
    }

    /// Removes a class.
    static func remove(_ removedClass: AnyClass) {
        registeredClasses.withLock { classes in classes.removeAll { $0 == removedClass } }
    }
}
