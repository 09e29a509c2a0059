// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The response of a download whose failures are `AFError`s.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// The outcome of a download: the result, and the request, response, file and metrics that led to it.
public struct DownloadResponse<Success: Sendable, Failure: Error & Sendable>: Sendable {
    /// The sent request, after adaptation; nil when no request was created.
    public let request: URLRequest?
    /// The server's response; nil when none was received.
    public let response: HTTPURLResponse?
    /// The URL of the file; nil when the content is incomplete.
    public let fileURL: URL?
    /// The resume data for a later download; nil when there is none.
    public let resumeData: Data?
    /// The metrics of the last attempt; nil when there was no task.
    public let metrics: URLSessionTaskMetrics?
    /// The time that the serializer took, in seconds.
    public let serializationDuration: TimeInterval
    /// The value or the error.
    public let result: Result<Success, Failure>

    // The members are the same as in `DataResponse`: Alamofire declares both types.

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
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, resumeData: Data?,
        metrics: URLSessionTaskMetrics?, serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.request = request
        self.response = response
        self.fileURL = fileURL
        self.resumeData = resumeData
        self.metrics = metrics
        self.serializationDuration = serializationDuration
        self.result = result
    }
}
