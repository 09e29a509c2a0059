// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Every limit applies to every function that delivers a body.
@Suite struct HostileLimitTests {
    private static let setUp = PipelineSetUp(configure: Limit.set)

    @Test(
        "[U-4.10, DR-11, V-1.2] every limit holds for every consumer", arguments: LimitConsumer.all,
        Limit.allCases)
    func holds(_ consumer: LimitConsumer, _ limit: Limit) async throws {
        for testedHTTP in TestedHTTP.allCases {
            try await withPipeline(Self.setUp, over: testedHTTP) { stage in
                try limit.serve(at: stage.origin)
                let error = await consumer.error(stage, limit.path)
                let expected = limit.code(whoCollects: consumer.collects)
                #expect(loadingError(in: error)?.code == expected, "\(String(describing: error))")
                guard limit.isOfCollecting, consumer.collects else { return }
                let text = loadingError(in: error)?.localizedDescription ?? ""
                for word in ["origin.test", "\(Limit.collected) bytes", "collectedBodyLimit", "stream"] {
                    #expect(text.contains(word), "\(text)")
                }
            }
        }
    }

    @Test(
        "[U-4.10] what announces a body that does not come is no body", arguments: ["HEAD", "304"],
        TestedHTTP.allCases)
    func noBody(_ kind: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp, over: testedHTTP) { stage in
            let status = kind == "304" ? "304 Not Modified" : "200 OK"
            stage.origin.answer(
                nil, "/none", ScriptPlan(.send("HTTP/1.1 \(status)\r\nContent-Length: 1001\r\n\r\n"), .close))
            let method = HTTPMethod(rawValue: kind == "HEAD" ? kind : "GET")
            let headers: HTTPHeaders = ["If-None-Match": "\"a\""]
            let response = await stage.session.request(stage.url("/none"), method: method, headers: headers)
                .answered()
            #expect(response.error == nil)
            var (session, request) = try stage.loading("/none")
            request.httpMethod = method.rawValue
            request.headers = headers
            let data = try await session.data(for: request).0
            #expect(data.isEmpty)
        }
    }

    @Test("[DR-11] each attempt may have as much", arguments: TestedHTTP.allCases)
    func attempts(over testedHTTP: TestedHTTP) async throws {
        var setUp = Self.setUp
        setUp.interceptor = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0)
        try await withPipeline(setUp, over: testedHTTP) { stage in
            let asked = Protected(0)
            stage.origin.route("GET", "/twice") { _ throws(Refusal) in
                let isFirst = asked.write { asked in
                    asked += 1
                    return asked == 1
                }
                return try OriginResponse(isFirst ? 503 : 200, "text/plain", Limit.text(Limit.collected))
            }
            let response = await stage.get("/twice").validate().answered()
            #expect(response.data?.count == Limit.collected && response.error == nil)
        }
    }

    @Test("[C-45] what nobody can iterate any more is not gathered", arguments: TestedHTTP.allCases)
    func dropped(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp, over: testedHTTP) { stage in
            try Limit.announced.serve(at: stage.origin)
            let request = stage.session.streamRequest(stage.url(Limit.announced.path))
            // Keeps data from arriving before the sequence is dropped, even if this thread is delayed.
            stage.session.rootQueue.suspend()
            _ = request.streamTask().streamingData(automaticallyCancelling: false)
            stage.session.rootQueue.resume()
            let error: (any Error)? = await called { answer in
                request.responseStream(on: stage.handlers) { stream in
                    if case .complete(let completion) = stream.event { answer(completion.error) }
                }
            }
            #expect(error == nil)
        }
    }

    @Test("each consumer has a name of its own")
    func names() {
        let names = LimitConsumer.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
    }
}
