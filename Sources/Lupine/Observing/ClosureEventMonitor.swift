// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A monitor that calls a closure for each event. It ignores events whose closure is nil.
///
/// The parameters of a closure are the arguments of the `EventMonitor` method that its documentation names, in the same order.
/// Closures may be set at any time, from any thread. They are called on `queue`. The results of serializers have no closure,
/// because their values have no common type. The class is `@unchecked Sendable`, because the compiler cannot check a class that
/// can be subclassed: one lock guards all mutable state.
open class ClosureEventMonitor: @unchecked Sendable, EventMonitor {
    /// The queue on which the closures are called.
    public let queue: DispatchQueue
    /// All closures, under one lock.
    let closures = Protected(Closures())

    /// Creates a monitor whose closures are called on `queue`.
    public init(queue: DispatchQueue = .main) { self.queue = queue }

    // MARK: the session

    /// Called for `urlSession(_:didBecomeInvalidWithError:)`.
    open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
        get { closures.read { $0.sessionDidBecomeInvalidWithError } }
        set { replace(\.sessionDidBecomeInvalidWithError, with: newValue) }
    }

    /// Called for `urlSession(_:task:didReceive:)`.
    open var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)? {
        get { closures.read { $0.taskDidReceiveChallenge } }
        set { replace(\.taskDidReceiveChallenge, with: newValue) }
    }

    /// Called for `urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)`, with the same arguments.
    open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)? {
        get { closures.read { $0.taskDidSendBodyData } }
        set { replace(\.taskDidSendBodyData, with: newValue) }
    }

    /// Called for `urlSession(_:taskNeedsNewBodyStream:)`.
    open var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)? {
        get { closures.read { $0.taskNeedNewBodyStream } }
        set { replace(\.taskNeedNewBodyStream, with: newValue) }
    }

    /// Called for `urlSession(_:task:willPerformHTTPRedirection:newRequest:)`.
    open var taskWillPerformHTTPRedirection:
        ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
    {
        get { closures.read { $0.taskWillPerformHTTPRedirection } }
        set { replace(\.taskWillPerformHTTPRedirection, with: newValue) }
    }

    /// Called for `urlSession(_:task:didFinishCollecting:)`.
    open var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)? {
        get { closures.read { $0.taskDidFinishCollectingMetrics } }
        set { replace(\.taskDidFinishCollectingMetrics, with: newValue) }
    }

    /// Called for `urlSession(_:task:didCompleteWithError:)`.
    open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
        get { closures.read { $0.taskDidComplete } }
        set { replace(\.taskDidComplete, with: newValue) }
    }

    /// Called for `urlSession(_:taskIsWaitingForConnectivity:)`.
    open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)? {
        get { closures.read { $0.taskIsWaitingForConnectivity } }
        set { replace(\.taskIsWaitingForConnectivity, with: newValue) }
    }

    /// Called for `urlSession(_:dataTask:didReceive:)` with a response.
    open var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)? {
        get { closures.read { $0.dataTaskDidReceiveResponse } }
        set { replace(\.dataTaskDidReceiveResponse, with: newValue) }
    }

    /// Called for `urlSession(_:dataTask:didReceive:)` with data.
    open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
        get { closures.read { $0.dataTaskDidReceiveData } }
        set { replace(\.dataTaskDidReceiveData, with: newValue) }
    }

    /// Called for `urlSession(_:dataTask:willCacheResponse:)`.
    open var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)? {
        get { closures.read { $0.dataTaskWillCacheResponse } }
        set { replace(\.dataTaskWillCacheResponse, with: newValue) }
    }

    /// Called for `urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)`, with the same arguments.
    open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)? {
        get { closures.read { $0.downloadTaskDidResumeAtOffset } }
        set { replace(\.downloadTaskDidResumeAtOffset, with: newValue) }
    }

    /// Called for `urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)`, with the same
    /// arguments.
    open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)? {
        get { closures.read { $0.downloadTaskDidWriteData } }
        set { replace(\.downloadTaskDidWriteData, with: newValue) }
    }

    /// Called for `urlSession(_:downloadTask:didFinishDownloadingTo:)`.
    open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)? {
        get { closures.read { $0.downloadTaskDidFinishDownloadingToURL } }
        set { replace(\.downloadTaskDidFinishDownloadingToURL, with: newValue) }
    }

    // MARK: requests

    /// Called for `requestDidResume(_:)`.
    open var requestDidResume: ((Request) -> Void)? {
        get { closures.read { $0.requestDidResume } }
        set { replace(\.requestDidResume, with: newValue) }
    }

    /// Called for `request(_:didCreateInitialURLRequest:)`.
    open var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)? {
        get { closures.read { $0.requestDidCreateInitialURLRequest } }
        set { replace(\.requestDidCreateInitialURLRequest, with: newValue) }
    }

    /// Called for `request(_:didFailToCreateURLRequestWithError:)`.
    open var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)? {
        get { closures.read { $0.requestDidFailToCreateURLRequestWithError } }
        set { replace(\.requestDidFailToCreateURLRequestWithError, with: newValue) }
    }

    /// Called for `request(_:didAdaptInitialRequest:to:)`.
    open var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)? {
        get { closures.read { $0.requestDidAdaptInitialRequestToAdaptedRequest } }
        set { replace(\.requestDidAdaptInitialRequestToAdaptedRequest, with: newValue) }
    }

    /// Called for `request(_:didFailToAdaptURLRequest:withError:)`.
    open var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)? {
        get { closures.read { $0.requestDidFailToAdaptURLRequestWithError } }
        set { replace(\.requestDidFailToAdaptURLRequestWithError, with: newValue) }
    }

    /// Called for `request(_:didCreateURLRequest:)`.
    open var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)? {
        get { closures.read { $0.requestDidCreateURLRequest } }
        set { replace(\.requestDidCreateURLRequest, with: newValue) }
    }

    /// Called for `request(_:didCreateTask:)`.
    open var requestDidCreateTask: ((Request, URLSessionTask) -> Void)? {
        get { closures.read { $0.requestDidCreateTask } }
        set { replace(\.requestDidCreateTask, with: newValue) }
    }

    /// Called for `request(_:didResumeTask:)`.
    open var requestDidResumeTask: ((Request, URLSessionTask) -> Void)? {
        get { closures.read { $0.requestDidResumeTask } }
        set { replace(\.requestDidResumeTask, with: newValue) }
    }

    /// Called for `requestDidSuspend(_:)`.
    open var requestDidSuspend: ((Request) -> Void)? {
        get { closures.read { $0.requestDidSuspend } }
        set { replace(\.requestDidSuspend, with: newValue) }
    }

    /// Called for `request(_:didSuspendTask:)`.
    open var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)? {
        get { closures.read { $0.requestDidSuspendTask } }
        set { replace(\.requestDidSuspendTask, with: newValue) }
    }

    /// Called for `requestDidCancel(_:)`.
    open var requestDidCancel: ((Request) -> Void)? {
        get { closures.read { $0.requestDidCancel } }
        set { replace(\.requestDidCancel, with: newValue) }
    }

    /// Called for `request(_:didCancelTask:)`.
    open var requestDidCancelTask: ((Request, URLSessionTask) -> Void)? {
        get { closures.read { $0.requestDidCancelTask } }
        set { replace(\.requestDidCancelTask, with: newValue) }
    }

    /// Called for `request(_:didGatherMetrics:)`.
    open var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)? {
        get { closures.read { $0.requestDidGatherMetrics } }
        set { replace(\.requestDidGatherMetrics, with: newValue) }
    }

    /// Called for `request(_:didFailTask:earlyWithError:)`.
    open var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)? {
        get { closures.read { $0.requestDidFailTaskEarlyWithError } }
        set { replace(\.requestDidFailTaskEarlyWithError, with: newValue) }
    }

    /// Called for `request(_:didCompleteTask:with:)`.
    open var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)? {
        get { closures.read { $0.requestDidCompleteTaskWithError } }
        set { replace(\.requestDidCompleteTaskWithError, with: newValue) }
    }

    /// Called for `requestIsRetrying(_:)`.
    open var requestIsRetrying: ((Request) -> Void)? {
        get { closures.read { $0.requestIsRetrying } }
        set { replace(\.requestIsRetrying, with: newValue) }
    }

    /// Called for `requestDidFinish(_:)`.
    open var requestDidFinish: ((Request) -> Void)? {
        get { closures.read { $0.requestDidFinish } }
        set { replace(\.requestDidFinish, with: newValue) }
    }

    /// Called for `request(_:didValidateRequest:response:data:withResult:)`.
    open var requestDidValidateRequestResponseDataWithResult:
        ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
    {
        get { closures.read { $0.requestDidValidateRequestResponseDataWithResult } }
        set { replace(\.requestDidValidateRequestResponseDataWithResult, with: newValue) }
    }

    /// Called for `request(_:didParseResponse:)` with a `DataRequest`.
    open var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)? {
        get { closures.read { $0.requestDidParseResponse } }
        set { replace(\.requestDidParseResponse, with: newValue) }
    }

    /// Called for `request(_:didValidateRequest:response:withResult:)`.
    open var requestDidValidateRequestResponseWithResult:
        ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
    {
        get { closures.read { $0.requestDidValidateRequestResponseWithResult } }
        set { replace(\.requestDidValidateRequestResponseWithResult, with: newValue) }
    }

    /// Called for `request(_:didCreateUploadable:)`.
    open var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)? {
        get { closures.read { $0.requestDidCreateUploadable } }
        set { replace(\.requestDidCreateUploadable, with: newValue) }
    }

    /// Called for `request(_:didFailToCreateUploadableWithError:)`.
    open var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)? {
        get { closures.read { $0.requestDidFailToCreateUploadableWithError } }
        set { replace(\.requestDidFailToCreateUploadableWithError, with: newValue) }
    }

    /// Called for `request(_:didProvideInputStream:)`.
    open var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)? {
        get { closures.read { $0.requestDidProvideInputStream } }
        set { replace(\.requestDidProvideInputStream, with: newValue) }
    }

    /// Called for `request(_:didCreateDestinationURL:)`.
    open var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)? {
        get { closures.read { $0.requestDidCreateDestinationURL } }
        set { replace(\.requestDidCreateDestinationURL, with: newValue) }
    }

    /// Called for `request(_:didFinishDownloadingUsing:with:)`.
    open var requestDidFinishDownloadingUsingTaskWithResult:
        ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
    {
        get { closures.read { $0.requestDidFinishDownloadingUsingTaskWithResult } }
        set { replace(\.requestDidFinishDownloadingUsingTaskWithResult, with: newValue) }
    }

    /// Called for `request(_:didValidateRequest:response:fileURL:withResult:)`.
    open var requestDidValidateRequestResponseFileURLWithResult:
        ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
    {
        get { closures.read { $0.requestDidValidateRequestResponseFileURLWithResult } }
        set { replace(\.requestDidValidateRequestResponseFileURLWithResult, with: newValue) }
    }

    /// Called for `request(_:didParseResponse:)` with a `DownloadRequest`.
    open var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)? {
        get { closures.read { $0.requestDidParseDownloadResponse } }
        set { replace(\.requestDidParseDownloadResponse, with: newValue) }
    }

    // MARK: the events

    /// Calls `sessionDidBecomeInvalidWithError`.
    open func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        sessionDidBecomeInvalidWithError?(session, error)
    }

    /// Calls `taskDidReceiveChallenge`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        taskDidReceiveChallenge?(session, task, challenge)
    }

    /// Calls `taskDidSendBodyData`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        taskDidSendBodyData?(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend)
    }

    /// Calls `taskNeedNewBodyStream`.
    open func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        taskNeedNewBodyStream?(session, task)
    }

    /// Calls `taskWillPerformHTTPRedirection`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        taskWillPerformHTTPRedirection?(session, task, response, request)
    }

    /// Calls `taskDidFinishCollectingMetrics`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        taskDidFinishCollectingMetrics?(session, task, metrics)
    }

    /// Calls `taskDidComplete`.
    open func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        taskDidComplete?(session, task, error)
    }

    /// Calls `taskIsWaitingForConnectivity`.
    open func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        taskIsWaitingForConnectivity?(session, task)
    }

    /// Calls `dataTaskDidReceiveResponse`.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) {
        dataTaskDidReceiveResponse?(session, dataTask, response)
    }

    /// Calls `dataTaskDidReceiveData`.
    open func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        dataTaskDidReceiveData?(session, dataTask, data)
    }

    /// Calls `dataTaskWillCacheResponse`.
    open func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) {
        dataTaskWillCacheResponse?(session, dataTask, proposedResponse)
    }

    /// Calls `downloadTaskDidResumeAtOffset`.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        downloadTaskDidResumeAtOffset?(session, downloadTask, fileOffset, expectedTotalBytes)
    }

    /// Calls `downloadTaskDidWriteData`.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        downloadTaskDidWriteData?(
            session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite)
    }

    /// Calls `downloadTaskDidFinishDownloadingToURL`.
    open func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        downloadTaskDidFinishDownloadingToURL?(session, downloadTask, location)
    }

    /// Calls `requestDidResume`.
    open func requestDidResume(_ request: Request) { requestDidResume?(request) }

    /// Calls `requestDidCreateInitialURLRequest`.
    open func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        requestDidCreateInitialURLRequest?(request, urlRequest)
    }

    /// Calls `requestDidFailToCreateURLRequestWithError`.
    open func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        requestDidFailToCreateURLRequestWithError?(request, error)
    }

    /// Calls `requestDidAdaptInitialRequestToAdaptedRequest`.
    open func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        requestDidAdaptInitialRequestToAdaptedRequest?(request, initialRequest, adaptedRequest)
    }

    /// Calls `requestDidFailToAdaptURLRequestWithError`.
    open func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        requestDidFailToAdaptURLRequestWithError?(request, initialRequest, error)
    }

    /// Calls `requestDidCreateURLRequest`.
    open func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        requestDidCreateURLRequest?(request, urlRequest)
    }

    /// Calls `requestDidCreateTask`.
    open func request(_ request: Request, didCreateTask task: URLSessionTask) {
        requestDidCreateTask?(request, task)
    }

    /// Calls `requestDidSuspend`.
    open func requestDidSuspend(_ request: Request) { requestDidSuspend?(request) }

    /// Calls `requestDidCancel`.
    open func requestDidCancel(_ request: Request) { requestDidCancel?(request) }

    /// Calls `requestDidGatherMetrics`.
    open func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        requestDidGatherMetrics?(request, metrics)
    }

    /// Calls `requestDidFailTaskEarlyWithError`.
    open func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        requestDidFailTaskEarlyWithError?(request, task, error)
    }

    /// Calls `requestDidCompleteTaskWithError`.
    open func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        requestDidCompleteTaskWithError?(request, task, error)
    }

    /// Calls `requestIsRetrying`.
    open func requestIsRetrying(_ request: Request) { requestIsRetrying?(request) }

    /// Calls `requestDidFinish`.
    open func requestDidFinish(_ request: Request) { requestDidFinish?(request) }

    /// Calls `requestDidValidateRequestResponseDataWithResult`.
    open func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseDataWithResult?(request, urlRequest, response, data, result)
    }

    /// Calls `requestDidParseResponse`.
    open func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        requestDidParseResponse?(request, response)
    }

    /// Calls `requestDidCreateUploadable`.
    open func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        requestDidCreateUploadable?(request, uploadable)
    }

    /// Calls `requestDidFailToCreateUploadableWithError`.
    open func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        requestDidFailToCreateUploadableWithError?(request, error)
    }

    /// Calls `requestDidProvideInputStream`.
    open func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        requestDidProvideInputStream?(request, stream)
    }

    /// Calls `requestDidCreateDestinationURL`.
    open func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        requestDidCreateDestinationURL?(request, url)
    }

    /// Calls `requestDidFinishDownloadingUsingTaskWithResult`.
    open func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {
        requestDidFinishDownloadingUsingTaskWithResult?(request, task, result)
    }

    /// Calls `requestDidValidateRequestResponseFileURLWithResult`.
    open func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        requestDidValidateRequestResponseFileURLWithResult?(request, urlRequest, response, fileURL, result)
    }

    /// Calls `requestDidParseDownloadResponse`.
    open func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)
    {
        requestDidParseDownloadResponse?(request, response)
    }
}
