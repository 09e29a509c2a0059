// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import LupineTransport
import Testing

@testable import Lupine

/// The trace context that each attempt of a request sends.
@Suite(.timeLimit(.minutes(10))) struct TraceContextInterceptorTests {
    private static let plain = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// Returns the contexts that the origin received, one per request.
    private func contexts(
        _ interceptor: any RequestInterceptor, path: String = "/get", headers: HTTPHeaders = [:],
        _ count: Int = 1, check: (Request) -> Void = { _ in }
    ) async throws -> [TraceContext] {
        let observer = RecordingObserver()
        try await PolicyStage.run { stage in
            try await stage.withSession(
                interceptor: interceptor, configure: { $0.lupine.transferObservers = [observer] }
            ) { session in
                let request = session.request(stage.url(path), headers: headers).validate()
                _ = await request.serializingData().response
                check(request)
            }
            await observer.waitForEnds(count)
        }
        #expect(observer.starts.count == count && observer.violations.isEmpty)
        let name = try FieldName("traceparent")
        let state = try FieldName("tracestate")
        return try observer.starts.map { _, start in
            try TraceContext(traceparent: try #require(start.fields[name]), tracestate: start.fields[state])
        }
    }

    @Test("[I-16.4] a request starts a trace whose ID has the digits of the request's id")
    func begins() async throws {
        var id = ""
        let contexts = try await contexts(TraceContextInterceptor()) { request in
            id = request.id.uuidString.replacing("-", with: "").lowercased()
        }
        #expect(contexts.map(\.traceID) == [id] && contexts[0].isSampled && contexts[0].tracestate == nil)
        let silent = try await self.contexts(TraceContextInterceptor(isSampled: false))
        #expect(!silent[0].isSampled)
    }

    @Test("[I-16.4] each attempt is another span of the same trace, in a separate transfer")
    func attempts() async throws {
        let interceptor = Interceptor(
            retriers: [RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0)], interceptors: [.traceContext])
        let contexts = try await contexts(interceptor, path: "/status/503", 3)
        #expect(Set(contexts.map(\.traceID)).count == 1 && Set(contexts.map(\.spanID)).count == 3)
    }

    @Test(
        "[I-16.4] the request's own traceparent precedes the parent closure, and redirects keep it"
    )
    func parents() async throws {
        let own = try TraceContext(traceparent: Self.plain, tracestate: "a=1")
        let given = TraceContext(isSampled: false)
        let interceptor = TraceContextInterceptor(parent: { _ in given })
        var headers = HTTPHeaders()
        headers.update(own)
        let redirected = try await contexts(interceptor, path: "/redirect/1", headers: headers, 2)
        #expect(redirected.map(\.traceID) == [own.traceID, own.traceID])
        #expect(redirected[0].spanID != own.spanID && redirected[0] == redirected[1])
        #expect(redirected[0].tracestate == "a=1" && redirected[0].isSampled)
        let child = try await contexts(interceptor)
        #expect(child[0].traceID == given.traceID && child[0].spanID != given.spanID && !child[0].isSampled)
        let broken = try await contexts(
            TraceContextInterceptor(), headers: ["traceparent": Self.plain.uppercased(), "tracestate": "a=1"])
        #expect(broken[0].traceID != own.traceID && broken[0].tracestate == nil)
    }

    @Test("[I-16.4, O-6] the parent closure may use the session", arguments: TestedHTTP.allCases)
    func callsBack(over testedHTTP: TestedHTTP) async throws {
        let callCount = Protected(0)
        try await PolicyStage.run(over: testedHTTP) { stage in
            let sessions = Protected<Session?>(nil)
            let interceptor = TraceContextInterceptor { request in
                callCount.write { $0 += 1 }
                let session = sessions.read { $0 }
                session?.withAllRequests { _ in }
                session?.cancelAllRequests()
                return request.url?.path() == "/get" ? TraceContext() : nil
            }
            try await stage.withSession(interceptor: interceptor) { session in
                sessions.write { $0 = session }
                let response = await session.request(stage.url()).serializingData().response
                #expect(response.error?.isExplicitlyCancelledError == true || response.error == nil)
                #expect(session.poolCounts().count <= 1)
                sessions.write { $0 = nil }
            }
        }
        #expect(callCount.read { $0 } == 1)
    }
}
