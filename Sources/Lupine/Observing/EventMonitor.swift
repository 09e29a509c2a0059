// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Hears of everything that happens to a session's requests, and changes nothing.
///
/// Every method does nothing unless it is implemented. They are called on the monitor's `queue`, never inline, in the
/// order in which things happened. The methods whose first argument is a `URLSession` are called for the session's monitors only,
/// not for those that were added to one request.
public protocol EventMonitor: Sendable {
    /// Where the methods are called: the main queue unless it is implemented.
    var queue: DispatchQueue { get }

    // MARK: the session

    /// The `URLSession` has become invalid.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    /// A server, or a proxy, asks who is there, or shows its certificates.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)

    /// So much of a body has been sent; the expected total is -1 when it is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// A body's stream is needed, at first or again.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)

    /// The server redirects; the redirect handler is asked next.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)

    /// What was measured of a task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// A task has ended; the error is the task's own, no `AFError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// There is no way to the network; the task waits for one.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// A response has come; its content follows.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)

    /// A piece of content has come.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// A response may be cached; the handler of cached responses is asked next.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse)

    /// A download goes on where an earlier one ended.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)

    /// So much of a download has been written; the expected total is -1 when it is not known.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A download is in its temporary file, and about to be moved.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    // MARK: requests

    /// The request was converted and is valid.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)

    /// The request could not be converted, or is not valid.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)

    /// The adapters have changed the request, or left it as it was.
    func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)

    /// An adapter failed, or gave a request that is not valid.
    func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)

    /// The request stands as it will be sent; its task is made next.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)

    /// A task was made.
    func request(_ request: Request, didCreateTask task: URLSessionTask)

    /// What was measured of the request's task is stored.
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)

    /// The server's certificates were refused; the task is about to end.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)

    /// The task has ended and the validators have run. The error is the task's own.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)

    /// The request is about to be tried again.
    func requestIsRetrying(_ request: Request)

    /// The request has come to an end: its serializers run, then its handlers are called.
    func requestDidFinish(_ request: Request)

    /// The request was resumed.
    func requestDidResume(_ request: Request)

    /// The request's task was resumed.
    func request(_ request: Request, didResumeTask task: URLSessionTask)

    /// The request was suspended.
    func requestDidSuspend(_ request: Request)

    /// The request's task was suspended.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)

    /// The request was cancelled.
    func requestDidCancel(_ request: Request)

    /// The request's task was cancelled.
    func request(_ request: Request, didCancelTask task: URLSessionTask)

    /// A validator of a data or upload request has run.
    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult)

    /// The response for a handler without a serializer is ready.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)

    /// A serializer of a data or upload request has run.
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

    /// A validator of a stream has run.
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult)

    /// A piece of a stream has been through a serializer.
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

    /// What is uploaded is ready.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)

    /// What was to be uploaded could not be made.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)

    /// The stream of a body was handed over.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

    /// A download was moved to its destination, or could not be.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>)

    /// A download is about to be moved to that file. Told to the session's monitors only.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)

    /// A validator of a download has run.
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult)

    /// The response for a handler without a serializer is ready.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)

    /// A serializer of a download has run.
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
