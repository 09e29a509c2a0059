// SPDX-License-Identifier: MIT

import LupineTransport

/// Records the delegate classes that do not implement the challenge methods.
///
/// Swift cannot tell whether a class implements a protocol method that has a default implementation. Therefore each default
/// implementation records the class of the object for which it is called. A class counts as handling challenges until the default
/// implementations of both methods have run for it. May be used on any thread.
enum ChallengeMethods {
    /// A challenge method that a class may lack.
    enum Method: Hashable, Sendable {
        /// The delegate method without a task parameter.
        case session
        /// The delegate method with a task parameter.
        case task
    }

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
            // Usually the set contains the entry already, and need not be changed.
            if !missing.contains(entry) { missing.insert(entry) }
        }
    }

    /// Returns whether this class is known to implement none of the challenge methods that could be called.
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
