// SPDX-License-Identifier: MIT

internal import Foundation

extension Result where Failure == AFError {
    /// Returns the result of a serializer and its duration in seconds. Errors other than `AFError` are wrapped.
    static func timed(_ serialize: () throws -> Success) -> (Self, TimeInterval) {
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
