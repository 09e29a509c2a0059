// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Revocation responses in a trust, threads, and the trust of a connection's peer.
@Suite struct SecTrustRevocationTests {
    private typealias Fixture = SecurityFixture

    private static func trust(
        _ leaf: String, _ flags: CFOptionFlags, _ fetcher: FileFetcher?
    ) throws -> SecTrust {
        let trust = SecTrust(
            certificates: try Fixture.certificates("\(leaf)-chain"),
            policies: [try #require(SecPolicyCreateRevocation(flags))],
            context: SecTrust.Context(revocation: RevocationSupport(fetcher: fetcher)))
        #expect(SecTrustSetAnchorCertificates(trust, [try Fixture.certificate("root")]) == errSecSuccess)
        #expect(SecTrustSetVerifyDate(trust, Fixture.answersBegin) == errSecSuccess)
        return trust
    }

    /// I-12.9: a revocation has precedence, and a missing response is the least severe error.
    @Test("[I-12.9] a revocation is reported first, a missing response last")
    func revokedAndUnknown() throws {
        let fetcher = FileFetcher(["ocsp": "ocsp/revoked.der"])
        let revoked = try Self.trust("revoked-ocsp", kSecRevocationUseAnyAvailableMethod, fetcher)
        #expect(Fixture.code(revoked) == errSecCertificateRevoked)
        #expect(Fixture.result(revoked) == .fatalTrustFailure)
        #expect(fetcher.requestedURLs.withLock { $0.count } == 1)
        let hard = kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse
        let unknown = try Self.trust("revoked-ocsp", hard, FileFetcher([:]))
        #expect(Fixture.code(unknown) == errSecIncompleteCertRevocationCheck)
        let soft = try Self.trust("revoked-ocsp", kSecRevocationOCSPMethod, FileFetcher([:]))
        #expect(Fixture.code(soft) == errSecSuccess)
    }

    @Test func nothingIsFetchedWhereThatIsForbidden() throws {
        let fetcher = FileFetcher(["ocsp": "ocsp/revoked.der"])
        let trust = try Self.trust("revoked-ocsp", kSecRevocationOCSPMethod, fetcher)
        #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(fetcher.requestedURLs.withLock { $0.isEmpty })
        #expect(SecTrustSetNetworkFetchAllowed(trust, true) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecCertificateRevoked)
    }

    @Test func responsesThatWereSetAreUsed() throws {
        let trust = try Self.trust("revoked-ocsp", kSecRevocationOCSPMethod, nil)
        let revoked = Data(try PKI.bytes("ocsp/revoked.der"))
        let other = Data(try PKI.bytes("ocsp/good.der"))
        #expect(SecTrustSetOCSPResponse(trust, revoked) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecCertificateRevoked)
        #expect(SecTrustSetOCSPResponse(trust, [other, revoked]) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecCertificateRevoked)
        #expect(SecTrustSetOCSPResponse(trust, nil) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
    }

    /// Checks that fetching happens on another thread, even if the queue is the main one, and that the callback is on the queue.
    @Test func theAsynchronousEvaluationAnswersOnItsQueue() async throws {
        let fetcher = FileFetcher(["ocsp": "ocsp/revoked.der"])
        let trust = try Self.trust("revoked-ocsp", kSecRevocationOCSPMethod, fetcher)
        let queue = DispatchQueue(label: "answers")
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 7)
        let answer = await withCheckedContinuation { continuation in
            let status = SecTrustEvaluateAsyncWithError(trust, queue) { judged, isTrusted, error in
                #expect(judged == trust && !isTrusted)
                let isOnQueue = DispatchQueue.getSpecific(key: key) == 7
                continuation.resume(returning: (isOnQueue, (error as NSError?)?.code))
            }
            #expect(status == errSecSuccess)
        }
        #expect(answer.0 && answer.1 == Int(errSecCertificateRevoked))
    }

    /// Checks that an event loop's thread never waits for the network, even if the program evaluates a trust on it.
    @Test func nothingIsFetchedOnALoop() async throws {
        let fetcher = FileFetcher(["ocsp": "ocsp/revoked.der"])
        let trust = try Self.trust("revoked-ocsp", kSecRevocationOCSPMethod, fetcher)
        let group = try EventLoopGroup(count: 1, name: "judge")
        let code = await withCheckedContinuation { continuation in
            _ = group.loops[0].execute { continuation.resume(returning: Fixture.code(trust)) }
        }
        await group.shutdown()
        #expect(code == errSecSuccess && fetcher.requestedURLs.withLock { $0.isEmpty })
    }

    /// I-12.12: the certificates that the peer presented and the response it stapled, under the server policy for its host.
    @Test("[I-12.12] the trust of a peer is prepared")
    func theTrustOfAPeerIsPrepared() throws {
        let chain = try Certificate.pem(PKI.text("revoked-ocsp-chain.pem"))
        let root = try Certificate.pem(PKI.text("root.pem"))
        let peer = PeerTrust(
            certificates: chain, stapledResponse: try PKI.bytes("ocsp/revoked.der"), host: "localhost",
            store: TrustStore(anchors: root))
        let trust = SecTrust(peer, revocation: .none)
        #expect(SecTrustSetVerifyDate(trust, Fixture.answersBegin) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecCertificateRevoked, "the staple counts")
        #expect(SecTrustSetOCSPResponse(trust, nil) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
        #expect(Fixture.result(trust) == .unspecified, "the session's roots are not the program's anchors")
        var policies: CFArray?
        #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
        #expect(policies as? [SecPolicy] == [SecPolicyCreateSSL(true, "localhost")])
        let other = SecTrust(
            PeerTrust(
                certificates: chain, stapledResponse: nil, host: "evil.test",
                store: TrustStore(anchors: root)), revocation: .none)
        #expect(Fixture.code(other) == errSecHostNameMismatch)
    }

    /// Calls every function from many threads at once: each evaluation uses a state that the trust had at some time.
    @Test func manyThreadsShareOneTrust() throws {
        let trust = try Fixture.trust("good", SecPolicyCreateSSL(true, "good.test"))
        let root = try Fixture.certificate("root")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<40 {
                switch (thread + round) % 8 {
                case 0:
                    let host = round.isMultiple(of: 2) ? "good.test" : "evil.test"
                    #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host)) == errSecSuccess)
                case 1:
                    #expect(SecTrustSetAnchorCertificates(trust, round.isMultiple(of: 3) ? [] : [root]) == 0)
                case 2: #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
                case 3: #expect(SecTrustSetVerifyDate(trust, Fixture.now) == errSecSuccess)
                case 4: #expect((2...3).contains(SecTrustGetCertificateCount(trust)))
                case 5: #expect(SecTrustCopyKey(trust) != nil)
                case 6: #expect(SecTrustGetCertificateAtIndex(trust, 0) != nil)
                case _:
                    let known = [errSecSuccess, errSecHostNameMismatch, errSecCreateChainFailed]
                    #expect(known.contains(Fixture.code(trust)))
                }
            }
        }
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "good.test")) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificates(trust, [root]) == errSecSuccess)
        #expect(Fixture.code(trust) == errSecSuccess)
    }
}
