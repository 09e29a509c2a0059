// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Many tasks of all kinds at once, cancelled, suspended and resumed at any time, against a server that drops, stalls and
/// redirects: each completes exactly once, metrics first, and nothing is left behind.
struct SessionStormTests {
    private static let paths = [
        "/get", "/bytes/100000", "/stream-bytes/200000", "/redirect/3", "/status/404", "/status/204", "/gzip",
        "/range/50000", "/delay/1", "/drop", "/stall", "/half",
    ]

    @Test(
        "[U-5.1, U-5.2, 20.1] many concurrent tasks: each completes once", arguments: [1, 2, 3],
        TestedHTTP.allCases)
    func storm(_ seed: UInt64, over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        origin.answer("GET", "/drop", ScriptPlan(.reset))
        origin.answer(
            "GET", "/stall", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), .stall))
        origin.answer(
            "GET", "/half", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc"), .close))
        var random = SeededRandom(seed: seed)
        let delegate = StormDelegate()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = 16
        configuration.timeoutIntervalForResource = 20
        configuration.lupine.httpVersions = testedHTTP.versions
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let handled = LockedValue<[Int: Int]>([:])
        var tasks: [URLSessionTask] = []
        for number in 1...300 {
            let path = Self.paths.randomElement(using: &random) ?? "/get"
            let request = URLRequest(url: try #require(URL(string: origin.url + path)))
            let task: URLSessionTask
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                // Tasks are numbered from 1, in the order of their creation.
                task = session.dataTask(with: request) { _, _, _ in
                    handled.update { $0[number, default: 0] += 1 }
                }
                handled.update { $0[number] = 0 }
            case 1: task = session.downloadTask(with: request)
            case 2:
                var upload = URLRequest(url: try #require(URL(string: origin.url + "/post")))
                upload.httpMethod = "POST"
                task = session.uploadTask(with: upload, from: Data(repeating: 7, count: 300_000))
            case 3:
                let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket?count=3"))
                let socket = session.webSocketTask(with: url)
                socket.receive { _ in
                    if Bool.random() {
                        socket.cancel(with: .normalClosure, reason: nil)
                    } else {
                        socket.cancel()
                    }
                }
                task = socket
            default: task = session.dataTask(with: request)
            }
            tasks.append(task)
            task.resume()
            // Tasks that are running by now are interrupted in the middle.
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let other = tasks.randomElement(using: &random) ?? task
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1: other.cancel()
                case 2: other.suspend()
                case 3: (other as? URLSessionDownloadTask)?.cancel { StormDelegate.discard($0) }
                default: other.resume()
                }
                await Task.yield()
            }
        }
        for task in tasks {
            task.resume()
            // Tasks that never end by themselves are cancelled; the others may have ended already.
            if task is URLSessionWebSocketTask || task.originalRequest?.url?.path() == "/stall" {
                task.cancel()
            }
        }
        session.finishTasksAndInvalidate()
        // After four minutes the tasks that have not ended are reported, instead of waiting for them forever.
        let patience = DispatchWorkItem { delegate.invalid.open() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 240, execute: patience)
        await delegate.invalid.wait()
        patience.cancel()
        for task in tasks where task.state != .completed {
            let (machine, delivery, load) = task.core.state.withLock { ($0.machine, $0.delivery, $0.load) }
            let driver = (load as? TaskDriver)?.state.withLock {
                "\($0.machine), suspended: \($0.controls.isSuspended)"
            }
            Issue.record(
                "\(type(of: task)) \(task.originalRequest?.url?.path() ?? "") has not ended: \(machine), \(delivery), \(driver ?? "no load")"
            )
        }
        let ends = delegate.ends.value
        for task in tasks {
            #expect(task.state == .completed)
            let calls = handled.value[task.taskIdentifier]
            #expect(ends[task.taskIdentifier] == (calls == nil ? ["metrics", "complete"] : ["metrics"]))
            #expect(calls ?? 1 == 1)
        }
        #expect(delegate.callsAfterEnd.value.isEmpty, "called after its end")
        await origin.shutdown()
    }
}

/// A delegate that records how each task ends, and the calls after that.
private final class StormDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    let ends = LockedValue<[Int: [String]]>([:])
    let callsAfterEnd = LockedValue<[String]>([])
    let invalid = StormGate()

    private func calls(_ task: URLSessionTask, _ summary: String) {
        ends.update { [callsAfterEnd] ends in
            if ends[task.taskIdentifier]?.isEmpty == false { callsAfterEnd.update { $0.append(summary) } }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        calls(dataTask, "response")
        completionHandler(.allow)
    }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls(dataTask, "data")
    }
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) { calls(downloadTask, "file") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) { ends.update { $0[task.taskIdentifier, default: []].append("metrics") } }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // A download that timed out has resume data as well.
        Self.discard((error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        ends.update { $0[task.taskIdentifier, default: []].append("complete") }
    }
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalid.open() }

    /// Removes the part of a download that will not be resumed.
    static func discard(_ resumeData: Data?) {
        if let resumeData { URLSession.discardDownload(withResumeData: resumeData) }
    }
}

/// A gate that opens once.
private final class StormGate: Sendable {
    private let state = LockedValue<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        state.update { state in
            for waiter in state.waiting { waiter.resume() }
            state = (true, [])
        }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            state.update { state in
                if state.isOpen { continuation.resume() } else { state.waiting.append(continuation) }
            }
        }
    }
}
