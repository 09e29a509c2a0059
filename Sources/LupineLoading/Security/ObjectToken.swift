// SPDX-License-Identifier: MIT

import LupineTransport

/// Identifies an object of the program without keeping it alive: equal tokens mean the same object, and a later object never has
/// the token of a deallocated one.
struct ObjectToken: Hashable, Sendable {
    private let number: UInt64

    private struct Registry: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        var lastNumber: UInt64 = 0
        /// The number of entries above which those of deallocated objects are removed.
        var limit = 64
    }

    private final class Entry: Sendable {
        weak let object: (any AnyObject & Sendable)?
        let number: UInt64

        init(_ object: any AnyObject & Sendable, _ number: UInt64) {
            self.object = object
            self.number = number
        }
    }

    private static let registry = Lock(Registry())

    /// Creates the token of an object. All tokens of an object are equal.
    init(of object: any AnyObject & Sendable) {
        let (number, candidates) = Self.registry.withLock { registry -> (UInt64, [Entry]) in
            let identifier = ObjectIdentifier(object)
            // A new object may have the address of a deallocated one, but a weak reference to the latter stays nil. The caller
            // retains `object`, so loading the weak reference cannot run its deinit under the lock.
            if let entry = registry.entries[identifier], entry.object != nil { return (entry.number, []) }
            registry.lastNumber += 1
            registry.entries[identifier] = Entry(object, registry.lastNumber)
            let isFull = registry.entries.count > registry.limit
            return (registry.lastNumber, isFull ? Array(registry.entries.values) : [])
        }
        self.number = number
        if !candidates.isEmpty { Self.removeDeallocated(candidates) }
    }

    /// Removes those of the entries whose object is deallocated. Loads the weak references outside the lock, because releasing
    /// the loaded reference may run an object's deinit, which is the program's code.
    private static func removeDeallocated(_ candidates: [Entry]) {
        let deallocated = Set(candidates.filter { $0.object == nil }.map(\.number))
        registry.withLock { registry in
            registry.entries = registry.entries.filter { !deallocated.contains($0.value.number) }
            registry.limit = max(64, registry.entries.count * 2)
        }
    }
}
