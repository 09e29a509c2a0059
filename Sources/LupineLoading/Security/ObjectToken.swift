// SPDX-License-Identifier: MIT

import LupineTransport

/// Identifies an object of the program without keeping it alive: equal tokens mean the same object, and a later object never has
/// the token of a deallocated one.
struct ObjectToken: Hashable, Sendable {
    private let number: UInt64

    /// The objects that have a token.
    private struct Registry: Sendable {
        /// The entries by the identifier of their object, which is its address.
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The number of the newest token; no number is used twice.
        var lastNumber: UInt64 = 0
        /// The number of entries above which the entries of deallocated objects are removed.
        var limit = Registry.minLimit

        /// The smallest limit.
        static let minLimit = 64
    }

    /// An object with the number of its token.
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
            // If the entry at this address is of a deallocated object, its weak reference is nil. Otherwise the entry is of
            // `object`. The caller retains `object`, so loading the weak reference cannot run its `deinit` under the lock.
            if let entry = registry.entries[identifier], entry.object != nil { return (entry.number, []) }
            registry.lastNumber += 1
            registry.entries[identifier] = Entry(object, registry.lastNumber)
            let isFull = registry.entries.count > registry.limit
            return (registry.lastNumber, isFull ? Array(registry.entries.values) : [])
        }
        self.number = number
        if !candidates.isEmpty { Self.removeDeallocated(candidates) }
    }

    /// Removes the candidates whose object is deallocated. Loads the weak references outside the lock: each load retains
    /// the object for a moment, and the release may run its `deinit`, which is the program's code.
    private static func removeDeallocated(_ candidates: [Entry]) {
        let deallocated = Set(candidates.filter { $0.object == nil }.map(\.number))
        registry.withLock { registry in
            registry.entries = registry.entries.filter { !deallocated.contains($0.value.number) }
            registry.limit = max(Registry.minLimit, registry.entries.count * 2)
        }
    }
}
