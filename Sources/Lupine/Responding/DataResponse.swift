// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The response of a request whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// What a data or upload request came to: the result, and the evidence for it.
public struct DataResponse<Success: Sendable, Failure: Error & Sendable>: Sendable {
    /// The request that was sent, as adapted; nil when there was none.
    public let request: URLRequest?
    /// The server's response; nil when none came.
    public let response: HTTPURLResponse?
    /// The content; nil when none came.
    public let data: Data?
    /// What was measured of the last attempt; nil when there was no task.
    public let metrics: URLSessionTaskMetrics?
    /// How long the serializer took, in seconds.
    public let serializationDuration: TimeInterval
    /// The value, or why there is none.
    public let result: Result<Success, Failure>

    /// The value of a success.
    public var value: Success? {
        if case .success(let value) = result { return value }
        return nil
    }

    /// The error of a failure.
    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// A response of these parts.
    public init(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, metrics: URLSessionTaskMetrics?,
        serializationDuration: TimeInterval, result: Result<Success, Failure>
    ) {
        self.request = request
        self.response = response
        self.data = data
        self.metrics = metrics
        self.serializationDuration = serializationDuration
        self.result = result
    }
}
