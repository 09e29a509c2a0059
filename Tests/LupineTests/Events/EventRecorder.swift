// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

@testable import Lupine

/// A monitor that records every event by its number in the table of `Documentation/Behaviour/02-concurrency-and-events.md`: `s1`
/// to `s14` for the `URLSession`, `r1` to `r17` for any request, `d` for data requests, `t` for streams, `u` for uploads, `l` for
/// downloads. The short name of the error follows in parentheses, if there is one.
final class EventRecorder: EventMonitor {
    let queue = DispatchQueue(label: "recorder")
    let heard = ValueLog<String>()
    /// Called for each event of a request, on the monitor's queue.
    private let onEvent: @Sendable (String, Request) -> Void

    init(onEvent: @escaping @Sendable (String, Request) -> Void = { _, _ in }) { self.onEvent = onEvent }

    /// The events so far, separated by spaces.
    var text: String { heard.all.joined(separator: " ") }

    /// Returns how often an event was recorded, with or without an error.
    func count(_ event: String) -> Int {
        heard.all.filter { $0.split(separator: "(").first.map(String.init) == event }.count
    }

    private func record(_ event: String, _ error: (any Error)? = nil, of request: Request? = nil) {
        let text = error.map { "\(event)(\(brief($0)))" } ?? event
        if let request { onEvent(event, request) }
        heard.add(text)
    }

    private func record<Value>(_ event: String, _ result: AFResult<Value>, of request: Request) {
        if case .failure(let error) = result {
            record(event, error, of: request)
        } else {
            record(event, of: request)
        }
    }

    private func record(_ event: String, _ result: Request.ValidationResult, of request: Request) {
        if case .failure = result {
            record("\(event)(failed)", of: request)
        } else {
            record(event, of: request)
        }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        record("s1", error)
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) { record("s2") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { record("s3") }
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) { record("s4") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) { record("s5") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { record("s6") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        record("s7", error)
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { record("s8") }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) { record("s9") }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        record("s10")
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse response: CachedURLResponse
    ) { record("s11") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { record("s12") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { record("s13") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { record("s14") }

    func requestDidResume(_ request: Request) { record("r1", of: request) }
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        record("r2", of: request)
    }
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        record("r3", error, of: request)
    }
    func request(
        _ request: Request, didAdaptInitialRequest initial: URLRequest, to adapted: URLRequest
    ) { record("r4", of: request) }
    func request(
        _ request: Request, didFailToAdaptURLRequest initial: URLRequest, withError error: AFError
    ) { record("r5", error, of: request) }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { record("r6", of: request) }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { record("r7", of: request) }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { record("r8", of: request) }
    func requestDidSuspend(_ request: Request) { record("r9", of: request) }
    func request(_ request: Request, didSuspendTask task: URLSessionTask) { record("r10", of: request) }
    func requestDidCancel(_ request: Request) { record("r11", of: request) }
    func request(_ request: Request, didCancelTask task: URLSessionTask) { record("r12", of: request) }
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        record("r13", of: request)
    }
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        record("r14", error, of: request)
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        record("r15", error, of: request)
    }
    func requestIsRetrying(_ request: Request) { record("r16", of: request) }
    func requestDidFinish(_ request: Request) { record("r17", of: request) }

    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) { record("d1", result, of: request) }
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        record("d2", response.result, of: request)
    }
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) { record("d3", response.result, of: request) }
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) { record("t1", result, of: request) }
    func request<Value: Sendable>(
        _ request: DataStreamRequest, didParseStream result: Result<Value, AFError>
    ) { record("t2", result, of: request) }
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        record("u1", of: request)
    }
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        record("u2", error, of: request)
    }
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        record("u3", of: request)
    }
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) { record("l1", of: request) }
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) { record("l2", result, of: request) }
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) { record("l3", result, of: request) }
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        record("l4", response.result, of: request)
    }
    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) { record("l5", response.result, of: request) }
}
