// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The trust decisions of each kind of evaluator, none of which may affect another.
@Suite struct TrustSharingTests {
    @Test func aConnectionTrustedWithoutPinsIsNotUsedWithPins() async throws {
        let leaf = try SecureStage.certificate("good")
        let pins = TrustEvaluator.pinnedCertificates([leaf])
        try await withSecureStack { client, origin in
            let url = SecureStage.url(origin, "/get")
            for trust in [nil, pins, nil, pins, .pinnedCertificates([leaf])] {
                _ = try await client.send(HTTPRequest(url: url, trust: trust)).body.collect()
            }
            // Equal evaluators share connections, different ones never do.
            #expect(client.connectionsOpened == 2 && origin.counts.handshakesCompleted == 2)
            #expect(origin.counts.handshakesResumed == 0)
        }
    }

    @Test func aPinMismatchSendsNothing() async throws {
        let other = try SecureStage.certificate("ecdsa")
        try await withSecureStack { client, origin in
            let url = SecureStage.url(origin, "/get")
            _ = try await client.get(url).body.collect()
            let error = await failure { () throws(TransportError) in
                try await client.send(HTTPRequest(url: url, trust: .pinnedCertificates([other])))
            }
            guard case .tls("good.test", _, .untrusted(.certificateNotPinned)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            _ = await origin.handshake(on: 1)
            #expect(origin.received(on: 1).isEmpty && origin.counts.requests == 1)
        }
    }

    /// The client has an identity, and the server requests it: a server that is not trusted receives neither the identity nor a
    /// byte of the request.
    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func aRejectedServerReceivesNothing(_ version: TLSVersion) async throws {
        let identity = try SecureStage.identity("client-rsa")
        let roots = try Certificate.pem(PKI.bytes("client-root.pem"))
        let serving = try SecureStage.serving { tls in
            tls.clientCertificates = .requested(roots: roots)
            tls.maximumVersion = version
        }
        try await withSecureStack(serving, settings: .with { $0.tls.identity = identity }) { client, origin in
            let url = SecureStage.url(origin, host: "stranger.test", "/secret")
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            guard case .tls("stranger.test", origin.port, .untrusted(.hostMismatch)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                error?.description.hasPrefix("TLS: stranger.test:\(origin.port) presented a cert") == true)
            #expect(error?.description.hasSuffix("(host name does not match)") == true)
            let refused = try #require(await origin.handshake(on: 0))
            #expect(refused.info == nil && refused.clientCertificates.isEmpty)
            #expect(origin.received(on: 0).isEmpty)
            #expect(client.connectionsOpened == 0)

            let accepted = try await client.get(SecureStage.url(origin, "/get"))
            #expect(accepted.status.code == 200)
            let handshake = try #require(await origin.handshake(on: 1))
            #expect(handshake.clientCertificates.first == identity.certificate)
        }
    }

    @Test(arguments: ["expired", "self-signed", "no-san", "wrong-host"])
    func chainsThatAreNotTrusted(_ name: String) async throws {
        try await withSecureStack(SecureStage.serving([name])) { client, origin in
            let url = SecureStage.url(origin, host: "good.test")
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            guard case .tls(_, _, .untrusted) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            _ = await origin.handshake(on: 0)
            #expect(origin.received(on: 0).isEmpty)
        }
    }

    @Test func disabledAcceptsEveryServer() async throws {
        try await withSecureStack(SecureStage.serving(["expired"]), settings: .with { $0.trust = .disabled })
        {
            client, origin in
            let response = try await client.get(SecureStage.url(origin, host: "whoever.test", "/get"))
            #expect(response.status.code == 200)
        }
    }

    // MARK: custom evaluators

    enum ReplyTiming: CaseIterable, Sendable { case atOnce, later, twice }

    @Test(arguments: ReplyTiming.allCases, [true, false])
    func aClosureIsAsked(_ timing: ReplyTiming, _ accepts: Bool) async throws {
        let asked = Box(0)
        let verdict: Result<Void, TrustFailure> = accepts ? .success(()) : .failure(.refused("not today"))
        let evaluator = TrustEvaluator.custom { trust, reply in
            #expect(trust.host == "good.test" && trust.certificates.count > 1)
            asked.update { $0 += 1 }
            switch timing {
            case .atOnce: reply(verdict)
            case .later: Task { reply(verdict) }
            case .twice:
                reply(verdict)
                Task {
                    reply(.success(()))
                    reply(.failure(.refused("too late")))
                }
            }
        }
        try await withSecureStack(settings: .with { $0.trust = evaluator }) { client, origin in
            let url = SecureStage.url(origin, "/get")
            let error = await failure { () throws(TransportError) in
                try await client.get(url).body.collect()
            }
            let refusal = TransportError.tls(
                host: "good.test", port: origin.port, .untrusted(.refused("not today")))
            #expect(error == (accepts ? nil : refusal))
            #expect(asked.value == 1)
        }
    }

    @Test func aReleasedReplyCountsAsARefusal() async throws {
        try await withSecureStack(settings: .with { $0.trust = .custom { _, _ in } }) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            guard case .tls(_, _, .untrusted(.refused)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func aReplyAfterTheCancellationIsHarmless() async throws {
        let reply = Box<CustomTrustCheck.Reply?>(nil)
        let asked = Gate()
        let evaluator = TrustEvaluator.custom { _, answer in
            reply.update { $0 = answer }
            asked.open()
        }
        try await withSecurePool { stage in
            let pair = try stage.exchange(profile: SecurePool.profile(trust: evaluator))
            stage.pool.submit(pair.exchange)
            await asked.wait()
            pair.exchange.cancel(.cancelled)
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == .cancelled)
            reply.value?(.success(()))
            reply.value?(.failure(.refused("late")))
            reply.update { $0 = nil }
        }
    }

    @Test func theHandshakeTimeoutIncludesTheEvaluation() async throws {
        let reply = Box<CustomTrustCheck.Reply?>(nil)
        let evaluator = TrustEvaluator.custom { _, answer in reply.update { $0 = answer } }
        try await withSecureStack(
            settings: .with {
                $0.trust = evaluator
                $0.tlsHandshakeTimeout = .milliseconds(200)
            }
        ) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error?.isTimeOut(of: "good.test", .tlsHandshake) == true)
            reply.update { $0 = nil }
        }
    }

    /// An evaluator that may fetch runs on a worker, and its verdict counts like any other.
    @Test(arguments: [false, true]) func revocationIsCheckedOffTheLoop(_ needsAnswer: Bool) async throws {
        let options: RevocationOptions = needsAnswer ? [.any, .requirePositiveResponse] : .any
        try await withSecureStack(settings: .with { $0.trust = .revocation(options) }) { client, origin in
            let url = SecureStage.url(origin, "/get")
            let error = await failure { () throws(TransportError) in
                try await client.get(url).body.collect()
            }
            if needsAnswer {
                guard case .tls(_, _, .untrusted(.revocationUnknown)) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(origin.counts.requests == 0)
            } else {
                #expect(error == nil)
            }
        }
    }

    /// The list that the certificate names is fetched once, here through a proxy, and contains the certificate.
    @Test func aFetchedListRevokes() async throws {
        let list = try PKI.bytes("crl/intermediate.crl")
        let proxy = try OriginServer.start()
        let asked = Box(0)
        proxy.route("GET", "/intermediate.crl") { _ throws(Refusal) in
            asked.update { $0 += 1 }
            return try OriginResponse(200, "application/pkix-crl", list)
        }
        let url = proxy.url
        try await withSecureStack(
            SecureStage.serving(["revoked-crl"]),
            settings: .with {
                $0.trust = .revocation([.crl])
                $0.proxy = .url(url, except: "revoked-crl.test")
            }
        ) { client, origin in
            let url = SecureStage.url(origin, host: "revoked-crl.test")
            for _ in 0..<2 {
                let error = await failure { () throws(TransportError) in try await client.get(url) }
                guard case .tls(_, _, .untrusted(.revoked)) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(origin.counts.requests == 0)
        }
        #expect(asked.value == 1)
        await proxy.shutdown()
    }

    /// The hook for the layer above: the client's identity is asked for once the server is trusted.
    @Test(arguments: [true, false]) func anIdentityIsAskedFor(_ gives: Bool) async throws {
        let identity = try SecureStage.identity("client-rsa")
        let roots = try Certificate.pem(PKI.bytes("client-root.pem"))
        let asked = Box<[String]>([])
        let profile = SecurePool.profile(identitySource: { request, host, _, reply in
            asked.update { $0.append("\(host) \(request.acceptableIssuers.count)") }
            Task { reply(gives ? identity : nil) }
        })
        let serving = try SecureStage.serving { $0.clientCertificates = .requested(roots: roots) }
        try await withSecurePool(serving) { stage in
            let sink = try await stage.send(profile: profile)
            #expect(sink.failure == nil)
            #expect(asked.value == ["good.test 1"])
            let shown = await stage.origin.handshake(on: 0)?.clientCertificates.first
            #expect(shown == (gives ? identity.certificate : nil))
        }
    }

    /// A session carries the identity that it was created with: where a closure chooses the identity, each connection asks it.
    @Test func aChosenIdentityIsNotResumed() async throws {
        let identities = [try SecureStage.identity("client-rsa"), try SecureStage.identity("client-ecdsa")]
        let roots = try Certificate.pem(PKI.bytes("client-root.pem"))
        let asked = Box(0)
        let profile = SecurePool.profile(identitySource: { _, _, _, reply in
            asked.update { $0 += 1 }
            reply(identities[asked.value - 1])
        })
        let serving = try SecureStage.serving { $0.clientCertificates = .requested(roots: roots) }
        try await withSecurePool(serving) { stage in
            for number in 0..<2 {
                let sink = try await stage.send(fields: [(.connection, "close")], profile: profile)
                #expect(sink.failure == nil)
                let shown = await stage.origin.handshake(on: number)?.clientCertificates.first
                #expect(shown == identities[number].certificate)
            }
        }
        #expect(asked.value == 2)
    }

    /// The server sends only its leaf certificate.
    @Test func anIntermediateFromTheConfiguration() async throws {
        let identity = try TLSIdentity(
            certificate: SecureStage.certificate("good"), intermediates: [],
            privateKey: PrivateKey(pem: PKI.bytes("good.key")))
        var serving = OriginConfiguration()
        serving.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        let intermediate = try SecureStage.certificate("intermediate")
        try await withSecureStack(serving) { client, origin in
            let error = await failure { () async throws(TransportError) in
                try await client.get(SecureStage.url(origin))
            }
            guard case .tls(_, _, .untrusted(.issuerMissing)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        try await withSecureStack(serving, settings: .with { $0.tls.intermediates = [intermediate] }) {
            client, origin in
            let response = try await client.get(SecureStage.url(origin, "/get"))
            #expect(response.status.code == 200)
        }
    }
}
