// SPDX-License-Identifier: MIT

@testable import Lupine

/// What a callback is called with, once. It is handed over under a lock: ThreadSanitizer does not see the order in which a
/// continuation puts two threads.
func called<Value: Sendable>(_ body: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
    let value = Protected<Value?>(nil)
    await withCheckedContinuation { continuation in
        body { came in
            value.write { $0 = came }
            continuation.resume()
        }
    }
    guard let came = value.read({ $0 }) else { preconditionFailure("it was written before the resumption") }
    return came
}
