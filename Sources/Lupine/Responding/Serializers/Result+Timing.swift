// SPDX-License-Identifier: MIT

internal import Foundation

extension Result where Failure == AFError {
    /// Calls a serializer. Returns its result and the duration of the call in seconds. An error other than an `AFError` is
    /// wrapped in `responseSerializationFailed(.customSerializationFailed)`.
    static func timed(_ serialize: () throws -> Success) -> (result: Self, duration: TimeInterval) {
        let start = ContinuousClock.now
        let result: Self
        do {
            result = .success(try serialize())
        } catch {
            result = .failure(
                error.asAFError(
                    or: .responseSerializationFailed(reason: .customSerializationFailed(error: error))))
        }
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return (result, TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18)
    }
}
