// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// A call of an `EventMonitor` method, stored as a value. The associated values are the arguments of the method, in its order.
///
/// `CompositeEventMonitor` or a request creates an event on the thread where it occurs. An `EventMailbox` delivers it on the
/// queue of each monitor. Large cases are indirect, so that the many small ones take little space in the mailbox.
enum MonitorEvent {
    case sessionBecameInvalid(URLSession, (any Error)?)
    case taskReceivedChallenge(URLSession, URLSessionTask, URLAuthenticationChallenge)
    /// The numbers are the bytes sent since the last event, the bytes sent in total, and the expected total.
    indirect case taskSentBodyData(URLSession, URLSessionTask, Int64, Int64, Int64)
    case taskNeedsNewBodyStream(URLSession, URLSessionTask)
    /// The last two values are the redirect response and the proposed request.
    indirect case taskWillRedirect(URLSession, URLSessionTask, HTTPURLResponse, URLRequest)
    case taskCollectedMetrics(URLSession, URLSessionTask, URLSessionTaskMetrics)
    case taskEnded(URLSession, URLSessionTask, (any Error)?)
    case taskIsWaitingForConnectivity(URLSession, URLSessionTask)
    case dataTaskReceivedResponse(URLSession, URLSessionDataTask, URLResponse)
    case dataTaskReceivedData(URLSession, URLSessionDataTask, Data)
    case dataTaskWillCacheResponse(URLSession, URLSessionDataTask, CachedURLResponse)
    /// The numbers are the offset at which the download resumes and the expected total length, in bytes.
    case downloadTaskResumed(URLSession, URLSessionDownloadTask, Int64, Int64)
    /// The numbers are the bytes written since the last event, the bytes written in total, and the expected total.
    indirect case downloadTaskWroteData(URLSession, URLSessionDownloadTask, Int64, Int64, Int64)
    case downloadTaskFinished(URLSession, URLSessionDownloadTask, URL)
    case resumed(Request)
    case createdInitialURLRequest(Request, URLRequest)
    case failedToCreateURLRequest(Request, AFError)
    /// The first `URLRequest` is the one before the adaptation, the second is the adapted one.
    case adaptedInitialRequest(Request, URLRequest, URLRequest)
    /// The `URLRequest` is the one before the adaptation.
    case failedToAdaptURLRequest(Request, URLRequest, AFError)
    case createdURLRequest(Request, URLRequest)
    case createdTask(Request, URLSessionTask)
    case resumedTask(Request, URLSessionTask)
    case suspended(Request)
    case suspendedTask(Request, URLSessionTask)
    case cancelled(Request)
    case cancelledTask(Request, URLSessionTask)
    case gatheredMetrics(Request, URLSessionTaskMetrics)
    /// The request cancels its task because of this error.
    case failedTaskEarly(Request, URLSessionTask, AFError)
    case completedTask(Request, URLSessionTask, AFError?)
    case isRetrying(Request)
    case finished(Request)
    indirect case validatedData(DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult)
    indirect case parsedDataResponse(DataRequest, DataResponse<Data?, AFError>)
    indirect case validatedStream(DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult)
    case createdUploadable(UploadRequest, UploadRequest.Uploadable)
    case failedToCreateUploadable(UploadRequest, AFError)
    case providedInputStream(UploadRequest, InputStream)
    /// The URL is the one to which the download is about to be moved.
    case createdDestination(DownloadRequest, URL)
    /// The result is the URL of the moved file, or the error of the move.
    indirect case movedDownload(DownloadRequest, URLSessionTask, Result<URL, AFError>)
    indirect case validatedDownload(
        DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult)
    indirect case parsedDownloadResponse(DownloadRequest, DownloadResponse<URL?, AFError>)
    /// A serializer's result. The values of serializers have no common type, so the closure calls the monitor's generic method.
    case parsedValue((any EventMonitor) -> Void)

    /// The notification of the event and the request that it is about; nil if the event has no notification.
    var notification: (notification: RequestNotifications, request: Request)? {
        switch self {
        case .resumed(let request): (.didResume, request)
        case .resumedTask(let request, _): (.didResumeTask, request)
        case .suspended(let request): (.didSuspend, request)
        case .suspendedTask(let request, _): (.didSuspendTask, request)
        case .cancelled(let request): (.didCancel, request)
        case .cancelledTask(let request, _): (.didCancelTask, request)
        case .completedTask(let request, _, _): (.didCompleteTask, request)
        case .finished(let request): (.didFinish, request)
        default: nil
        }
    }

    /// Calls the monitor's method for the event. The function is generic, so that a monitor whose type is known at compile time
    /// is called without dynamic dispatch.
    func deliver(to monitor: some EventMonitor) {
        switch self {
        case .sessionBecameInvalid(let session, let error):
            monitor.urlSession(session, didBecomeInvalidWithError: error)
        case .taskReceivedChallenge(let session, let task, let challenge):
            monitor.urlSession(session, task: task, didReceive: challenge)
        case .taskSentBodyData(
            let session, let task, let bytesSent, let totalBytesSent, let totalBytesExpectedToSend):
            monitor.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        case .taskNeedsNewBodyStream(let session, let task):
            monitor.urlSession(session, taskNeedsNewBodyStream: task)
        case .taskWillRedirect(let session, let task, let response, let request):
            monitor.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        case .taskCollectedMetrics(let session, let task, let metrics):
            monitor.urlSession(session, task: task, didFinishCollecting: metrics)
        case .taskEnded(let session, let task, let error):
            monitor.urlSession(session, task: task, didCompleteWithError: error)
        case .taskIsWaitingForConnectivity(let session, let task):
            monitor.urlSession(session, taskIsWaitingForConnectivity: task)
        case .dataTaskReceivedResponse(let session, let dataTask, let response):
            monitor.urlSession(session, dataTask: dataTask, didReceive: response)
        case .dataTaskReceivedData(let session, let dataTask, let data):
            monitor.urlSession(session, dataTask: dataTask, didReceive: data)
        case .dataTaskWillCacheResponse(let session, let dataTask, let proposedResponse):
            monitor.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        case .downloadTaskResumed(let session, let downloadTask, let fileOffset, let expectedTotalBytes):
            monitor.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
        case .downloadTaskWroteData(
            let session, let downloadTask, let bytesWritten, let totalBytesWritten,
            let totalBytesExpectedToWrite):
            monitor.urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        case .downloadTaskFinished(let session, let downloadTask, let location):
            monitor.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        case .resumed, .createdInitialURLRequest, .failedToCreateURLRequest, .adaptedInitialRequest,
            .failedToAdaptURLRequest, .createdURLRequest, .createdTask, .resumedTask, .suspended,
            .suspendedTask, .cancelled, .cancelledTask, .gatheredMetrics, .failedTaskEarly, .completedTask,
            .isRetrying, .finished:
            deliverRequestEvent(to: monitor)
        case .validatedData, .parsedDataResponse, .validatedStream, .createdUploadable,
            .failedToCreateUploadable, .providedInputStream, .createdDestination, .movedDownload,
            .validatedDownload, .parsedDownloadResponse, .parsedValue:
            deliverResultEvent(to: monitor)
        }
    }

    /// Calls the method of the monitor for an event in the life of a request. Does nothing for other events.
    @inline(__always)
    private func deliverRequestEvent(to monitor: some EventMonitor) {
        switch self {
        case .resumed(let request):
            monitor.requestDidResume(request)
        case .createdInitialURLRequest(let request, let urlRequest):
            monitor.request(request, didCreateInitialURLRequest: urlRequest)
        case .failedToCreateURLRequest(let request, let error):
            monitor.request(request, didFailToCreateURLRequestWithError: error)
        case .adaptedInitialRequest(let request, let initialRequest, let adaptedRequest):
            monitor.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest)
        case .failedToAdaptURLRequest(let request, let initialRequest, let error):
            monitor.request(request, didFailToAdaptURLRequest: initialRequest, withError: error)
        case .createdURLRequest(let request, let urlRequest):
            monitor.request(request, didCreateURLRequest: urlRequest)
        case .createdTask(let request, let task):
            monitor.request(request, didCreateTask: task)
        case .resumedTask(let request, let task):
            monitor.request(request, didResumeTask: task)
        case .suspended(let request):
            monitor.requestDidSuspend(request)
        case .suspendedTask(let request, let task):
            monitor.request(request, didSuspendTask: task)
        case .cancelled(let request):
            monitor.requestDidCancel(request)
        case .cancelledTask(let request, let task):
            monitor.request(request, didCancelTask: task)
        case .gatheredMetrics(let request, let metrics):
            monitor.request(request, didGatherMetrics: metrics)
        case .failedTaskEarly(let request, let task, let error):
            monitor.request(request, didFailTask: task, earlyWithError: error)
        case .completedTask(let request, let task, let error):
            monitor.request(request, didCompleteTask: task, with: error)
        case .isRetrying(let request):
            monitor.requestIsRetrying(request)
        case .finished(let request):
            monitor.requestDidFinish(request)
        case .sessionBecameInvalid, .taskReceivedChallenge, .taskSentBodyData, .taskNeedsNewBodyStream,
            .taskWillRedirect, .taskCollectedMetrics, .taskEnded, .taskIsWaitingForConnectivity,
            .dataTaskReceivedResponse, .dataTaskReceivedData, .dataTaskWillCacheResponse,
            .downloadTaskResumed, .downloadTaskWroteData, .downloadTaskFinished, .validatedData,
            .parsedDataResponse, .validatedStream, .createdUploadable, .failedToCreateUploadable,
            .providedInputStream, .createdDestination, .movedDownload, .validatedDownload,
            .parsedDownloadResponse, .parsedValue:
            break
        }
    }

    /// Calls the method of the monitor for a result: a validation, a parsed response, content to upload, a downloaded file. Does
    /// nothing for other events.
    @inline(__always)
    private func deliverResultEvent(to monitor: some EventMonitor) {
        switch self {
        case .validatedData(let request, let urlRequest, let response, let data, let result):
            monitor.request(
                request, didValidateRequest: urlRequest, response: response, data: data, withResult: result)
        case .parsedDataResponse(let request, let response):
            monitor.request(request, didParseResponse: response)
        case .validatedStream(let request, let urlRequest, let response, let result):
            monitor.request(request, didValidateRequest: urlRequest, response: response, withResult: result)
        case .createdUploadable(let request, let uploadable):
            monitor.request(request, didCreateUploadable: uploadable)
        case .failedToCreateUploadable(let request, let error):
            monitor.request(request, didFailToCreateUploadableWithError: error)
        case .providedInputStream(let request, let stream):
            monitor.request(request, didProvideInputStream: stream)
        case .createdDestination(let request, let url):
            monitor.request(request, didCreateDestinationURL: url)
        case .movedDownload(let request, let task, let result):
            monitor.request(request, didFinishDownloadingUsing: task, with: result)
        case .validatedDownload(let request, let urlRequest, let response, let fileURL, let result):
            monitor.request(
                request, didValidateRequest: urlRequest, response: response, fileURL: fileURL,
                withResult: result)
        case .parsedDownloadResponse(let request, let response):
            monitor.request(request, didParseResponse: response)
        case .parsedValue(let call):
            call(monitor)
        case .sessionBecameInvalid, .taskReceivedChallenge, .taskSentBodyData, .taskNeedsNewBodyStream,
            .taskWillRedirect, .taskCollectedMetrics, .taskEnded, .taskIsWaitingForConnectivity,
            .dataTaskReceivedResponse, .dataTaskReceivedData, .dataTaskWillCacheResponse,
            .downloadTaskResumed, .downloadTaskWroteData, .downloadTaskFinished, .resumed,
            .createdInitialURLRequest, .failedToCreateURLRequest, .adaptedInitialRequest,
            .failedToAdaptURLRequest, .createdURLRequest, .createdTask, .resumedTask, .suspended,
            .suspendedTask, .cancelled, .cancelledTask, .gatheredMetrics, .failedTaskEarly, .completedTask,
            .isRetrying, .finished:
            break
        }
    }
}
