// SPDX-License-Identifier: MIT

import LupineTransport

/// Records the delegate classes that do not implement the challenge methods.
///
/// Swift cannot tell whether a class implements a protocol method that has a default implementation. Therefore each default
/// implementation records the class that it is called for: a class counts as handling challenges until both defaults have run for
/// it. May be used on any thread.
enum ChallengeMethods {
    /// A challenge method that a class may lack.
    enum Method: Hashable, Sendable { case session, task }

    /// A class with a method that it does not implement.
    private struct MissingMethod: Hashable, Sendable {
        let type: ObjectIdentifier
        let method: Method
    }

    private static let missing = Lock<Set<MissingMethod>>([])

    /// Records that the default implementation was called for an object of this class.
    static func recordMissing(_ method: Method, in type: any Any.Type) {
        let entry = MissingMethod(type: ObjectIdentifier(type), method: method)
        missing.withLock { missing in
            // Usually the set has the entry already; then nothing is written.
            if !missing.contains(entry) { missing.insert(entry) }
        }
    }

    /// Whether an object of this class is known to implement no challenge method that it could be called with.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - isTaskDelegate: Whether the class conforms to `URLSessionTaskDelegate`, so that the method for tasks matters too.
    static func areMissing(in type: ObjectIdentifier, isTaskDelegate: Bool) -> Bool {
        missing.withLock { missing in
            missing.contains(MissingMethod(type: type, method: .session))
                && (!isTaskDelegate || missing.contains(MissingMethod(type: type, method: .task)))
        }
    }
}
