// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Roots are read once, and only for evaluators that need them.
@Suite struct RootsReadingTests {
    private static let missing = TrustRoots(includesSystem: false, files: ["/nonexistent/roots.pem"])

    /// Returns the numbers of times that the profile's root files were read and parsed.
    private static func usage(_ profile: TLSProfile) throws -> [Int] {
        let usage = try #require(profile.settings.context(withRoots: false)).store.statistics
        return [usage.filesRead, usage.certificatesParsed]
    }

    private static func status(_ sink: RecordingSink) -> Int? {
        sink.log.value.head.map { Int($0.status.code) }
    }

    @Test func aDisabledEvaluatorReadsNoRoots() async throws {
        try await withSecurePool { stage in
            let profile = SecurePool.profile(trust: .disabled)
            let sink = try await stage.send(profile: profile)
            #expect(Self.status(sink) == 200)
            #expect(try Self.usage(profile) == [0, 0])
        }
    }

    @Test func anEvaluatorWithAnchorsReadsNoRoots() async throws {
        let root = try SecureStage.certificate("root")
        try await withSecurePool { stage in
            let profile = SecurePool.profile(trust: .pinnedCertificates([root], acceptsSelfSigned: true))
            let sink = try await stage.send(profile: profile)
            #expect(Self.status(sink) == 200)
            #expect(try Self.usage(profile) == [0, 0])
        }
    }

    @Test func sharedRootsAreReadOnce() async throws {
        try await withSecurePool { stage in
            let unchecked = SecurePool.profile(trust: .disabled)
            let settings = unchecked.settings
            _ = try await stage.send(profile: unchecked)
            #expect(try Self.usage(unchecked) == [0, 0])
            for trust in [TrustEvaluator.default, .system(checksHost: false), .default] {
                let profile = TLSProfile(
                    settings, trust: trust, revocation: .none, identitySource: nil)
                let sink = try await stage.send(profile: profile)
                #expect(Self.status(sink) == 200)
                #expect(try Self.usage(profile) == [1, 1])
            }
        }
    }

    /// A verifier may decide without the roots; if it leaves the decision to the evaluator, a worker reads them then.
    @Test func rootsAreReadOnlyIfTheVerifierNeedsThem() async throws {
        try await withSecurePool { stage in
            let rows: [(PeerVerdict, usage: [Int])] = [
                (.accepted, [0, 0]), (.acceptedUnchecked, [0, 0]), (.byDefault, [1, 1]),
            ]
            for row in rows {
                let profile = TLSProfile(
                    TLSConfiguration(roots: SecureStage.roots), trust: .default, questions: .trust)
                var options = ExchangeOptions()
                options.verifier = PeerVerifierTests.RecordingVerifier(row.0)
                let pair = try stage.exchange("/get", profile: profile, options: options)
                stage.pool.submit(pair.exchange)
                await pair.sink.ended.wait()
                #expect(Self.status(pair.sink) == 200)
                #expect(try Self.usage(profile) == row.usage)
            }
        }
    }

    @Test func missingRootsFailOnlyEvaluatorsThatNeedThem() async throws {
        let served = try SecureStage.serving()
        try await withSecureStack(
            served,
            settings: .with {
                $0.tls.roots = Self.missing
                $0.trust = .disabled
            }
        ) { client, origin in
            let url = SecureStage.url(origin, "/get")
            let response = try await client.get(url)
            #expect(response.status.code == 200)
            let error = await failure { () throws(TransportError) in
                try await client.send(HTTPRequest(url: url, trust: .default))
            }
            guard case .tls("good.test", _, .configuration(.roots(let text))) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(text.contains("/nonexistent/roots.pem") && text.contains("error 2"))
            #expect(origin.counts.connectionsAccepted == 1, "another connection was opened")
        }
    }

    @Test func missingRootsAreAConfigurationError() async throws {
        try await withSecurePool { stage in
            let profile = TLSProfile(
                TLSConfiguration(roots: Self.missing), trust: .default, questions: .trust)
            var options = ExchangeOptions()
            options.verifier = PeerVerifierTests.RecordingVerifier(.byDefault)
            let pair = try stage.exchange("/get", profile: profile, options: options)
            stage.pool.submit(pair.exchange)
            await pair.sink.ended.wait()
            guard case .tls("good.test", _, .configuration(.roots)) = pair.sink.failure else {
                Issue.record("\(String(describing: pair.sink.failure))")
                return
            }
        }
    }
}
