// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The response of a request whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// The outcome of a data or upload request: the result, and the request, response, data and metrics that led to it.
public struct DataResponse<Success: Sendable, Failure: Error & Sendable>: Sendable {
    /// The sent request, after adaptation; nil when no request was created.
    public let request: URLRequest?
    /// The server's response; nil when none was received.
    public let response: HTTPURLResponse?
    /// The content; nil when none was received.
    public let data: Data?
    /// The metrics of the last attempt; nil when there was no task.
    public let metrics: URLSessionTaskMetrics?
    /// The time that the serializer took, in seconds.
    public let serializationDuration: TimeInterval
    /// The value or the error.
    public let result: Result<Success, Failure>

    // The members are the same as in `DownloadResponse`: Alamofire declares both types.

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

    /// Creates a response.
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
