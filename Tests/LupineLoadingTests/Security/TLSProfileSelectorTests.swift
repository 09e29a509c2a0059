// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of which challenges there are for which connections, and of the effects of the answers.
@Suite struct TLSProfileSelectorTests {
    private static func makeSelector(_ identity: SecIdentity? = nil) throws -> TLSProfileSelector {
        TLSProfileSelector(try TrustStage.configuration(identity))
    }

    // MARK: a server's trust

    struct Row: Sendable, CustomTestStringConvertible {
        enum Credential: Sendable { case trust, password }
        enum End: Sendable { case success, untrusted, cancelled }

        let disposition: URLSession.AuthChallengeDisposition
        var credential: Credential?
        var good = End.success
        var expired = End.untrusted

        var testDescription: String { "\(disposition), \(credential.map { "\($0)" } ?? "none")" }
    }

    static let rows: [Row] = [
        Row(disposition: .useCredential, credential: .trust, expired: .success),
        Row(disposition: .useCredential),
        Row(disposition: .useCredential, credential: .password),
        Row(disposition: .performDefaultHandling),
        Row(disposition: .performDefaultHandling, credential: .trust),
        Row(disposition: .cancelAuthenticationChallenge, good: .cancelled, expired: .cancelled),
        Row(disposition: .rejectProtectionSpace, good: .untrusted),
    ]

    /// Checks the table of dispositions; I-12.14: the answer is final either way.
    @Test(
        "[U-11.18, U-11.19, I-12.14] each disposition has its result, whatever the chain is", arguments: rows,
        TestedHTTP.allCases)
    func dispositions(_ row: Row, over testedHTTP: TestedHTTP) async throws {
        for (leaf, expected) in [("good", row.good), ("expired", row.expired)] {
            try await TrustStage.run(leaf, over: testedHTTP) { stage in
                let selector = try stage.makeSelector()
                let delegate = RecordingChallenger { challenge in
                    let credential = row.credential.flatMap { kind in
                        switch kind {
                        case .trust: challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) }
                        case .password: URLCredential(user: "u", password: "p", persistence: .none)
                        }
                    }
                    return (row.disposition, credential)
                }
                let trust = selector.verifier(asking: delegate)
                let error = try await stage.send(selector, trust, host: "localhost")
                switch (expected, error) {
                case (.success, nil), (.cancelled, .cancelled): break
                case (.untrusted, .tls("localhost", stage.origin.port, .untrusted)?):
                    // U-11.19: the same trust object that the delegate was asked about.
                    let info = selector.userInfo(for: try #require(error), of: trust)
                    let asked = delegate.challenges.withLock { $0.first?.protectionSpace.serverTrust }
                    #expect(info[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust == asked)
                    #expect(
                        URLError(.serverCertificateUntrusted, userInfo: info).failureURLPeerTrust == asked)
                default: Issue.record("\(leaf): \(String(describing: error))")
                }
                #expect(delegate.count == 1)
            }
        }
    }

    /// U-11.18, I-12.12.
    @Test(
        "[U-11.18, I-12.12] the server trust challenge, after the connection is closed",
        arguments: TestedHTTP.allCases)
    func theChallengeForAServersTrust(over testedHTTP: TestedHTTP) async throws {
        let challenge = Lock<URLAuthenticationChallenge?>(nil)
        try await TrustStage.run(over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
            #expect(try await stage.send(selector, selector.verifier(asking: delegate)) == nil)
            let asked = try #require(delegate.challenges.withLock { $0.first })
            #expect(asked.protectionSpace.port == Int(stage.origin.port))
            challenge.withLock { $0 = asked }
        }
        // The connection, the pool and the origin are gone.
        let asked = try #require(challenge.withLock { $0 })
        let space = asked.protectionSpace
        #expect(asked.previousFailureCount == 0 && asked.proposedCredential == nil)
        #expect(
            space.host == "good.test" && space.protocol == NSURLProtectionSpaceHTTPS && space.realm == nil)
        #expect(space.authenticationMethod == NSURLAuthenticationMethodServerTrust)
        let trust = try #require(space.serverTrust)
        #expect(SecurityFixture.code(trust) == errSecSuccess)
        #expect(SecurityFixture.result(trust) == .unspecified)
        #expect(SecurityFixture.chain(trust) == ["good", "intermediate", "root"])
        #expect(trust.settings.policies == [SecPolicyCreateSSL(true, "good.test")])
    }

    @Test(
        "a task that has ended gets no challenges, and is not retained",
        arguments: TestedHTTP.allCases)
    func withoutItsTaskAConnectionIsGivenUp(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run(over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            weak var gone: RecordingChallenger?
            let trust: TaskPeerVerifier
            do {
                let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
                gone = delegate
                trust = selector.verifier(asking: delegate)
            }
            #expect(gone != nil)
            trust.end()
            #expect(gone == nil)
            #expect(try await stage.send(selector, trust) == .cancelled)
        }
    }

    /// I-12.15 and U-11.18: each new connection is challenged, even one that resumes a session; U-9.17: an open one is not.
    @Test(
        "[I-12.15, U-9.17] each new connection is challenged, also a resumed one; a reused connection is not",
        arguments: TestedHTTP.allCases)
    func everyNewConnectionAsks(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run(over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            for _ in 0..<3 {
                let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
                #expect(try await stage.send(selector, selector.verifier(asking: delegate)) == nil)
                let trust = delegate.challenges.withLock { $0.first?.protectionSpace.serverTrust }
                #expect(trust.map(SecTrustGetCertificateCount) == 3)
            }
            #expect(stage.origin.counts.handshakesResumed == 2)
        }
        try await TrustStage.run(keepsAlive: true, over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let delegates = (0..<3).map { _ in RecordingChallenger { _ in (.performDefaultHandling, nil) } }
            for delegate in delegates {
                #expect(try await stage.send(selector, selector.verifier(asking: delegate)) == nil)
            }
            #expect(delegates.map(\.count) == [1, 0, 0] && stage.pool.connectionsOpened == 1)
        }
    }

    @Test(arguments: TestedHTTP.allCases)
    func withoutADelegateTLSSessionsAreResumed(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run(over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            for _ in 0..<4 { #expect(try await stage.send(selector) == nil) }
            #expect(stage.origin.counts.handshakesResumed == 3)
        }
    }

    /// U-11.19, without a delegate.
    @Test(
        "[U-11.19] the error has the refused trust without a delegate",
        arguments: TestedHTTP.allCases)
    func theRefusedTrustIsThereWithoutADelegate(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run("expired", over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let error = try #require(try await stage.send(selector, host: "localhost"))
            guard case .tls(_, _, .untrusted(.expired)) = error else {
                Issue.record("\(error)")
                return
            }
            let info = selector.userInfo(for: error, of: nil)
            let trust = try #require(info[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust)
            #expect(SecurityFixture.code(trust) == errSecCertificateExpired)
            #expect(selector.userInfo(for: .cancelled, of: nil).isEmpty)
        }
    }

    @Test(arguments: TestedHTTP.allCases)
    func aConnectionThatADelegateAcceptedIsNotUsedForOthers(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run("expired", keepsAlive: true, over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let delegate = RecordingChallenger { challenge in
                (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
            }
            #expect(try await stage.send(selector, selector.verifier(asking: delegate)) == nil)
            #expect(try await stage.send(selector) != nil)
        }
    }

    // MARK: a client's identity

    /// U-11.20: only if the server requests a certificate, with the issuers that it names.
    @Test(
        "[U-11.20] the client certificate challenge",
        arguments: TestedHTTP.allCases)
    func theChallengeForAClientsCertificate(over testedHTTP: TestedHTTP) async throws {
        let identity = try TrustStage.identity("client-rsa")
        let rsa = try SecurityFixture.certificate("client-rsa").certificate
        let issuer = try SecurityFixture.certificate("client-root").certificate.subject
        for requestsIdentity in [true, false] {
            try await TrustStage.run(asksForIdentity: requestsIdentity, over: testedHTTP) { stage in
                let selector = try stage.makeSelector()
                let delegate = RecordingChallenger(showing: identity)
                #expect(try await stage.send(selector, selector.verifier(asking: delegate)) == nil)
                let spaces = delegate.challenges.withLock { $0.map(\.protectionSpace) }
                #expect(spaces.count == (requestsIdentity ? 2 : 1))
                #expect(await stage.client(on: 0) == (requestsIdentity ? rsa : nil))
                guard requestsIdentity else { return }
                #expect(spaces[1].authenticationMethod == NSURLAuthenticationMethodClientCertificate)
                #expect(spaces[1].distinguishedNames == [Data(issuer.der)])
                #expect(spaces[1].host == "good.test" && spaces[1].serverTrust == nil)
            }
        }
    }

    @Test(
        arguments: [
            URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling,
            .rejectProtectionSpace,
            .cancelAuthenticationChallenge,
        ], TestedHTTP.allCases)
    func withoutACredentialNobodyIsShown(
        _ disposition: URLSession.AuthChallengeDisposition, over testedHTTP: TestedHTTP
    ) async throws {
        try await TrustStage.run(asksForIdentity: true, over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let delegate = RecordingChallenger { challenge in
                (challenge.protectionSpace.serverTrust == nil ? disposition : .performDefaultHandling, nil)
            }
            let error = try await stage.send(selector, selector.verifier(asking: delegate))
            let isCancelled = disposition == .cancelAuthenticationChallenge
            #expect(error == (isCancelled ? .cancelled : nil))
            if !isCancelled { #expect(await stage.client(on: 0) == nil) }
        }
    }

    /// U-11.20: an identity that a task has chosen is used on all its connections, which no task with another choice shares.
    @Test(
        "[U-11.20] a chosen identity is not used for a task that chose another",
        arguments: TestedHTTP.allCases)
    func aChosenIdentityIsNotShared(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run(keepsAlive: true, asksForIdentity: true, over: testedHTTP) { stage in
            let selector = try stage.makeSelector()
            let (rsa, ecdsa) = (
                try TrustStage.identity("client-rsa"), try TrustStage.identity("client-ecdsa")
            )
            let first = RecordingChallenger(showing: rsa)
            let firstTrust = selector.verifier(asking: first)
            #expect(try await stage.send(selector, firstTrust) == nil)
            #expect(
                firstTrust.identityChoice(host: "good.test", port: stage.origin.port)
                    == .identity(rsa.identity))
            // The next exchange has a connection of that identity and one challenge, about trust; then that connection is reused.
            for _ in 0..<2 { #expect(try await stage.send(selector, firstTrust) == nil) }
            #expect(stage.pool.connectionsOpened == 2 && first.count == 3)
            // Another task, which has chosen another identity for the same host, never uses the first one's connections.
            let second = RecordingChallenger(showing: ecdsa)
            let secondTrust = selector.verifier(asking: second)
            #expect(try await stage.send(selector, secondTrust, mayIdentify: false) == nil)
            #expect(try await stage.send(selector, secondTrust) == nil)
            let shown = [rsa, rsa, ecdsa, ecdsa].map(\.identity.certificate)
            for (index, certificate) in shown.enumerated() {
                #expect(await stage.client(on: index) == certificate, "\(index)")
            }
        }
    }

    /// U-10.5: after a redirect to another origin, neither the configured identity is used nor a connection on which it was
    /// presented.
    @Test(
        "[U-10.5] after a redirect to another origin the configured identity is not presented",
        arguments: TestedHTTP.allCases)
    func behindARedirectElsewhereTheConfiguredIdentityIsNotShown(over testedHTTP: TestedHTTP) async throws {
        try await TrustStage.run(keepsAlive: true, asksForIdentity: true, over: testedHTTP) { stage in
            let identity = try TrustStage.identity("client-rsa")
            let selector = try stage.makeSelector(identity)
            #expect(try await stage.send(selector) == nil)
            #expect(try await stage.send(selector, mayIdentify: false) == nil)
            #expect(await stage.client(on: 0) == identity.identity.certificate)
            #expect(await stage.client(on: 1) == nil)
            let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
            let trust = selector.verifier(asking: delegate)
            #expect(try await stage.send(selector, trust, mayIdentify: false) == nil)
            #expect(await stage.client(on: 2) == nil)
        }
    }

    @Test func theEngineOfASessionTakesItsProfilesFromTheSelector() throws {
        let engine = SessionEngine(
            SessionSettingsTests.settings { $0.connectionProxyDictionary = [:] })
        let url = try #require(URL(string: "https://GOOD.test/"))
        let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
        let trust = engine.tlsProfiles.verifier(asking: delegate)
        let asked = try engine.route(for: url, isWebSocket: false, verifier: trust).origin
        #expect(asked.tls == engine.tlsProfiles.profile(host: "good.test", port: 443, for: trust))
        let unasked = try engine.route(for: url, isWebSocket: false).origin
        #expect(unasked.tls == engine.tlsProfiles.profile(host: "good.test", port: 443, for: nil))
        #expect(asked != unasked)
        let plain = try #require(URL(string: "http://good.test/"))
        #expect(try engine.route(for: plain, isWebSocket: false, verifier: trust).origin.tls == nil)
    }

    @Test func profilesAreSharedWherePossible() throws {
        let selector = try Self.makeSelector()
        let delegate = RecordingChallenger { _ in (.performDefaultHandling, nil) }
        let trusts = (0..<2).map { _ in selector.verifier(asking: delegate) }
        func profile(_ trust: TaskPeerVerifier?, _ mayIdentify: Bool = true) -> TLSProfile {
            selector.profile(host: "good.test", port: 443, for: trust, mayIdentify: mayIdentify)
        }
        #expect(profile(nil) == profile(nil, false), "there is no identity to leave out")
        #expect(profile(trusts[0]) == profile(trusts[1]) && profile(trusts[0]) != profile(nil))
        #expect(profile(trusts[0], false) != profile(trusts[0]))
    }
}
