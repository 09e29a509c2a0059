// SPDX-License-Identifier: MIT

import LupineTransport

/// A value that several threads may read and write.
final class LockedValue<Value: Sendable>: Sendable {
    private let lock: Lock<Value>

    init(_ value: Value) { lock = Lock(value) }

    var value: Value { lock.withLock { $0 } }

    func set(_ value: Value) { lock.withLock { $0 = value } }

    func update(_ body: @Sendable (inout Value) -> Void) { lock.withLock { body(&$0) } }
}
