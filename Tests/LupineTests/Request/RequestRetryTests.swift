// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Tests how often retriers are asked about a failure, with which error, and what a retry resets and keeps.
struct RequestRetryTests {
    /// A serializer that fails with the request's error, or succeeds.
    private static let serializer = ClosureSerializer { error in
        if let error { throw error }
        return "fine"
    }

    /// Waits for the response of a request, as `serializer` serializes it.
    private static func response(of request: DataRequest) async -> AFDataResponse<String> {
        await called { answer in
            request.response(queue: DispatchQueue(label: "h"), responseSerializer: serializer) { answer($0) }
        }
    }

    @Test(
        "[R-53, R-55, R-60, DR-9, I-1.21] after one retry, the retrier is asked about the task and the serializer",
        arguments: TestedHTTP.allCases)
    func counting(over testedHTTP: TestedHTTP) async throws {
        let counts = ValueLog<Int>()
        let interceptor = ScriptedInterceptor(retry: { question in
            counts.add(question.retryCount)
            question.answer(counts.all.count == 1 ? .retry : .doNotRetry)
        })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/401", interceptor: interceptor).validate()
            #expect(brief(await Self.response(of: request).error) == "status 401")
            #expect(interceptor.errors == ["status 401", "status 401", "status 401"])
            #expect(counts.all == [0, 1, 1])
            #expect(request.retryCount == 1 && interceptor.adaptations.all.count == 2)
            #expect(request.tasks.count == 2 && request.allMetrics.count == 2 && request.requests.count == 4)
            #expect(request.firstTask !== request.lastTask && request.task === request.lastTask)
            #expect(request.firstMetrics !== request.metrics && request.metrics === request.lastMetrics)
        }
    }

    @Test(
        "an adapter that completes twice: the failure after its success is ignored",
        arguments: TestedHTTP.allCases)
    func adapterAnswersTwice(over testedHTTP: TestedHTTP) async throws {
        let adapter = Adapter { request, _, completion in
            completion(.success(request))
            completion(.failure(BriefError("late")))
        }
        try await withPipeline(over: testedHTTP) { stage in
            let response = await stage.get("/range/26", interceptor: adapter).serializingData().response
            #expect(response.error == nil && response.data?.count == 26)
        }
    }

    @Test(
        "[R-53, S-41, I-1.17, I-1.21, I-1.22, I-1.23] a retrier substitutes the error of the task and of the serializer",
        arguments: TestedHTTP.allCases
    )
    func refusedWithError(over testedHTTP: TestedHTTP) async throws {
        let count = Protected(0)
        let interceptor = ScriptedInterceptor(retry: { question in
            let number = count.write { count in
                count += 1
                return count
            }
            question.answer(.doNotRetryWithError(BriefError("no\(number)")))
        })
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/401", interceptor: interceptor).validate()
            let error = await Self.response(of: request).error
            #expect(brief(error) == "retry no2 of retry no1 of status 401")
            #expect(error?.underlyingError as? BriefError == BriefError("no2"))
            #expect(interceptor.errors == ["status 401", "retry no1 of status 401"])
            #expect(brief(request.error) == "retry no1 of status 401")
            await stage.settle()
            #expect(stage.recorder.count("d3") == 1)
        }
    }

    @Test(
        "[R-53, DR-8] two serializers fail on a valid response: the retrier is asked twice, the adapter once",
        arguments: TestedHTTP.allCases)
    func twoSerializers(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            let seen = ValueLog<String>()
            let failing = ClosureSerializer { _ in throw BriefError("no") }
            let request = stage.get(interceptor: interceptor, resumes: false)
            for _ in 0..<2 { request.response(responseSerializer: failing) { seen.add(brief($0.error)) } }
            request.resume()
            #expect(await seen.wait(for: 2) == ["custom no", "custom no"])
            #expect(interceptor.questions.all.count == 2 && interceptor.adaptations.all.count == 1)
            #expect(request.error == nil)
        }
    }

    @Test(
        "[R-54, I-1.25, I-1.26, I-8.3] a retry discards the content and the error, and keeps the settings",
        arguments: TestedHTTP.allCases)
    func kept(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            stage.origin.answer(
                "GET", "/flaky",
                ScriptPlan([
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close]),
                    Script([
                        .signal("again"), .waitForSignal("go"), .send("HTTP/1.1 204 No Content\r\n\r\n"),
                        .close,
                    ]),
                ]))
            let queue = DispatchQueue(label: "progress")
            let shown = ValueLog<Int64>()
            let interceptor = Interceptor(
                retriers: [
                    Retrier { request, _, _, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry)
                    }
                ])
            let own = EventRecorder()
            let request = stage.get("/flaky", interceptor: interceptor, resumes: false)
                .authenticate(username: "u", password: "p").eventMonitor(own).validate()
            request.downloadProgress(queue: queue) { shown.add($0.completedUnitCount) }
            async let response = request.answered()
            request.resume()
            await stage.origin.gate("again").wait()
            await stage.settle()
            #expect(request.error == nil && request.data == nil && request.retryCount == 1)
            #expect(request.downloadProgress.completedUnitCount == 0)
            #expect(request.downloadProgress.totalUnitCount == 0)
            #expect(request.credential?.user == "u" && request.isResumed)
            stage.sendResponse()
            #expect(await response.response?.statusCode == 204)
            await queue.flush()
            #expect(shown.all.count == 1, "a reset calls no handler")
            await own.queue.flush()
            #expect(own.count("d1") == 2, "both validators, in the second attempt")
        }
    }

    @Test(
        "[R-55] an attempt that fails before it has a task keeps the response of the last task",
        arguments: TestedHTTP.allCases)
    func laterFailure(over testedHTTP: TestedHTTP) async throws {
        let count = Protected(0)
        let interceptor = ScriptedInterceptor(
            adapt: { adaptation in
                let isFirst = count.write { count in
                    count += 1
                    return count == 1
                }
                adaptation.answer(isFirst ? .success(adaptation.request) : .failure(BriefError("no")))
            }, answers: [.retry])
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/status/500", interceptor: interceptor).validate()
            let response = await request.answered()
            #expect(brief(response.error) == "adapt no" && response.response?.statusCode == 500)
            #expect(response.metrics != nil && request.tasks.count == 1 && request.retryCount == 1)
        }
    }

    @Test(
        "[R-50, I-1.20] the retrier is not asked about a success or a cancelled request",
        arguments: TestedHTTP.allCases)
    func notAsked(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            #expect(await Self.response(of: stage.get("/status/500", interceptor: interceptor)).error == nil)
            let held = stage.held(interceptor: interceptor)
            async let end = Self.response(of: held)
            await stage.waitForRequest()
            held.cancel()
            #expect(brief(await end.error) == "explicit")
            #expect(interceptor.questions.all.isEmpty)
        }
    }

    @Test(
        "[S-40, I-1.8, I-1.9, I-1.10, I-1.14] the session's interceptor precedes the request's, on whatever queue they complete",
        arguments: TestedHTTP.allCases)
    func bothInterceptors(over testedHTTP: TestedHTTP) async throws {
        let seen = ValueLog<String>()
        let otherQueue = DispatchQueue(label: "other")
        func named(_ name: String) -> ScriptedInterceptor {
            ScriptedInterceptor(
                adapt: { adaptation in
                    seen.add("adapt \(name)")
                    var request = adaptation.request
                    request.addValue(name, forHTTPHeaderField: "X-Order")
                    otherQueue.async { [request] in adaptation.answer(.success(request)) }
                },
                retry: { question in
                    seen.add("retry \(name)")
                    otherQueue.async { question.answer(.doNotRetry) }
                })
        }
        let ofSession = named("session")
        try await withPipeline(PipelineSetUp(interceptor: ofSession), over: testedHTTP) { stage in
            let ofRequest = named("request")
            let request = stage.get("/status/500", interceptor: ofRequest).validate()
            let response = await request.answered()
            #expect(response.request?.value(forHTTPHeaderField: "X-Order") == "session,request")
            #expect(seen.all == ["adapt session", "adapt request", "retry session", "retry request"])
            let state = try #require(ofRequest.adaptations.all.first?.state)
            #expect(state.requestID == request.id && state.session === stage.session)
        }
    }

    @Test(
        "[I-1.7, I-1.13, I-1.17, S-22] a GET with a body fails; if an adapter adds the body, the error is wrapped",
        arguments: TestedHTTP.allCases
    )
    func bodyInGet(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let made = stage.session.request(stage.url(), requestModifier: { $0.httpBody = Data() })
            #expect(brief(await made.answered().error) == "body in GET")
            let adapter = Adapter { request, _, answer in
                var request = request
                request.httpBody = Data("x".utf8)
                answer(.success(request))
            }
            let adapted = await stage.get(interceptor: adapter).answered()
            #expect(brief(adapted.error) == "adapt body in GET")
            #expect((adapted.error?.underlyingError as? AFError).map { brief($0) } == "body in GET")
        }
    }

    @Test(
        "[I-6.6, R-62] redirects are not adapted, and are only in `performedRequests`",
        arguments: TestedHTTP.allCases)
    func redirects(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor()
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.get("/redirect/2", interceptor: interceptor)
            _ = await request.answered()
            #expect(interceptor.adaptations.all.count == 1)
            #expect(request.requests.allSatisfy { $0.url?.path == "/redirect/2" })
            #expect(request.performedRequests.map { $0.url?.path } == ["/get"])
            #expect(request.description == "GET \(stage.url()) (200)")
        }
    }

    @Test(
        "[S-28] the request modifier runs before the parameters are encoded", arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let request = stage.session.request(
                stage.url(), parameters: ["a": "b"],
                requestModifier: { request in
                    request.url = URL(string: "\(request.url?.absoluteString ?? "")?first=1")
                    request.timeoutInterval = 7
                })
            #expect(await request.answered().request?.url?.query == "first=1&a=b")
            #expect(request.firstRequest?.timeoutInterval == 7)
            struct Value: Encodable, Sendable { let a = 1 }
            let encoded = stage.session.request(stage.url(), parameters: Value())
            #expect(await encoded.answered().request?.url?.query == "a=1")
            let none = stage.session.request(
                stage.url(), parameters: nil as Value?, headers: ["X-A": "b"])
            #expect(await none.answered().request?.url?.query == nil)
            #expect(none.request?.headers["X-A"] == "b")
        }
    }
}
