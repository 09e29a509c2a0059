// SPDX-License-Identifier: MIT

internal import LupineTransport
internal import Synchronization

/// Names one delegate for as long as it lives, and is never used twice in a process: unlike an `ObjectIdentifier`, which a
/// new object at a dead one's address shares.
///
/// It keeps nothing alive. Connections, TLS sessions and stored responses that somebody accepted are labelled with it, and
/// only who has the same living object gets them. Any thread.
struct DelegateToken: Hashable, Sendable {
    private let number: UInt64

    /// The token of a delegate: the same each time that it is asked for, as long as the object lives.
    init(of delegate: any AnyObject & Sendable) { number = Self.book.number(of: delegate) }

    private static let book = Book()

    /// The delegates that have a token.
    private final class Book: Sendable {
        private struct Entry: Sendable {
            weak let delegate: (any AnyObject & Sendable)?
            let number: UInt64
        }

        private struct State: Sendable {
            var entries: [ObjectIdentifier: Entry] = [:]
            var last: UInt64 = 0
            /// How many entries there may be before those of the dead are looked for: twice as many as were alive then.
            var limit = 64
        }

        private let state = Lock(State())

        func number(of delegate: any AnyObject & Sendable) -> UInt64 {
            let identifier = ObjectIdentifier(delegate)
            let (number, isCrowded) = state.withLock { state -> (UInt64, Bool) in
                // A weak reference to whatever was there before stays nil. One that is not is to this very object, whom the
                // caller holds: nothing goes away under the lock.
                if let entry = state.entries[identifier], entry.delegate === delegate {
                    return (entry.number, false)
                }
                state.last += 1
                state.entries[identifier] = Entry(delegate: delegate, number: state.last)
                return (state.last, state.entries.count > state.limit)
            }
            if isCrowded { forgetTheDead() }
            return number
        }

        /// To look whether an object lives is to hold it for a moment, and whoever lets go of it last ends it: outside of the
        /// lock.
        private func forgetTheDead() {
            let living = state.withLock { state in
                let living = state.entries.mapValues { $0.delegate }
                state.entries = state.entries.filter { living[$0.key].flatMap { $0 } != nil }
                state.limit = max(64, state.entries.count * 2)
                return living
            }
            withExtendedLifetime(living) {}
        }
    }
}
