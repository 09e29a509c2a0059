// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Observes the events of a session's requests without affecting them.
///
/// All methods have a default implementation that does nothing. The library calls them asynchronously on the monitor's `queue`,
/// in the order of the events. The methods whose first argument is a `URLSession` are called for the session's monitors only, not
/// for the monitors of a single request.
public protocol EventMonitor: Sendable {
    /// The queue on which the methods are called; the main queue by default.
    var queue: DispatchQueue { get }

    // MARK: the session

    /// Called when the `URLSession` has become invalid.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// Called when a server or a proxy requests authentication, or before a server's certificates are evaluated.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)

    /// Called when part of a request's body has been sent. `totalBytesExpectedToSend` is -1 if the length of the body is unknown.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// Called when the task needs a stream that supplies its body, for the first time or again.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)

    /// Called when a response redirects the task, before the redirect handler is called.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)

    /// Called when the metrics of a task have been collected.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// Called when a task has ended. The error is the one that the task reports, not wrapped in an `AFError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// Called when a task waits because there is no network connection.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// Called when a response was received, before its content.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)

    /// Called when a piece of content was received.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// Called when a response may be cached, before the cached response handler is called.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse)

    /// Called when a download resumes at the offset where an earlier download ended.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)

    /// Called when part of a download has been written to its file. `totalBytesExpectedToWrite` is -1 if the length of the
    /// content is unknown.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// Called when a download is complete in its temporary file, before the file is moved.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    // MARK: requests

    /// Called when the request's `URLRequestConvertible` has been converted to a valid `URLRequest`, before adapters run.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)

    /// Called when the request's `URLRequestConvertible` could not be converted to a `URLRequest`, or the result is not valid.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)

    /// Called when the adapters have run, whether or not they changed the request.
    func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)

    /// Called when an adapter failed or returned a request that is not valid.
    func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)

    /// Called with the `URLRequest` that will be sent, before its task is created.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)

    /// Called when a task was created.
    func request(_ request: Request, didCreateTask task: URLSessionTask)

    /// Called when the request has stored the metrics of its task.
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)

    /// Called when the request cancels its task because the server is not trusted or the content is too long.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)

    /// Called when the task has ended and the validators have run. The error is the task's, not a validator's.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)

    /// Called when the request is about to be retried.
    func requestIsRetrying(_ request: Request)

    /// Called when the request is finishing, before its serializers run and its handlers are called.
    func requestDidFinish(_ request: Request)

    /// Called when the request was resumed.
    func requestDidResume(_ request: Request)

    /// Called when the request's task was resumed.
    func request(_ request: Request, didResumeTask task: URLSessionTask)

    /// Called when the request was suspended.
    func requestDidSuspend(_ request: Request)

    /// Called when the request's task was suspended.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)

    /// Called when the request was cancelled.
    func requestDidCancel(_ request: Request)

    /// Called when the request's task was cancelled.
    func request(_ request: Request, didCancelTask task: URLSessionTask)

    /// Called when a validator of a data or upload request has run.
    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult)

    /// Called when the response is ready for a handler that uses no serializer.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)

    /// Called when a serializer of a data or upload request has run.
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

    /// Called when a validator of a stream has run.
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult)

    /// Called when a serializer has converted a piece of a stream to a value, or has failed.
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

    /// Called when the body of an upload was created.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)

    /// Called when the body of an upload could not be created.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)

    /// Called when the upload has provided the task with the stream that supplies its body.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

    /// Called when a download was moved to its destination, or when the move has failed.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>)

    /// Called when a download is about to be moved to `url`. Called for the session's monitors only.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)

    /// Called when a validator of a download has run.
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult)

    /// Called when the response is ready for a handler that uses no serializer.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)

    /// Called when a serializer of a download has run.
    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)

}

extension EventMonitor {
    /// The main queue.
    public var queue: DispatchQueue { .main }

    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}

    /// Does nothing.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {}

    /// Does nothing.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) {}

    /// Does nothing.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {}

    /// Does nothing.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}

    /// Does nothing.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {}

    /// Does nothing.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {}

    /// Does nothing.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {}

    /// Does nothing.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {}

    /// Does nothing.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {}

    /// Does nothing.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {}

    /// Does nothing.
    public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {}

    /// Does nothing.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
    }

    /// Does nothing.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {}

    /// Does nothing.
    public func requestIsRetrying(_ request: Request) {}

    /// Does nothing.
    public func requestDidFinish(_ request: Request) {}

    /// Does nothing.
    public func requestDidResume(_ request: Request) {}

    /// Does nothing.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {}

    /// Does nothing.
    public func requestDidSuspend(_ request: Request) {}

    /// Does nothing.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {}

    /// Does nothing.
    public func requestDidCancel(_ request: Request) {}

    /// Does nothing.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {}

    /// Does nothing.
    public func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) {}

    /// Does nothing.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {}

    /// Does nothing.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {}

    /// Does nothing.
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {}

    /// Does nothing.
    public func request<Value: Sendable>(
        _ request: DataStreamRequest, didParseStream result: Result<Value, AFError>
    ) {}

    /// Does nothing.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {}

    /// Does nothing.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {}

    /// Does nothing.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {}

    /// Does nothing.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {}

    /// Does nothing.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {}

    /// Does nothing.
    public func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {}

    /// Does nothing.
    public func request(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>
    ) {}

    /// Does nothing.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {}

}
