// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Exchanges whose verifier is asked about the connections that are opened for them.
@Suite struct PeerVerifierTests {
    /// Records the questions that it receives, and replies as it was created to, at once or when a test uses `held`.
    final class RecordingVerifier: PeerVerifier {
        struct Log: Sendable {
            var trusts: [PeerTrust] = []
            var requests: [TLSIdentityRequest] = []
            var hosts: [String] = []
        }

        let log = Box(Log())
        let wasAsked = Gate()
        private let verdict: PeerVerdict?
        private let answer: IdentityAnswer?
        /// The profile that the connection belongs to after the verdict; nil leaves it with its former one.
        private let newProfile: TLSProfile?
        let held = Box<(@Sendable (PeerVerdict) -> Void)?>(nil)

        /// Creates a verifier; without a verdict, it keeps the reply in `held`.
        init(
            _ verdict: PeerVerdict?, _ answer: IdentityAnswer? = .nobody, newProfile: TLSProfile? = nil
        ) {
            self.newProfile = newProfile
            self.verdict = verdict
            self.answer = answer
        }

        func acceptsByDefault(host: String, port: UInt16) -> Bool { false }

        func judge(
            _ peer: PeerTrust, host: String, port: UInt16, under profile: TLSProfile,
            reply: @escaping @Sendable (PeerVerdict, TLSProfile?) -> Void
        ) {
            log.update { log in
                log.trusts.append(peer)
                log.hosts.append(host)
            }
            if let verdict {
                reply(verdict, newProfile)
            } else {
                held.update { [newProfile] in $0 = { reply($0, newProfile) } }
            }
            wasAsked.open()
        }

        func identify(
            for request: TLSIdentityRequest, host: String, port: UInt16, under profile: TLSProfile,
            reply: @escaping @Sendable (IdentityAnswer, TLSProfile?) -> Void
        ) {
            log.update { $0.requests.append(request) }
            if let answer { Task { reply(answer, nil) } }
        }
    }

    private static func profile(_ questions: PeerQuestions = .trust) -> TLSProfile {
        TLSProfile(
            TLSConfiguration(roots: SecureStage.roots), trust: .default, questions: questions)
    }

    private static func options(_ verifier: RecordingVerifier) -> ExchangeOptions {
        ExchangeOptions(verifier: verifier)
    }

    /// Returns the configuration of an origin that answers once and closes, so that each request needs a new connection.
    private static func closing(
        _ name: String = "good", _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
    ) throws -> OriginConfiguration {
        try SecureStage.serving(
            [name], ScriptPlan(.expectHead, .reply("ok", "Connection: close\r\n"), .close), change)
    }

    private static func send(
        _ stage: SecurePool, _ verifier: RecordingVerifier?, host: String = "good.test", profile: TLSProfile
    ) async throws -> RecordingSink {
        let pair = try stage.exchange(
            "/get", host: host, profile: profile, options: ExchangeOptions(verifier: verifier))
        stage.pool.submit(pair.exchange)
        await pair.sink.ended.wait()
        return pair.sink
    }

    /// I-12.15: this includes connections that resume a session, which are judged by the chain kept with the session.
    @Test(
        "[I-12.15] every new connection asks the verifier of its exchange",
        arguments: [TLSVersion.v1_2, .v1_3])
    func everyNewConnectionAsksTheVerifierOfItsExchange(_ version: TLSVersion) async throws {
        try await withSecurePool(Self.closing { $0.maximumVersion = version }) { stage in
            let profile = Self.profile()
            for _ in 0..<4 {
                let verifier = RecordingVerifier(.byDefault)
                let sink = try await Self.send(stage, verifier, profile: profile)
                #expect(sink.failure == nil)
                let log = verifier.log.value
                #expect(log.hosts == ["good.test"] && log.trusts.map(\.certificates.count) == [2])
            }
            #expect(stage.origin.counts.handshakesResumed == 3)
            // A session that was accepted before can still be refused.
            let sink = try await Self.send(
                stage, RecordingVerifier(.refused(.refused("no"))), profile: profile)
            #expect(sink.failure != nil)
        }
    }

    @Test("[U-9.17] an established connection is lent without a question")
    func anEstablishedConnectionIsLentWithoutAQuestion() async throws {
        try await withSecurePool { stage in
            let profile = Self.profile()
            let (first, second) = (RecordingVerifier(.accepted), RecordingVerifier(.refused(.refused("no"))))
            _ = try await Self.send(stage, first, profile: profile)
            let sink = try await Self.send(stage, second, profile: profile)
            #expect(sink.failure == nil && stage.pool.connectionsOpened == 1)
            #expect(first.log.value.trusts.count == 1 && second.log.value.trusts.isEmpty)
        }
    }

    /// The reply names the profile that the connection belongs to: it is lent under that profile, and its tickets are offered
    /// there.
    @Test("[U-9.17] a connection belongs to the profile that the reply names", arguments: [true, false])
    func aConnectionBelongsToTheProfileThatTheReplyNames(_ keepsAlive: Bool) async throws {
        try await withSecurePool(keepsAlive ? SecureStage.serving() : Self.closing()) { stage in
            let (ownProfile, newProfile) = (Self.profile(), Self.profile())
            let first = RecordingVerifier(.accepted, newProfile: newProfile)
            #expect(try await Self.send(stage, first, profile: ownProfile).failure == nil)
            // Under the first profile, neither the connection nor its tickets are used.
            let second = RecordingVerifier(.accepted)
            let sink = try await Self.send(stage, second, profile: ownProfile)
            #expect(second.log.value.trusts.count == 1 && stage.origin.counts.handshakesResumed == 0)
            #expect(sink.metrics?.tls?.profile == ownProfile)
            let third = RecordingVerifier(.accepted)
            #expect(
                try await Self.send(stage, third, profile: newProfile).metrics?.tls?.profile == newProfile)
            #expect(third.log.value.trusts.count == (keepsAlive ? 0 : 1))
            #expect(stage.pool.connectionsOpened == (keepsAlive ? 2 : 3))
            #expect(stage.origin.counts.handshakesResumed == (keepsAlive ? 0 : 1))
        }
    }

    @Test("[I-12.14] a verdict is final, whether it accepts or refuses", arguments: [TLSVersion.v1_2, .v1_3])
    func theVerdictIsFinal(_ version: TLSVersion) async throws {
        try await withSecurePool(Self.closing("expired") { $0.maximumVersion = version }) { stage in
            let sink = try await Self.send(stage, RecordingVerifier(.accepted), profile: Self.profile())
            #expect(sink.failure == nil)
            let refused = try await Self.send(stage, RecordingVerifier(.byDefault), profile: Self.profile())
            guard case .tls("good.test", _, .untrusted(.expired)) = refused.failure else {
                Issue.record("\(String(describing: refused.failure))")
                return
            }
        }
        try await withSecurePool(Self.closing { $0.maximumVersion = version }) { stage in
            let sink = try await Self.send(
                stage, RecordingVerifier(.refused(.refused("no"))), profile: Self.profile())
            guard case .tls(_, _, .untrusted(.refused("no"))) = sink.failure else {
                Issue.record("\(String(describing: sink.failure))")
                return
            }
            #expect(stage.origin.counts.requests == 0)
        }
    }

    @Test func theRefusalHandlerIsToldOfARefusedPeer() async throws {
        let refusals = Box<[String]>([])
        let profile = TLSProfile(
            TLSConfiguration(roots: SecureStage.roots), trust: .default,
            refusalHandler: { peer, failure, host, _ in
                refusals.update { $0.append("\(host) \(peer.certificates.count) \(failure == .noPins)") }
            })
        try await withSecurePool(Self.closing("expired")) { stage in
            _ = try await Self.send(stage, nil, profile: profile)
            #expect(refusals.value == ["good.test 2 false"])
        }
    }

    @Test func eachExchangeHasItsOwnVerdict() async throws {
        try await withSecurePool(Self.closing()) { stage in
            let profile = Self.profile()
            let verifiers = [
                RecordingVerifier(.cancelled), RecordingVerifier(.accepted),
                RecordingVerifier(.refused(.refused("no"))), RecordingVerifier(.byDefault),
            ]
            let sinks = try verifiers.map { verifier in
                let pair = try stage.exchange("/get", profile: profile, options: Self.options(verifier))
                stage.pool.submit(pair.exchange)
                return pair.sink
            }
            for sink in sinks { await sink.ended.wait() }
            #expect(sinks[0].failure == .cancelled)
            #expect(sinks[1].failure == nil && sinks[3].failure == nil)
            guard case .tls(_, _, .untrusted(.refused("no"))) = sinks[2].failure else {
                Issue.record("\(String(describing: sinks[2].failure))")
                return
            }
            for verifier in verifiers { #expect(verifier.log.value.trusts.count == 1) }
        }
    }

    @Test func aCancelledExchangeEndsItsConnection() async throws {
        try await withSecurePool { stage in
            let verifier = RecordingVerifier(nil)
            let pair = try stage.exchange(profile: Self.profile(), options: Self.options(verifier))
            stage.pool.submit(pair.exchange)
            await verifier.wasAsked.wait()
            pair.exchange.cancel(.cancelled)
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == .cancelled && stage.pool.openCount == 0)
            verifier.held.value?(.accepted)
            verifier.held.update { $0 = nil }
            await stage.settle()
            #expect(pair.sink.log.value.ends == 1 && stage.origin.counts.requests == 0)
        }
    }

    /// Cancellations, refusals and answers in random order: each exchange ends once, and no connection is left.
    @Test(arguments: 1...4)
    func everyExchangeEndsOnce(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        try await withSecurePool(Self.closing()) { stage in
            let profile = Self.profile()
            var sinks: [RecordingSink] = []
            for _ in 0..<60 {
                let verdicts: [PeerVerdict?] = [
                    .accepted, .byDefault, .cancelled, .refused(.refused("no")), nil,
                ]
                let verdict = verdicts.randomElement(using: &random) ?? nil
                let verifier = RecordingVerifier(verdict)
                let pair = try stage.exchange("/get", profile: profile, options: Self.options(verifier))
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
                switch (verdict, Int.random(in: 0..<4, using: &random)) {
                case (_, 0): pair.exchange.cancel()
                case (_, 1): Task { pair.exchange.cancel() }
                case (nil, _):
                    // Waits until the verifier has been asked, and is then answered or cancelled.
                    let accepts = Bool.random(using: &random)
                    Task {
                        await verifier.wasAsked.wait()
                        if accepts { verifier.held.value?(.accepted) } else { pair.exchange.cancel() }
                        verifier.held.update { $0 = nil }
                    }
                case (_?, _): break
                }
            }
            for sink in sinks { await sink.ended.wait() }
            await stage.settle()
            #expect(sinks.allSatisfy { $0.log.value.ends == 1 })
        }
    }

    /// The dial has ended, and its question is still unanswered: only the reply is kept.
    @Test func aMissingReplyDoesNotRetainTheVerifier() async throws {
        try await withSecurePool { stage in
            weak var weakVerifier: RecordingVerifier?
            try await {
                let verifier = RecordingVerifier(nil)
                weakVerifier = verifier
                let pair = try stage.exchange(profile: Self.profile(), options: Self.options(verifier))
                stage.pool.submit(pair.exchange)
                await verifier.wasAsked.wait()
                pair.exchange.cancel()
                await pair.sink.ended.wait()
            }()
            for _ in 0..<1000 where weakVerifier != nil { await stage.settle() }
            #expect(weakVerifier == nil)
        }
    }

    @Test func aReleasedReplyCountsAsARefusal() async throws {
        try await withSecurePool { stage in
            let verifier = RecordingVerifier(nil)
            let pair = try stage.exchange(profile: Self.profile(), options: Self.options(verifier))
            stage.pool.submit(pair.exchange)
            await verifier.wasAsked.wait()
            verifier.held.update { $0 = nil }
            await pair.sink.ended.wait()
            guard case .tls(_, _, .untrusted(.refused)) = pair.sink.failure else {
                Issue.record("\(String(describing: pair.sink.failure))")
                return
            }
        }
    }

    /// The handshake time-out stops while a verdict is awaited.
    @Test("[U-14.3] the wait for a verdict is not timed")
    func theWaitForAVerdictIsNotTimed() async throws {
        let clock = ManualClock()
        let setTimeouts = { (dial: inout DialConfiguration) in
            dial.timeout = .milliseconds(50)
            dial.tlsHandshakeTimeout = .milliseconds(100)
        }
        try await withSecurePool(dial: setTimeouts, clock: clock) { stage in
            let verifier = RecordingVerifier(nil)
            let pair = try stage.exchange("/get", profile: Self.profile(), options: Self.options(verifier))
            stage.pool.submit(pair.exchange)
            await verifier.wasAsked.wait()
            clock.advance(by: .seconds(3600))
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            verifier.held.value?(.accepted)
            verifier.held.update { $0 = nil }
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil)
        }
    }

    // MARK: the client's identity

    private static func requestingIdentity(_ version: TLSVersion) throws -> OriginConfiguration {
        let roots = try Certificate.pem(PKI.bytes("client-root.pem"))
        return try closing { tls in
            tls.clientCertificates = .requested(roots: roots)
            tls.maximumVersion = version
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func theVerifierChoosesTheIdentity(_ version: TLSVersion) async throws {
        let identity = try SecureStage.identity("client-rsa")
        let issuer = try SecureStage.certificate("client-root").subject.der
        try await withSecurePool(Self.requestingIdentity(version)) { stage in
            let profile = Self.profile(.trustAndIdentity)
            let answers: [(IdentityAnswer, [Certificate])] = [
                (.identity(identity), [identity.certificate]), (.nobody, []),
            ]
            for (index, (answer, shown)) in answers.enumerated() {
                let verifier = RecordingVerifier(.byDefault, answer)
                let sink = try await Self.send(stage, verifier, profile: profile)
                #expect(sink.failure == nil)
                #expect(verifier.log.value.requests.map(\.acceptableIssuers) == [[issuer]])
                let handshake = try #require(await stage.origin.handshake(on: index))
                #expect(Array(handshake.clientCertificates.prefix(1)) == shown)
            }
            let cancelled = try await Self.send(
                stage, RecordingVerifier(.byDefault, .cancelled), profile: profile)
            #expect(cancelled.failure == .cancelled)
            // Under a profile that asks about trust alone, no identity is asked for.
            let trustOnlyVerifier = RecordingVerifier(.byDefault)
            #expect(try await Self.send(stage, trustOnlyVerifier, profile: Self.profile()).failure == nil)
            #expect(trustOnlyVerifier.log.value.requests.isEmpty)
        }
    }
}
