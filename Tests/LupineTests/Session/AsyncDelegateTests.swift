// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Subclasses of `SessionDelegate` that answer asynchronously (U-5.12).
@Suite(.timeLimit(.minutes(10))) struct AsyncDelegateTests {
    /// Overrides asynchronous methods, records their calls, and calls the superclass for the answers.
    private final class ForwardingDelegate: SessionDelegate, @unchecked Sendable {
        let calls = ValueLog<String>()

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            calls.add("challenge")
            return await super.urlSession(session, task: task, didReceive: challenge)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            calls.add("redirect")
            return await super.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            calls.add("response")
            return await super.urlSession(session, dataTask: dataTask, didReceive: response)
        }

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse
        ) async -> CachedURLResponse? {
            calls.add("caching")
            return await super.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
        }

        override func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async
            -> InputStream?
        {
            calls.add("stream")
            return await super.urlSession(session, needNewBodyStreamForTask: task)
        }
    }

    @Test(
        "[U-5.12] asynchronous overrides are called, and `super` behaves like the class",
        arguments: TestedHTTP.allCases)
    func overrides(over testedHTTP: TestedHTTP) async throws {
        let delegate = ForwardingDelegate()
        let handled = ValueLog<String>()
        var setUp = PipelineSetUp(delegate: delegate)
        setUp.redirects = Redirector.modify { _, request, _ in
            handled.add("handler")
            return request
        }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            stage.origin.route("GET", "/out") { _ throws(Refusal) in
                var response = OriginResponse(302)
                try response.add("Location", "/basic-auth/lupin/secret")
                return response
            }
            let response = await stage.get("/out").authenticate(username: "lupin", password: "secret")
                .onHTTPResponse { response in handled.add("\(response.statusCode)") }.answered()
            #expect(response.response?.statusCode == 200)
            let calls = delegate.calls.all.filter { $0 != "caching" }
            #expect(calls == ["redirect", "challenge", "response"])
            #expect(handled.all == ["handler", "200"])
        }
    }

    @Test(
        "[U-5.12] an asynchronous override provides the body of a streamed upload",
        arguments: TestedHTTP.allCases
    )
    func stream(over testedHTTP: TestedHTTP) async throws {
        let delegate = ForwardingDelegate()
        try await withPipeline(PipelineSetUp(delegate: delegate), over: testedHTTP) { stage in
            var request = try URLRequest(url: stage.url("/post"), method: .post)
            request.setValue("4", forHTTPHeaderField: "Content-Length")
            let upload = stage.session.upload(InputStream(data: Data("body".utf8)), with: request)
            #expect(await upload.answered().response?.statusCode == 200)
            #expect(delegate.calls.all.first == "stream")
        }
    }

    /// Answers differently from the superclass.
    private final class RefusingDelegate: SessionDelegate, @unchecked Sendable {
        override func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { nil }
    }

    /// Overrides both forms of a method.
    private final class BothFormsDelegate: SessionDelegate, @unchecked Sendable {
        let calls = ValueLog<String>()

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            calls.add("handler")
            completionHandler(request)
        }

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            calls.add("async")
            return nil
        }
    }

    @Test(
        "[U-5.12] an asynchronous override takes precedence over the class's implementation",
        arguments: TestedHTTP.allCases)
    func refuses(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(delegate: RefusingDelegate()), over: testedHTTP) { stage in
            #expect(await stage.get("/redirect/1").answered().response?.statusCode == 302)
        }
    }

    @Test(
        "[U-5.12] an override with a completion handler takes precedence over an asynchronous one",
        arguments: TestedHTTP.allCases)
    func both(over testedHTTP: TestedHTTP) async throws {
        let delegate = BothFormsDelegate()
        try await withPipeline(PipelineSetUp(delegate: delegate), over: testedHTTP) { stage in
            #expect(await stage.get("/redirect/1").answered().response?.statusCode == 200)
            #expect(delegate.calls.all == ["handler"])
        }
    }

    /// Answers only when its Swift task is cancelled.
    private final class WaitingDelegate: SessionDelegate, @unchecked Sendable {
        let calls = ValueLog<String>()

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            calls.add("asked")
            let (never, source) = AsyncStream.makeStream(of: Int.self)
            for await _ in never {}
            withExtendedLifetime(source) {}
            calls.add("cancelled")
            return .cancel
        }
    }

    @Test(
        "[U-5.12] cancelling a request cancels the Swift task of an override", arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        let delegate = WaitingDelegate()
        try await withPipeline(PipelineSetUp(delegate: delegate), over: testedHTTP) { stage in
            let request = stage.get()
            async let response = request.answered()
            await delegate.calls.wait(for: 1)
            request.cancel()
            await delegate.calls.wait(for: 2)
            #expect(await response.error?.isExplicitlyCancelledError == true)
        }
    }
}
