// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

@testable import Lupine

/// A monitor that records every event by its number in the table of events: `s1` to `s14` of the session, `r1` to `r17` of any
/// request, `d` of data, `t` of streams, `u` of uploads, `l` of downloads; followed by the error in brief, if there is one.
final class EventRecorder: EventMonitor {
    let queue = DispatchQueue(label: "recorder")
    let heard = ValueLog<String>()
    /// Called for each event of a request, on the monitor's queue.
    private let onEvent: @Sendable (String, Request) -> Void

    init(onEvent: @escaping @Sendable (String, Request) -> Void = { _, _ in }) { self.onEvent = onEvent }

    /// The events so far, in one text.
    var text: String { heard.all.joined(separator: " ") }

    /// Returns how often an event was recorded, with any error.
    func count(_ event: String) -> Int {
        heard.all.filter { $0.split(separator: "(").first.map(String.init) == event }.count
    }

    private func note(_ event: String, _ error: (any Error)? = nil, of request: Request? = nil) {
        let text = error.map { "\(event)(\(brief($0)))" } ?? event
        if let request { onEvent(event, request) }
        heard.add(text)
    }

    private func note<Value>(_ event: String, _ result: AFResult<Value>, of request: Request) {
        if case .failure(let error) = result {
            note(event, error, of: request)
        } else {
            note(event, of: request)
        }
    }

    private func note(_ event: String, _ result: Request.ValidationResult, of request: Request) {
        if case .failure = result { note("\(event)(failed)", of: request) } else { note(event, of: request) }
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("s1", error)
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) { note("s2") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { note("s3") }
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) { note("s4") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) { note("s5") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { note("s6") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("s7", error)
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) { note("s8") }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) { note("s9") }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("s10")
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse response: CachedURLResponse
    ) { note("s11") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) { note("s12") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) { note("s13") }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { note("s14") }

    func requestDidResume(_ request: Request) { note("r1", of: request) }
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note("r2", of: request)
    }
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note("r3", error, of: request)
    }
    func request(
        _ request: Request, didAdaptInitialRequest initial: URLRequest, to adapted: URLRequest
    ) { note("r4", of: request) }
    func request(
        _ request: Request, didFailToAdaptURLRequest initial: URLRequest, withError error: AFError
    ) { note("r5", error, of: request) }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { note("r6", of: request) }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { note("r7", of: request) }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { note("r8", of: request) }
    func requestDidSuspend(_ request: Request) { note("r9", of: request) }
    func request(_ request: Request, didSuspendTask task: URLSessionTask) { note("r10", of: request) }
    func requestDidCancel(_ request: Request) { note("r11", of: request) }
    func request(_ request: Request, didCancelTask task: URLSessionTask) { note("r12", of: request) }
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        note("r13", of: request)
    }
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note("r14", error, of: request)
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("r15", error, of: request)
    }
    func requestIsRetrying(_ request: Request) { note("r16", of: request) }
    func requestDidFinish(_ request: Request) { note("r17", of: request) }

    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) { note("d1", result, of: request) }
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        note("d2", response.result, of: request)
    }
    func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) { note("d3", response.result, of: request) }
    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) { note("t1", result, of: request) }
    func request<Value: Sendable>(
        _ request: DataStreamRequest, didParseStream result: Result<Value, AFError>
    ) { note("t2", result, of: request) }
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note("u1", of: request)
    }
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note("u2", error, of: request)
    }
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        note("u3", of: request)
    }
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) { note("l1", of: request) }
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) { note("l2", result, of: request) }
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) { note("l3", result, of: request) }
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        note("l4", response.result, of: request)
    }
    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) { note("l5", response.result, of: request) }
}
