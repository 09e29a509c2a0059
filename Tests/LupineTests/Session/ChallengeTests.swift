// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Credentials, server trust, redirects and the cache: which delegates and handlers are called, in which order, and the effect of
/// their answers.
struct ChallengeTests {
    // MARK: credentials

    @Test(
        "[D-1, R-71, I-8.1, I-8.3] the request's last credential answers a challenge; none is sent before one",
        arguments: TestedHTTP.allCases
    )
    func credential(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/basic-auth/user/password", resumes: false)
                .authenticate(username: "user", password: "wrong")
                .authenticate(with: URLCredential(user: "user", password: "password", persistence: .none))
            async let response = request.answered()
            request.resume()
            #expect(await response.response?.statusCode == 200)
            #expect(request.request?.value(forHTTPHeaderField: "Authorization") == nil)
            #expect(stage.origin.counts.requests == 2)
            await stage.settle()
            #expect(stage.recorder.count("s2") == 1)
        }
    }

    @Test(
        "[D-1, I-8.1, I-8.2] a wrong credential leads to the server's 401 and no error, after one more round trip",
        arguments: TestedHTTP.allCases)
    func wrongCredential(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let response = await stage.get("/basic-auth/user/password")
                .authenticate(username: "user", password: "wrong").answered()
            #expect(response.error == nil && response.response?.statusCode == 401 && response.data == nil)
            #expect(stage.origin.counts.requests == 2)
        }
    }

    @Test(
        "[D-1, I-8.1] for a request without a credential the storage's default credential answers, if there is one",
        arguments: TestedHTTP.allCases
    )
    func storedCredential(over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        var setUp = PipelineSetUp()
        setUp.configure = { $0.urlCredentialStorage = storage }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let path = "/basic-auth/user/password"
            #expect(await stage.get(path).answered().response?.statusCode == 401)
            storage.setDefaultCredential(
                URLCredential(user: "user", password: "password", persistence: .forSession),
                for: URLProtectionSpace(
                    host: "origin.test", port: Int(stage.origin.port), protocol: "http", realm: "Fake Realm",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            #expect(await stage.get(path).answered().response?.statusCode == 200)
        }
    }

    @Test(
        "[D-3, D-6] the loading system handles other challenges, and those of tasks without a request",
        arguments: TestedHTTP.allCases
    )
    func otherChallenges(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let task = stage.session.session.dataTask(with: try #require(URL(string: stage.url())))
            for (method, failures, expected) in [
                ("other", 0, URLSession.AuthChallengeDisposition.performDefaultHandling),
                (NSURLAuthenticationMethodHTTPBasic, 0, .performDefaultHandling),
                (NSURLAuthenticationMethodHTTPDigest, 1, .rejectProtectionSpace),
                (NSURLAuthenticationMethodNTLM, 1, .rejectProtectionSpace),
                (NSURLAuthenticationMethodNegotiate, 2, .rejectProtectionSpace),
                (NSURLAuthenticationMethodClientCertificate, 1, .rejectProtectionSpace),
                (NSURLAuthenticationMethodServerTrust, 0, .performDefaultHandling),
            ] {
                let challenge = URLAuthenticationChallenge(
                    protectionSpace: URLProtectionSpace(
                        host: "origin.test", port: 80, protocol: "http", realm: nil,
                        authenticationMethod: method), proposedCredential: nil,
                    previousFailureCount: failures, failureResponse: nil, error: nil, sender: NoSender())
                let answer = ValueLog<String>()
                stage.session.delegate.urlSession(
                    stage.session.session, task: task, didReceive: challenge
                ) { answer.add("\($0.rawValue) \($1 == nil)") }
                #expect(answer.all == ["\(expected.rawValue) true"], "\(method)")
            }
            stage.session.delegate.urlSession(
                stage.session.session, task: task,
                needNewBodyStream: { stream in
                    #expect(stream == nil)
                })
            #expect(await stage.get().answered().error == nil)
        }
    }

    // MARK: the trust of servers

    @Test(
        "[D-2, I-8.4, I-8.6, I-8.7, I-9.1] an evaluator is called on the root queue with the host name, and accepts",
        arguments: TestedHTTP.allCases
    )
    func trusted(over testedHTTP: TestedHTTP) async throws {
        let hosts = ValueLog<String>()
        let root = DispatchQueue(label: "root")
        let evaluator = ClosureEvaluator { host in
            dispatchPrecondition(condition: .onQueue(root))
            hosts.add(host)
        }
        let setUp = PipelineSetUp(
            trust: ServerTrustManager(evaluators: ["good.test": evaluator]), root: root, leaf: "good")
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let response = await stage.session.request(stage.url(host: "good.test")).answered()
            #expect(response.error == nil && response.response?.statusCode == 200)
            #expect(hosts.all == ["good.test"])
        }
    }

    @Test(
        "[D-2, I-8.4] an evaluator's AFError is the request's error; a server that it accepts needs no valid chain",
        arguments: TestedHTTP.allCases
    )
    func evaluatorDecides(over testedHTTP: TestedHTTP) async throws {
        let refusing = ClosureEvaluator { _ in
            throw AFError.serverTrustEvaluationFailed(reason: .noRequiredEvaluator(host: "it"))
        }
        let setUp = PipelineSetUp(
            trust: ServerTrustManager(evaluators: [
                "localhost": refusing, "expired.test": ClosureEvaluator { _ in },
            ]),
            leaf: "expired")
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let refused = await stage.session.request(stage.url(host: "localhost")).answered()
            #expect(brief(refused.error) == "no evaluator it")
            let trusted = await stage.session.request(stage.url(host: "expired.test")).answered()
            #expect(trusted.error == nil)
        }
    }

    @Test(
        "[D-2, I-9.2, I-9.4] a host without an evaluator is refused if all must have one; else the loading system decides",
        arguments: TestedHTTP.allCases
    )
    func withoutEvaluator(over testedHTTP: TestedHTTP) async throws {
        for isRequired in [true, false] {
            let manager = ServerTrustManager(allHostsMustBeEvaluated: isRequired, evaluators: [:])
            try await withPipeline(PipelineSetUp(trust: manager, leaf: "good"), over: testedHTTP) { stage in
                let response = await stage.session.request(stage.url(host: "good.test")).answered()
                #expect(brief(response.error) == (isRequired ? "no evaluator good.test" : "nil"))
            }
            try await withPipeline(PipelineSetUp(trust: manager), over: testedHTTP) { stage in
                #expect(await stage.get().answered().error == nil)
            }
        }
    }

    @Test(
        "[I-9.1, I-9.2, I-9.3] the look-up of an evaluator compares host names exactly, and can be overridden"
    )
    func lookUp() throws {
        let evaluator = ClosureEvaluator { _ in }
        let manager = ServerTrustManager(evaluators: ["a.test": evaluator])
        #expect(manager.allHostsMustBeEvaluated)
        #expect(try manager.serverTrustEvaluator(forHost: "a.test") is ClosureEvaluator)
        for host in ["A.test", "b.a.test", "a.test:443", ""] {
            #expect(
                brief(thrown { _ = try manager.serverTrustEvaluator(forHost: host) })
                    == "no evaluator \(host)")
        }
        let lenient = ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: [:])
        #expect(try lenient.serverTrustEvaluator(forHost: "a.test") == nil)
        final class WildcardManager: ServerTrustManager, @unchecked Sendable {
            override func serverTrustEvaluator(forHost host: String) -> (any ServerTrustEvaluating)? {
                evaluators["*"]
            }
        }
        #expect(
            WildcardManager(evaluators: ["*": evaluator]).serverTrustEvaluator(forHost: "any.test")
                is ClosureEvaluator)
    }

    @Test(
        "[I-8.5] the retriers are called with the error of an evaluator that refuses a server",
        arguments: TestedHTTP.allCases)
    func retriedTrust(over testedHTTP: TestedHTTP) async throws {
        let count = Protected(0)
        let evaluator = ClosureEvaluator { _ in
            let isFirst = count.write { count in
                count += 1
                return count == 1
            }
            if isFirst { throw BriefError("no") }
        }
        let setUp = PipelineSetUp(
            trust: ServerTrustManager(evaluators: ["good.test": evaluator]), leaf: "good")
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let interceptor = ScriptedInterceptor(answers: [.retry])
            let request = stage.session.request(stage.url(host: "good.test"), interceptor: interceptor)
            #expect(await request.answered().error == nil)
            #expect(interceptor.errors == ["trust no"] && request.tasks.count == 2)
        }
    }

    // MARK: redirects

    @Test(
        "[R-70, I-6.1, I-6.3] the request's redirect handler takes precedence over the session's",
        arguments: TestedHTTP.allCases)
    func redirectHandlers(over testedHTTP: TestedHTTP) async throws {
        let sessionHandler = FixedRedirect(request: nil)
        try await withPipeline(PipelineSetUp(redirects: sessionHandler), over: testedHTTP) { stage in
            #expect(await stage.get("/redirect/1").answered().response?.statusCode == 302)
            let other = try URLRequest(url: stage.url("/headers"), method: .get)
            let requestHandler = FixedRedirect(request: other)
            let response = await stage.get("/redirect/1").redirect(using: requestHandler).answered()
            #expect(response.response?.url?.path == "/headers" && response.response?.statusCode == 200)
            #expect(sessionHandler.calls.all.count == 1 && requestHandler.calls.all.count == 1)
        }
    }

    @Test(
        "[I-6.5] the request with which a handler replaces a redirect is sent unchanged",
        arguments: TestedHTTP.allCases)
    func replacedRedirect(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            var other = try URLRequest(url: stage.url("/anything"), method: .post)
            other.httpBody = Data("body".utf8)
            other.setValue("yes", forHTTPHeaderField: "X-Other")
            let response = await stage.get("/redirect/1")
                .redirect(using: FixedRedirect(request: other)).answered()
            let text = String(decoding: response.data ?? Data(), as: UTF8.self).lowercased()
            #expect(text.contains("post") && text.contains("x-other") && text.contains("body"))
            #expect(response.response?.url?.path == "/anything")
        }
    }

    @Test("[R-70, I-6.1, I-7.1] adding a second redirect handler or cached response handler traps")
    func secondHandlers() async {
        await #expect(processExitsWith: .failure) {
            let request = Session(eventMonitors: []).request("http://origin.test/")
            request.redirect(using: FixedRedirect(request: nil))
            request.redirect(using: FixedRedirect(request: nil))
        }
        await #expect(processExitsWith: .failure) {
            let request = Session(eventMonitors: []).request("http://origin.test/")
            request.cacheResponse(using: FixedCaching(.none))
            request.cacheResponse(using: FixedCaching(.none))
        }
    }

    // MARK: the cache

    @Test(
        "[R-70, I-7.1, I-7.2, I-7.3, I-7.4, I-7.5, T-8] the request's cached response handler before the session's",
        arguments: TestedHTTP.allCases
    )
    func caching(over testedHTTP: TestedHTTP) async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let sessionHandler = FixedCaching(.none)
        var setUp = PipelineSetUp(caching: sessionHandler)
        setUp.configure = { $0.urlCache = cache }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            func stored(_ path: String, _ handler: FixedCaching?) async throws -> CachedURLResponse? {
                let request = stage.get(path, resumes: false)
                if let handler { request.cacheResponse(using: handler) }
                async let response = request.answered()
                request.resume()
                let urlRequest = try #require(await response.request)
                return cache.cachedResponse(for: urlRequest)
            }
            #expect(try await stored("/bytes/3", nil) == nil)
            let replaced = try await stored("/bytes/4", FixedCaching(.replacement))
            #expect(replaced?.data == Data("replaced".utf8))
            #expect(replaced?.userInfo?["key"] as? String == "value")
            let kept = try await stored("/bytes/5", FixedCaching(.proposal))
            #expect(kept?.data.count == 5)
            #expect(sessionHandler.calls.all.count == 1)
        }
        setUp.caching = nil
        setUp.recorder = EventRecorder()
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let request = try #require(await stage.get("/bytes/6").answered().request)
            #expect(cache.cachedResponse(for: request)?.data.count == 6)
        }
    }
}

/// A sender that ignores the answers to a challenge.
private final class NoSender: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
