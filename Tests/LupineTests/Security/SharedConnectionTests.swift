// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

/// The evaluators of a session whose requests to two hosts could share one connection (RFC 9113 §9.1.1): the certificate is
/// valid for `good.test` and for `localhost`.
@Suite struct SharedConnectionTests {
    /// Records the hosts that it evaluates. Either accepts or refuses all of them.
    private final class RecordingEvaluator: ServerTrustEvaluating, Sendable {
        private let recordedHosts = Lock<[String]>([])
        private let accepts: Bool

        init(accepts: Bool) { self.accepts = accepts }

        var hosts: [String] { recordedHosts.withLock { $0 } }

        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            recordedHosts.withLock { $0.append(host) }
            if accepts { return try DefaultTrustEvaluator().evaluate(trust, forHost: host) }
            throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
        }
    }

    private func withStage(
        _ evaluators: [String: any ServerTrustEvaluating]?, delegate: SessionDelegate? = nil,
        _ body: (PipelineStage) async throws -> Void
    ) async throws {
        var setUp = PipelineSetUp()
        setUp.delegate = delegate
        setUp.leaf = "good"
        setUp.trust = evaluators.map {
            ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: $0)
        }
        try await withPipeline(setUp, over: .http2, body)
    }

    private func status(_ stage: PipelineStage, _ host: String) async -> Int? {
        await stage.session.request(stage.url(host: host)).answered().response?.statusCode
    }

    @Test("[H-12.13] hosts without an evaluator share a connection", arguments: [false, true])
    func withoutEvaluators(hasManager: Bool) async throws {
        try await withStage(hasManager ? ["pinned.test": RecordingEvaluator(accepts: false)] : nil) { stage in
            for host in ["good.test", "localhost", "localhost", "good.test"] {
                #expect(await status(stage, host) == 200)
            }
            #expect(stage.origin.counts.connectionsAccepted == 1)
        }
    }

    /// The evaluator is asked about a connection that was opened for its own host: another host's server may present another
    /// chain.
    @Test("[H-12.13] a host with an evaluator shares no connections", arguments: [false, true])
    func withAnEvaluator(accepts: Bool) async throws {
        let evaluator = RecordingEvaluator(accepts: accepts)
        try await withStage(["localhost": evaluator]) { stage in
            #expect(await status(stage, "good.test") == 200)
            let response = await stage.session.request(stage.url(host: "localhost")).answered()
            #expect(response.error?.isServerTrustEvaluationError == (accepts ? nil : true))
            #expect(evaluator.hosts == ["localhost"])
            #expect(await status(stage, "good.test") == 200)
            #expect(stage.origin.counts.requests == (accepts ? 3 : 2))
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("[H-12.13] a connection that the program's evaluator has accepted is not shared with other hosts")
    func acceptedOtherwise() async throws {
        try await withStage(["good.test": RecordingEvaluator(accepts: true)]) { stage in
            for host in ["good.test", "localhost"] { #expect(await status(stage, host) == 200) }
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }

    @Test("[H-12.13] with a subclass of the delegate, no host shares connections")
    func aDelegateOfTheProgram() async throws {
        try await withStage(nil, delegate: HostileCredentialTests.AnsweringDelegate()) { stage in
            for host in ["good.test", "localhost"] { #expect(await status(stage, host) == 200) }
            #expect(stage.origin.counts.connectionsAccepted == 2)
        }
    }
}
