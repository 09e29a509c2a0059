// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// Many requests at once to a server that fails three of ten, in every way that a script can produce: each succeeds in the end,
/// and none is sent more often than its policy allows.
@Suite struct RetryStormTests {
    /// The time-out of a request to a silent server, in seconds.
    private static let patience = 2.0

    /// Requests a number, with a short time-out while the server is about to fall silent.
    private static func ask(
        _ number: Int, of server: FlakyServer, _ stage: PolicyStage, _ session: Session
    ) async -> (text: String?, retries: Int) {
        let impatience = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            if server.isAboutToFail(number) { urlRequest.timeoutInterval = patience }
            completion(.success(urlRequest))
        }
        let isSilent = server.fate(of: number)?.way.frequency == .seldom
        let request = session.request(
            stage.url("/storm/\(number)"), interceptor: isSilent ? impatience : nil
        ).validate()
        return (await request.endedWithText().value, request.retryCount)
    }

    @Test(
        "10,000 requests, three in ten of which fail at first in various ways, all succeed",
        arguments: [20_26])
    func storm(_ seed: UInt64) async throws {
        let policy = RetryPolicy(
            retryLimit: 3, exponentialBackoffScale: 0.001,
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union(
                Failing.ways.compactMap(\.code)),
            timing: .init(jitter: 1))
        let count = 10_000
        let server = FlakyServer(
            requests: count, seed: seed, most: Int(policy.retryLimit), seldom: 24)
        try await PolicyStage.run { stage in
            server.serve(at: stage.origin)
            try await stage.withSession(
                interceptor: policy, configure: { $0.httpMaximumConnectionsPerHost = 64 }
            ) { session in
                let wrong = await withTaskGroup(of: [String].self) { group in
                    for worker in 0..<200 {
                        group.addTask {
                            var wrong: [String] = []
                            for number in stride(from: worker, to: count, by: 200) {
                                let (text, retries) = await Self.ask(number, of: server, stage, session)
                                let fate = server.fate(of: number)
                                let turns = fate?.turns ?? 0
                                // A request that the loading system sends again by itself is not a retry of the request. A
                                // short time-out may expire before the server has received anything.
                                let isExact = fate?.way.isReplayed != true && fate?.way.frequency != .seldom
                                if text != "\(number)" || isExact && retries != turns {
                                    wrong.append(
                                        "\(fate?.way.name ?? "none"): \(text ?? "nil"), \(retries)/\(turns)")
                                }
                            }
                            return wrong
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
                #expect(wrong.isEmpty)
            }
        }
        let counts = server.counts
        let failing = (0..<count).filter { server.fate(of: $0) != nil }
        #expect(failing.count == 3_000)
        #expect(Set(failing.compactMap { server.fate(of: $0)?.way.name }).count == Failing.ways.count)
        #expect(counts.allSatisfy { (1...Int(policy.retryLimit) + 1).contains($0) })
        #expect(counts.indices.allSatisfy { counts[$0] == (server.fate(of: $0)?.turns ?? 0) + 1 })
    }

    @Test(
        "a server that fails too often receives each request as often as the limit allows")
    func limit() async throws {
        let policy = RetryPolicy(
            retryLimit: 2, exponentialBackoffScale: 0.001,
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union(
                Failing.ways.compactMap(\.code)))
        for way in Failing.ways where way.frequency == .often {
            try await PolicyStage.run { stage in
                let asked = Protected(0)
                stage.origin.route("GET", "/failing", way.endpoint { asked.write { $0 += 1 } })
                // Each connection is new, so that the loading system does not send a request again by itself.
                try await stage.withSession(
                    interceptor: policy, configure: { $0.httpAdditionalHeaders = ["Connection": "close"] }
                ) { session in
                    let request = session.request(stage.url("/failing")).validate()
                    let end = await request.endedWithText()
                    #expect(request.retryCount == 2 && asked.read { $0 } == 3, "\(way.name)")
                    #expect(end.error?.responseCode != nil || way.code != nil, "\(way.name)")
                    #expect((end.error?.underlyingError as? URLError)?.code == way.code, "\(way.name)")
                }
            }
        }
    }

    @Test("by default all failures but those of decoding are retried")
    func byDefault() async throws {
        for way in Failing.ways where way.frequency == .often {
            try await PolicyStage.run { stage in
                let asked = Protected(0)
                stage.origin.route("GET", "/failing", way.endpoint { asked.write { $0 += 1 } })
                try await stage.withSession(
                    interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001),
                    configure: { $0.httpAdditionalHeaders = ["Connection": "close"] }
                ) { session in
                    _ = await session.request(stage.url("/failing")).validate().endedWithText()
                    #expect(asked.read { $0 } == (way.isRetriedByDefault ? 2 : 1), "\(way.name)")
                }
            }
        }
    }
}

extension Failing {
    /// Returns an endpoint that fails each time, and calls `isAsked`.
    fileprivate func endpoint(_ isAsked: @escaping @Sendable () -> Void) -> Endpoint {
        .chosen { [kind] _ throws(Refusal) in
            isAsked()
            return switch kind {
            case .status(let status): .respond(OriginResponse(status))
            case .script(let steps): .follow(Script(steps))
            }
        }
    }
}
