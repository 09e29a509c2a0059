// SPDX-License-Identifier: MIT

import Synchronization

/// The values that a handler was given, in order.
final class Seen<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func note(_ value: Value) { values.withLock { $0.append(value) } }
}
