// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Callbacks of the loading system: the program's `URLProtocol` subclasses, and the methods of a delegate.
extension Callback {
    /// Calls the hook in the step of that name, and answers every request to its host.
    final class CallingProtocol: URLProtocol {
        struct Play: Sendable {
            let step: String
            let hook: Hook
        }

        static let plays = Protected<[String: Play]>([:])

        private static func reach(_ step: String, _ request: URLRequest?) -> Bool {
            guard let host = request?.url?.host, let play = plays.read({ $0[host] }) else { return false }
            if play.step == step { play.hook.call() }
            return true
        }

        override class func canInit(with task: URLSessionTask) -> Bool {
            reach("canInit", task.currentRequest)
        }

        override class func canonicalRequest(for request: URLRequest) -> URLRequest {
            _ = reach("canonicalRequest", request)
            return request
        }

        override func startLoading() {
            _ = Self.reach("startLoading", request)
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
            else { return }
            client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("ok".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() { _ = Self.reach("stopLoading", request) }
    }

    private static func withProtocol(_ setUp: inout PipelineSetUp, _ hook: Hook) {
        setUp.configure = { $0.protocolClasses = [CallingProtocol.self] }
    }

    private static func ofProtocol(_ step: String, holds: Holds) -> Callback {
        Callback(
            "protocol's \(step)", holds: holds,
            prepare: withProtocol
        ) { stage, hook in
            let host = "\(UUID().uuidString.lowercased()).test"
            CallingProtocol.plays.write { $0[host] = .init(step: step, hook: hook) }
            return stage.session.request("http://\(host)/")
        }
    }

    /// Calls the hook in the method of that name.
    final class CallingDelegate: SessionDelegate, @unchecked Sendable {
        private let method: String
        private let hook: Hook

        init(_ method: String, _ hook: Hook) {
            self.method = method
            self.hook = hook
            super.init()
        }

        private func reach(_ method: String) { if method == self.method { hook.call() } }

        override func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            reach("didBecomeInvalidWithError")
            super.urlSession(session, didBecomeInvalidWithError: error)
        }

        override func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
            reach("didCreateTask")
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            reach("didReceiveChallenge")
            super.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            reach("willPerformHTTPRedirection")
            super.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            reach("needNewBodyStream")
            super.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            reach("didFinishCollecting")
            super.urlSession(session, task: task, didFinishCollecting: metrics)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            reach("didCompleteWithError")
            super.urlSession(session, task: task, didCompleteWithError: error)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            reach("didReceiveResponse")
            super.urlSession(
                session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
        ) {
            reach("didReceiveData")
            super.urlSession(session, dataTask: dataTask, didReceive: data)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            reach("willCacheResponse")
            super.urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse,
                completionHandler: completionHandler)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            reach("didSendBodyData")
            super.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }

        override func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            reach("didWriteData")
            super.urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten, totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        }

        override func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            reach("didFinishDownloading")
            super.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location)
        }

        override func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didOpenWithProtocol protocol: String?
        ) {
            reach("didOpen")
            super.urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
        }

        override func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            reach("didClose")
            super.urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
        }
    }

    private static func calling(_ method: String) -> @Sendable (inout PipelineSetUp, Hook) -> Void {
        { setUp, hook in setUp.delegate = CallingDelegate(method, hook) }
    }

    private static func callingWithCache(_ setUp: inout PipelineSetUp, _ hook: Hook) {
        calling("willCacheResponse")(&setUp, hook)
        setUp.configure = { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
    }

    private static func ofDelegate(_ method: String, to path: String = "/get") -> Callback {
        Callback(
            "delegate's \(method)",
            prepare: calling(method)
        ) { stage, _ in stage.get(path) }
    }

    static let loading = [
        ofProtocol("canInit", holds: .session), ofProtocol("canonicalRequest", holds: .session),
        ofProtocol("startLoading", holds: .itself), ofProtocol("stopLoading", holds: .itself),
        ofDelegate("didCreateTask"), ofDelegate("didReceiveChallenge", to: "/basic-auth/user/password"),
        ofDelegate("willPerformHTTPRedirection", to: "/redirect/1"), ofDelegate("didReceiveResponse"),
        ofDelegate("didReceiveData"), ofDelegate("didFinishCollecting"), ofDelegate("didCompleteWithError"),
        Callback("delegate's willCacheResponse", prepare: callingWithCache) { stage, _ in
            stage.get("/cache/60")
        },
        Callback("delegate's didSendBodyData", prepare: calling("didSendBodyData")) { stage, _ in
            stage.session.upload(Data(count: 4096), to: stage.url("/post"))
        },
        Callback("delegate's didWriteData", prepare: calling("didWriteData")) { stage, _ in
            stage.session.download(stage.url())
        },
        Callback("delegate's didFinishDownloading", prepare: calling("didFinishDownloading")) { stage, _ in
            stage.session.download(stage.url())
        },
        Callback("delegate's didOpen", prepare: calling("didOpen")) { stage, _ in
            stage.session.webSocketRequest(to: stage.socketURL())
        },
        Callback("delegate's didClose", prepare: calling("didClose")) { stage, _ in
            let request = stage.session.webSocketRequest(to: stage.socketURL())
            request.streamMessageEvents(on: stage.queue()) { [weak request] event in
                if case .connected = event.kind { request?.close(sending: .normalClosure) }
            }
            return request
        },
        Callback(
            "delegate's needNewBodyStream",
            prepare: calling("needNewBodyStream")
        ) { stage, _ in
            stage.session.upload(InputStream(data: Data("a".utf8)), to: stage.url("/post"))
        },
        Callback(
            "delegate's didBecomeInvalidWithError",
            prepare: calling("didBecomeInvalidWithError")
        ) { stage, _ in
            let request = stage.get()
            stage.session.session.finishTasksAndInvalidate()
            return request
        },
    ]
}
