// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

extension ClosureEventMonitor {
    /// The closures of a monitor, each under the name of its property in `ClosureEventMonitor`, which documents it.
    struct Closures {
        var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)?
        var taskDidReceiveChallenge: ((URLSession, URLSessionTask, URLAuthenticationChallenge) -> Void)?
        var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
        var taskNeedNewBodyStream: ((URLSession, URLSessionTask) -> Void)?
        var taskWillPerformHTTPRedirection:
            ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> Void)?
        var taskDidFinishCollectingMetrics: ((URLSession, URLSessionTask, URLSessionTaskMetrics) -> Void)?
        var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)?
        var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)?
        var dataTaskDidReceiveResponse: ((URLSession, URLSessionDataTask, URLResponse) -> Void)?
        var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)?
        var dataTaskWillCacheResponse: ((URLSession, URLSessionDataTask, CachedURLResponse) -> Void)?
        var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
        var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
        var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
        var requestDidResume: ((Request) -> Void)?
        var requestDidCreateInitialURLRequest: ((Request, URLRequest) -> Void)?
        var requestDidFailToCreateURLRequestWithError: ((Request, AFError) -> Void)?
        var requestDidAdaptInitialRequestToAdaptedRequest: ((Request, URLRequest, URLRequest) -> Void)?
        var requestDidFailToAdaptURLRequestWithError: ((Request, URLRequest, AFError) -> Void)?
        var requestDidCreateURLRequest: ((Request, URLRequest) -> Void)?
        var requestDidCreateTask: ((Request, URLSessionTask) -> Void)?
        var requestDidResumeTask: ((Request, URLSessionTask) -> Void)?
        var requestDidSuspend: ((Request) -> Void)?
        var requestDidSuspendTask: ((Request, URLSessionTask) -> Void)?
        var requestDidCancel: ((Request) -> Void)?
        var requestDidCancelTask: ((Request, URLSessionTask) -> Void)?
        var requestDidGatherMetrics: ((Request, URLSessionTaskMetrics) -> Void)?
        var requestDidFailTaskEarlyWithError: ((Request, URLSessionTask, AFError) -> Void)?
        var requestDidCompleteTaskWithError: ((Request, URLSessionTask, AFError?) -> Void)?
        var requestIsRetrying: ((Request) -> Void)?
        var requestDidFinish: ((Request) -> Void)?
        var requestDidValidateRequestResponseDataWithResult:
            ((DataRequest, URLRequest?, HTTPURLResponse, Data?, Request.ValidationResult) -> Void)?
        var requestDidParseResponse: ((DataRequest, DataResponse<Data?, AFError>) -> Void)?
        var requestDidValidateRequestResponseWithResult:
            ((DataStreamRequest, URLRequest?, HTTPURLResponse, Request.ValidationResult) -> Void)?
        var requestDidCreateUploadable: ((UploadRequest, UploadRequest.Uploadable) -> Void)?
        var requestDidFailToCreateUploadableWithError: ((UploadRequest, AFError) -> Void)?
        var requestDidProvideInputStream: ((UploadRequest, InputStream) -> Void)?
        var requestDidCreateDestinationURL: ((DownloadRequest, URL) -> Void)?
        var requestDidFinishDownloadingUsingTaskWithResult:
            ((DownloadRequest, URLSessionTask, Result<URL, AFError>) -> Void)?
        var requestDidValidateRequestResponseFileURLWithResult:
            ((DownloadRequest, URLRequest?, HTTPURLResponse, URL?, Request.ValidationResult) -> Void)?
        var requestDidParseDownloadResponse: ((DownloadRequest, DownloadResponse<URL?, AFError>) -> Void)?
    }

    /// Replaces a closure. `swap` moves the old closure out of the lock, where it is released: releasing its captures may run
    /// code of the program that uses this monitor.
    func replace<Closure>(
        _ keyPath: WritableKeyPath<Closures, Closure?>, with newClosure: Closure?
    ) {
        var closure = newClosure
        closures.write { swap(&$0[keyPath: keyPath], &closure) }
    }
}
