// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTransport

/// A record of calls in their order, which lets tests wait for one.
final class CallLog: Sendable {
    private struct State {
        var entries: [String] = []
        var waiting: [(text: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        func count(of text: String) -> Int { entries.count { $0.hasPrefix(text) } }
    }

    private let state = Lock(State())

    var entries: [String] { state.withLock { $0.entries } }

    func add(_ entry: String) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let counted = state
            let ready = state.waiting.filter { counted.count(of: $0.text) >= $0.count }
            state.waiting.removeAll { counted.count(of: $0.text) >= $0.count }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Waits until this many entries begin with the text.
    func wait(for text: String, count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count(of: text) >= count { return true }
                state.waiting.append((text, count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// A delegate that records every call, and answers with its closures.
final class RecordingDelegate: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate {
    typealias Allow = @Sendable (URLSession.ResponseDisposition) -> Void

    let log: CallLog
    private let name: String
    /// Answers a response; nil allows every response.
    private let onResponse: (@Sendable (URLSessionDataTask, @escaping Allow) -> Void)?
    /// Called with every entry, while the delegate's method runs.
    private let onCall: @Sendable (String) -> Void

    init(
        _ log: CallLog = CallLog(), name: String = "",
        onResponse: (@Sendable (URLSessionDataTask, @escaping Allow) -> Void)? = nil,
        onCall: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.log = log
        self.name = name
        self.onResponse = onResponse
        self.onCall = onCall
    }

    private func record(_ entry: String) {
        onCall(entry)
        log.add(name + entry)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        record("invalid \(error == nil)")
    }
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        record("created \(task.taskIdentifier)")
    }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) { record("sent \(bytesSent) \(totalBytesSent)/\(totalBytesExpectedToSend)") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) { record("interim \(response.statusCode)") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        record("redirect \(response.statusCode)")
        completionHandler(request)
    }
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        record("waits")
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping Allow
    ) {
        let status = (dataTask.response as? HTTPURLResponse)?.statusCode ?? 0
        record("response \(status)")
        if let onResponse { onResponse(dataTask, completionHandler) } else { completionHandler(.allow) }
    }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        record("data \(String(decoding: data.prefix(16), as: UTF8.self))")
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposed: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        record("caches \(proposed.data.count)")
        completionHandler(nil)
    }
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) { record("download \(downloadTask.taskIdentifier)") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { record("metrics") }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let isSet = task.state == .completed && (task.error == nil) == (error == nil)
        record(
            "complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")\(isSet ? "" : " too early")"
        )
    }
}

/// Returns a URL for tests that use no network.
func someURL(_ path: String = "/") -> URL {
    URL(string: "http://localhost\(path)") ?? URL(filePath: "/")
}
