// SPDX-License-Identifier: MIT

import LupineTransport

/// Which classes of delegates are known to have none of the methods for challenges.
///
/// Swift does not tell whether a class implements a method that a protocol has a default for; the default learns it when it is
/// called. So a class counts as one that answers challenges until both defaults have run for it. Any thread.
enum ChallengeMethods {
    /// The method that somebody lacks.
    enum Method: Hashable, Sendable { case session, task }

    private struct Lack: Hashable, Sendable {
        let type: ObjectIdentifier
        let method: Method
    }

    private static let lacks = Lock<Set<Lack>>([])

    /// The default implementation was called for an object of that class.
    static func note(_ type: any Any.Type, lacks method: Method) {
        let lack = Lack(type: ObjectIdentifier(type), method: method)
        lacks.withLock { lacks in
            // Mostly it is known, and a set that is not changed is not copied.
            if !lacks.contains(lack) { lacks.insert(lack) }
        }
    }

    /// Whether no challenge reaches code of the program's in such an object.
    static func areMissing(in type: ObjectIdentifier, takesTaskCalls: Bool) -> Bool {
        lacks.withLock { lacks in
            lacks.contains(Lack(type: type, method: .session))
                && (!takesTaskCalls || lacks.contains(Lack(type: type, method: .task)))
        }
    }
}
