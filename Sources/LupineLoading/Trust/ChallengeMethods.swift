// SPDX-License-Identifier: MIT

import LupineTransport

/// The delegate classes that are known not to implement the challenge methods.
///
/// Swift cannot tell whether a class implements a protocol method that has a default implementation; the default records it when
/// it is called. So a class counts as handling challenges until both defaults have run for it. May be used on any thread.
enum ChallengeMethods {
    /// A challenge method that a class may lack.
    enum Method: Hashable, Sendable { case session, task }

    private struct Lack: Hashable, Sendable {
        let type: ObjectIdentifier
        let method: Method
    }

    private static let lacks = Lock<Set<Lack>>([])

    /// Records that the default implementation was called for an object of this class.
    static func note(_ type: any Any.Type, lacks method: Method) {
        let lack = Lack(type: ObjectIdentifier(type), method: method)
        lacks.withLock { lacks in
            // Usually it is recorded already; not changing the set avoids a copy.
            if !lacks.contains(lack) { lacks.insert(lack) }
        }
    }

    /// Whether a challenge to an object of this class would run no code of the program's.
    static func areMissing(in type: ObjectIdentifier, takesTaskCalls: Bool) -> Bool {
        lacks.withLock { lacks in
            lacks.contains(Lack(type: type, method: .session))
                && (!takesTaskCalls || lacks.contains(Lack(type: type, method: .task)))
        }
    }
}
