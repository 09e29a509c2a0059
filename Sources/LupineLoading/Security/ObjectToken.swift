// SPDX-License-Identifier: MIT

import LupineTransport

/// Identifies an object of the program's without keeping it alive: equal tokens mean the same object, and a later object never
/// has the token of a deallocated one.
struct ObjectToken: Hashable, Sendable {
    private let number: UInt64

    private struct Registry: Sendable {
        var notes: [ObjectIdentifier: Note] = [:]
        var lastNumber: UInt64 = 0
        /// The number of notes at which those of deallocated objects are removed.
        var limit = 64
    }

    private final class Note: Sendable {
        weak let object: (any AnyObject & Sendable)?
        let number: UInt64

        init(_ object: any AnyObject & Sendable, _ number: UInt64) {
            self.object = object
            self.number = number
        }
    }

    private static let registry = Lock(Registry())

    /// The token of an object, which is the same each time.
    init(of object: any AnyObject & Sendable) {
        let (number, crowd) = Self.registry.withLock { registry -> (UInt64, [Note]) in
            let place = ObjectIdentifier(object)
            // Addresses are reused, but a weak reference to a deallocated object stays nil. The caller retains the object, so its
            // deinit cannot run here, under the lock.
            if let note = registry.notes[place], note.object != nil { return (note.number, []) }
            registry.lastNumber += 1
            registry.notes[place] = Note(object, registry.lastNumber)
            let isFull = registry.notes.count > registry.limit
            return (registry.lastNumber, isFull ? Array(registry.notes.values) : [])
        }
        self.number = number
        if !crowd.isEmpty { Self.forget(crowd) }
    }

    /// Loading a weak reference may release the object for the last time, and its deinit is the program's code: not under the
    /// lock.
    private static func forget(_ crowd: [Note]) {
        let gone = Set(crowd.filter { $0.object == nil }.map(\.number))
        registry.withLock { registry in
            registry.notes = registry.notes.filter { !gone.contains($0.value.number) }
            registry.limit = max(64, registry.notes.count * 2)
        }
    }
}
