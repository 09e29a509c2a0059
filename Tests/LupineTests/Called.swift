// SPDX-License-Identifier: MIT

@testable import Lupine

/// Calls `body` with a callback, and returns the value that the callback is called with. The value passes through a lock,
/// because ThreadSanitizer does not see that a continuation orders the two threads.
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
