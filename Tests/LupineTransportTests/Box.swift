// SPDX-License-Identifier: MIT

import LupineTransport

/// A value that several threads write to in a test.
final class Box<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    init(_ value: Value) { lock = Lock(value) }

    var value: Value { lock.withLock { $0 } }

    func update(_ body: (inout Value) -> Void) {
        lock.withLock { body(&$0) }
    }
}
