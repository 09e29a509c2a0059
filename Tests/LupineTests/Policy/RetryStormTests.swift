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
    private static let shortTimeout = 2.0

    /// Requests a number, with a short time-out while the server is about to fall silent.
    private static func sendRequest(
        _ number: Int, of server: FlakyServer, _ stage: PolicyStage, _ session: Session
    ) async -> (text: String?, retries: Int) {
        let timeoutAdapter = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            if server.isAboutToFail(number) { urlRequest.timeoutInterval = shortTimeout }
            completion(.success(urlRequest))
        }
        let isSilent = server.plannedFailure(of: number)?.mode.frequency == .rare
        let request = session.request(
            stage.url("/storm/\(number)"), interceptor: isSilent ? timeoutAdapter : nil
        ).validate()
        return (await request.awaitTextResponse().value, request.retryCount)
    }

    @Test(
        "10,000 requests, three in ten of which fail at first in various ways, all succeed",
        arguments: [20_26])
    func storm(_ seed: UInt64) async throws {
        let policy = RetryPolicy(
            retryLimit: 3, exponentialBackoffScale: 0.001,
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union(
                FailureMode.all.compactMap(\.code)),
            timing: .init(jitter: 1))
        let count = 10_000
        let server = FlakyServer(
            requests: count, seed: seed, maximumFailures: Int(policy.retryLimit), silentRequests: 24)
        try await PolicyStage.run { stage in
            server.serve(at: stage.origin)
            try await stage.withSession(
                interceptor: policy, configure: { $0.httpMaximumConnectionsPerHost = 64 }
            ) { session in
                let mismatches = await withTaskGroup(of: [String].self) { group in
                    for worker in 0..<200 {
                        group.addTask {
                            var mismatches: [String] = []
                            for number in stride(from: worker, to: count, by: 200) {
                                let (text, retries) = await Self.sendRequest(
                                    number, of: server, stage, session)
                                let failure = server.plannedFailure(of: number)
                                let failureCount = failure?.count ?? 0
                                // A request that the loading system sends again by itself is not a retry of the request. A
                                // short time-out may expire before the server has received anything.
                                let isExact =
                                    failure?.mode.isReplayed != true && failure?.mode.frequency != .rare
                                if text != "\(number)" || isExact && retries != failureCount {
                                    let mode = failure?.mode.name ?? "none"
                                    mismatches.append(
                                        "\(mode): \(text ?? "nil"), \(retries)/\(failureCount)")
                                }
                            }
                            return mismatches
                        }
                    }
                    return await group.reduce(into: []) { $0 += $1 }
                }
                #expect(mismatches.isEmpty)
            }
        }
        let counts = server.counts
        let failing = (0..<count).filter { server.plannedFailure(of: $0) != nil }
        #expect(failing.count == 3_000)
        #expect(
            Set(failing.compactMap { server.plannedFailure(of: $0)?.mode.name }).count
                == FailureMode.all.count)
        #expect(counts.allSatisfy { (1...Int(policy.retryLimit) + 1).contains($0) })
        #expect(counts.indices.allSatisfy { counts[$0] == (server.plannedFailure(of: $0)?.count ?? 0) + 1 })
    }

    @Test(
        "a server that fails too often receives each request as often as the limit allows")
    func limit() async throws {
        let policy = RetryPolicy(
            retryLimit: 2, exponentialBackoffScale: 0.001,
            retryableURLErrorCodes: RetryPolicy.defaultRetryableURLErrorCodes.union(
                FailureMode.all.compactMap(\.code)))
        for mode in FailureMode.all where mode.frequency == .common {
            try await PolicyStage.run { stage in
                let arrivals = Protected(0)
                stage.origin.route("GET", "/failing", mode.endpoint { arrivals.write { $0 += 1 } })
                // Each connection is new, so that the loading system does not send a request again by itself.
                try await stage.withSession(
                    interceptor: policy, configure: { $0.httpAdditionalHeaders = ["Connection": "close"] }
                ) { session in
                    let request = session.request(stage.url("/failing")).validate()
                    let response = await request.awaitTextResponse()
                    #expect(request.retryCount == 2 && arrivals.read { $0 } == 3, "\(mode.name)")
                    #expect(response.error?.responseCode != nil || mode.code != nil, "\(mode.name)")
                    #expect((response.error?.underlyingError as? URLError)?.code == mode.code, "\(mode.name)")
                }
            }
        }
    }

    @Test("by default all failures but those of decoding are retried")
    func byDefault() async throws {
        for mode in FailureMode.all where mode.frequency == .common {
            try await PolicyStage.run { stage in
                let arrivals = Protected(0)
                stage.origin.route("GET", "/failing", mode.endpoint { arrivals.write { $0 += 1 } })
                try await stage.withSession(
                    interceptor: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001),
                    configure: { $0.httpAdditionalHeaders = ["Connection": "close"] }
                ) { session in
                    _ = await session.request(stage.url("/failing")).validate().awaitTextResponse()
                    #expect(arrivals.read { $0 } == (mode.isRetriedByDefault ? 2 : 1), "\(mode.name)")
                }
            }
        }
    }
}

extension FailureMode {
    /// Returns an endpoint that fails each time, and calls `onRequest`.
    fileprivate func endpoint(_ onRequest: @escaping @Sendable () -> Void) -> Endpoint {
        .chosen { [kind] _ throws(Refusal) in
            onRequest()
            return switch kind {
            case .status(let status): .respond(OriginResponse(status))
            case .script(let steps): .follow(Script(steps))
            }
        }
    }
}
