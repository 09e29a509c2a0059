// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Delegate methods in their two forms: with a completion handler, and asynchronous (U-5.12).
@Suite(.timeLimit(.minutes(10))) struct AsyncFormTests {
    /// A method that has both forms.
    enum Method: String, CaseIterable, Sendable {
        case sessionChallenge, taskChallenge, delayedRequest, redirect, bodyStream, bodyStreamFromOffset,
            response,
            caching
    }

    /// The forms that a class implements of each method.
    enum Forms: CaseIterable, Sendable {
        case handler, async, both, neither

        func make(_ log: CallLog) -> any URLSessionDataDelegate {
            switch self {
            case .handler: WithHandlers(log)
            case .async: Asynchronous(log)
            case .both: Both(log)
            case .neither: WithoutMethods()
            }
        }
    }

    /// Calls the form with the handler, as the loading system does, and returns the answer.
    private static func ask(
        _ method: Method, _ delegate: any URLSessionDataDelegate, _ session: URLSession,
        _ task: URLSessionDataTask
    ) async throws -> String {
        let url = try #require(URL(string: "http://h.test/"))
        let request = URLRequest(url: url)
        let challenge = URLAuthenticationChallenge(
            space: URLProtectionSpace(
                host: "h.test", port: 80, protocol: "http", realm: "r", authenticationMethod: nil),
            credential: nil, failures: 0, response: nil)
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        return await withCheckedContinuation { continuation in
            @Sendable func say(_ isDefault: Bool) {
                continuation.resume(returning: isDefault ? "default" : "other")
            }
            switch method {
            case .sessionChallenge:
                delegate.urlSession(session, didReceive: challenge) { disposition, _ in
                    say(disposition == .performDefaultHandling)
                }
            case .taskChallenge:
                delegate.urlSession(session, task: task, didReceive: challenge) { disposition, _ in
                    say(disposition == .performDefaultHandling)
                }
            case .delayedRequest:
                delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { disposition, _ in
                    say(disposition == .continueLoading)
                }
            case .redirect:
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: request
                ) { say($0 != nil) }
            case .bodyStream:
                delegate.urlSession(session, task: task, needNewBodyStream: { say($0 == nil) })
            case .bodyStreamFromOffset:
                delegate.urlSession(session, task: task, needNewBodyStreamFrom: 1) { say($0 == nil) }
            case .response:
                delegate.urlSession(session, dataTask: task, didReceive: response) { say($0 == .allow) }
            case .caching:
                let proposal = CachedURLResponse(response: response, data: Data())
                delegate.urlSession(session, dataTask: task, willCacheResponse: proposal) { say($0 != nil) }
            }
        }
    }

    @Test(
        "[U-5.12] the form with the handler is called, else the asynchronous form, else the default",
        arguments: Method.allCases, Forms.allCases)
    func forms(_ method: Method, _ forms: Forms) async throws {
        try await withStage { stage in
            let log = CallLog()
            let delegate = forms.make(log)
            let task = stage.session.dataTask(with: try stage.url("/"))
            let name: String? =
                switch forms {
                case .handler, .both: "\(method), handler"
                case .async: "\(method), async"
                case .neither: nil
                }
            // In the second round the forms of the class are known.
            for count in 1...2 {
                let answer = try await Self.ask(method, delegate, stage.session, task)
                #expect(answer == (forms == .neither ? "default" : "other"))
                #expect(log.entries == Array(repeating: name, count: count).compactMap { $0 })
            }
            task.cancel()
        }
    }

    // MARK: over connections

    /// A delegate that accepts everything, asynchronously, and records its calls.
    private final class Answering: NSObject, URLSessionDataDelegate {
        let log = CallLog()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            log.add("challenge")
            return (.useCredential, URLCredential(user: "lupin", password: "secret", persistence: .none))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            log.add("redirect")
            return request
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            log.add("response")
            return .allow
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse
        ) async -> CachedURLResponse? {
            log.add("caching")
            return nil
        }

        func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
            -> InputStream?
        {
            log.add("stream")
            return InputStream(data: Data("body".utf8))
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            log.add("data")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
        {
            log.add("complete \(error == nil ? "" : "\(error as Any)")")
        }
    }

    @Test(
        "[U-5.12] asynchronous forms answer redirects, challenges and responses, in order",
        arguments: TestedHTTP.allCases)
    func loads(over testedHTTP: TestedHTTP) async throws {
        let delegate = Answering()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        try await withStage(configuration: configuration, delegate: delegate, over: testedHTTP) { stage in
            stage.origin.route("GET", "/out") { _ throws(Refusal) in
                var response = OriginResponse(302)
                try response.add("Location", "/basic-auth/lupin/secret")
                return response
            }
            stage.session.dataTask(with: try stage.url("/out")).resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries.filter { $0 != "caching" }
            #expect(entries == ["redirect", "challenge", "response", "data", "complete "])
        }
    }

    @Test(
        "[U-5.12] an asynchronous form supplies the body of a streamed upload", arguments: TestedHTTP.allCases
    )
    func stream(over testedHTTP: TestedHTTP) async throws {
        let delegate = Answering()
        try await withStage(delegate: delegate, over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url("/post"))
            request.httpMethod = "POST"
            stage.session.uploadTask(withStreamedRequest: request).resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries.filter { $0 != "caching" }
            #expect(entries == ["stream", "response", "data", "complete "])
        }
    }

    @Test(
        "[U-5.12] if the task's delegate implements neither form, the session's delegate is called",
        arguments: TestedHTTP.allCases)
    func successor(over testedHTTP: TestedHTTP) async throws {
        let delegate = Answering()
        try await withStage(delegate: delegate, over: testedHTTP) { stage in
            let task = stage.session.dataTask(with: try stage.url("/get"))
            task.delegate = WithoutMethods()
            task.resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries.filter { $0 != "caching" }
            #expect(entries == ["response", "data", "complete "])
        }
    }

    /// A delegate that answers when its Swift task is cancelled.
    private final class WaitingDelegate: NSObject, URLSessionDataDelegate {
        let log = CallLog()

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            log.add("asked")
            let (never, source) = AsyncStream.makeStream(of: Int.self)
            for await _ in never {}
            withExtendedLifetime(source) {}
            log.add(Task.isCancelled ? "cancelled" : "ended")
            return .allow
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
        {
            log.add("complete \((error as? URLError)?.code.rawValue ?? 0)")
        }
    }

    @Test(
        "[U-5.12] the Swift task of an asynchronous form is cancelled with the task",
        arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        let delegate = WaitingDelegate()
        try await withStage(delegate: delegate, over: testedHTTP) { stage in
            let task = stage.session.dataTask(with: try stage.url("/get"))
            task.resume()
            await delegate.log.wait(for: "asked")
            task.cancel()
            await delegate.log.wait(for: "cancelled")
            await delegate.log.wait(for: "complete \(URLError.cancelled.rawValue)")
        }
    }

    // MARK: the classes of the table

    private final class WithoutMethods: NSObject, URLSessionDataDelegate {}

    private final class WithHandlers: NSObject, Handlers {
        let log: CallLog

        init(_ log: CallLog) { self.log = log }
    }

    private final class Asynchronous: NSObject, AsyncForms {
        let log: CallLog

        init(_ log: CallLog) { self.log = log }
    }

    private final class Both: NSObject, Handlers, AsyncForms {
        let log: CallLog

        init(_ log: CallLog) { self.log = log }
    }
}

/// A delegate with all forms that have a handler.
private protocol Handlers: URLSessionDataDelegate {
    var log: CallLog { get }
}

extension Handlers {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log.add("sessionChallenge, handler")
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log.add("taskChallenge, handler")
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        log.add("delayedRequest, handler")
        completionHandler(.cancel, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        log.add("redirect, handler")
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        log.add("bodyStream, handler")
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        log.add("bodyStreamFromOffset, handler")
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        log.add("response, handler")
        completionHandler(.cancel)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        log.add("caching, handler")
        completionHandler(nil)
    }
}

/// A delegate with all asynchronous forms.
private protocol AsyncForms: URLSessionDataDelegate {
    var log: CallLog { get }
}

extension AsyncForms {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        log.add("sessionChallenge, async")
        return (.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        log.add("taskChallenge, async")
        return (.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        log.add("delayedRequest, async")
        return (.cancel, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        log.add("redirect, async")
        return nil
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
        -> InputStream?
    {
        log.add("bodyStream, async")
        return InputStream(data: Data())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64
    ) async -> InputStream? {
        log.add("bodyStreamFromOffset, async")
        return InputStream(data: Data())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        log.add("response, async")
        return .cancel
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        log.add("caching, async")
        return nil
    }
}
