// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The response of a download whose failures are `AFError`s.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// What a download came to: the result, and the evidence for it.
public struct DownloadResponse<Success: Sendable, Failure: Error & Sendable>: Sendable {
    /// The request that was sent, as adapted; nil when there was none.
    public let request: URLRequest?
    /// The server's response; nil when none came.
    public let response: HTTPURLResponse?
    /// Where the content is; nil when it did not come whole.
    public let fileURL: URL?
    /// What a later download can go on from; nil when there is nothing.
    public let resumeData: Data?
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
