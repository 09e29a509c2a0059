// SPDX-License-Identifier: MIT

import Synchronization

/// What a handler was given, in order.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func note(_ value: Value) { values.withLock { $0.append(value) } }
}
