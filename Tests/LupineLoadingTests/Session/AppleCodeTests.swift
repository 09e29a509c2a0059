// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

/// Code as it is written for Apple's platforms, importing nothing but Foundation and the module. It has to compile as Swift 6.
struct AppleCodeTests {
    /// Every method of every delegate, as Xcode would complete them.
    private final class Delegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
        URLSessionStreamDelegate, URLSessionWebSocketDelegate
    {
        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) { completionHandler(.performDefaultHandling, nil) }
        func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {}
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
            completionHandler: @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
        ) { completionHandler(.continueLoading, nil) }
        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(request) }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) { completionHandler(.performDefaultHandling, nil) }
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { completionHandler(nil) }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
            completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { completionHandler(nil) }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {}
        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didReceiveInformationalResponse response: HTTPURLResponse
        ) {}
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {}
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {}
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) { completionHandler(.allow) }
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {}
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
        ) {}
        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) { completionHandler(proposedResponse) }
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {}
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {}
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
            expectedTotalBytes: Int64
        ) {}
        func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {}
        func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {}
        func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}
        func urlSession(
            _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
            outputStream: OutputStream
        ) {}
        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didOpenWithProtocol protocol: String?
        ) {}
        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {}
    }

    /// A test double of a session, which answers by itself.
    private final class StubSession: URLSession, @unchecked Sendable {
        override func dataTask(
            with request: URLRequest,
            completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> URLSessionDataTask {
            completionHandler(Data(), nil, nil)
            return super.dataTask(with: request, completionHandler: completionHandler)
        }
    }

    /// A test double of a task, which answers when it is resumed.
    private final class StubTask: URLSessionDataTask, @unchecked Sendable {
        let answer: @Sendable () -> Void
        init(_ answer: @escaping @Sendable () -> Void) { self.answer = answer }
        override func resume() { answer() }
    }

    @MainActor private final class Model {
        var text = ""
        func load(_ url: URL) {
            URLSession.shared.dataTask(with: url) { data, _, error in
                guard let data, error == nil else { return }
                Task { @MainActor in self.text = String(decoding: data, as: UTF8.self) }
            }.resume()
        }
    }

    @Test func appleDelegatesAndSubclassesCompile() async throws {
        let session = URLSession(configuration: .ephemeral, delegate: Delegate(), delegateQueue: .main)
        let task = session.dataTask(with: try #require(URL(string: "http://localhost/")))
        task.delegate = Delegate()
        #expect(task.state == .suspended)
        session.invalidateAndCancel()
        let stub = StubSession(configuration: .ephemeral)
        #expect(stub.dataTask(with: URLRequest(url: URL(filePath: "/"))) { _, _, _ in }.taskIdentifier == 1)
        stub.invalidateAndCancel()
        await confirmation("a stub answers") { answered in
            StubTask { answered() }.resume()
        }
    }
}
