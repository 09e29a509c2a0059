// SPDX-License-Identifier: MIT

import LupineTransport

/// Values that a delegate or closure was given, in order, from any thread.
final class SeenValues<Value: Sendable>: Sendable {
    private let lock = Lock<[Value]>([])

    var all: [Value] { lock.withLock { $0 } }

    func note(_ value: Value) { lock.withLock { $0.append(value) } }
}
