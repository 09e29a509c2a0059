// SPDX-License-Identifier: MIT

import LupineTransport

/// Stands for one object of the program's without keeping it alive: equal tokens mean the same object, and no object that
/// comes later has the token of one that is gone.
struct ObjectToken: Hashable, Sendable {
    private let number: UInt64

    private struct Registry: Sendable {
        var notes: [ObjectIdentifier: Note] = [:]
        var lastNumber: UInt64 = 0
        /// At how many notes those of objects that are gone are looked for.
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

    /// The token of an object, the same each time.
    init(of object: any AnyObject & Sendable) {
        let (number, crowd) = Self.registry.withLock { registry -> (UInt64, [Note]) in
            let place = ObjectIdentifier(object)
            // An address is used again; a reference to an object that is gone is not. The caller keeps this one, so that it
            // cannot end here.
            if let note = registry.notes[place], note.object != nil { return (note.number, []) }
            registry.lastNumber += 1
            registry.notes[place] = Note(object, registry.lastNumber)
            let isFull = registry.notes.count > registry.limit
            return (registry.lastNumber, isFull ? Array(registry.notes.values) : [])
        }
        self.number = number
        if !crowd.isEmpty { Self.forget(crowd) }
    }

    /// Looking at an object may be the last that is done with it: its end is the program's code, and not for under a lock.
    private static func forget(_ crowd: [Note]) {
        let gone = Set(crowd.filter { $0.object == nil }.map(\.number))
        registry.withLock { registry in
            registry.notes = registry.notes.filter { !gone.contains($0.value.number) }
            registry.limit = max(64, registry.notes.count * 2)
        }
    }
}
