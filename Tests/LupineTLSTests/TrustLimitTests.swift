// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of the limits of the computation that a peer's chain can cause on an event loop's thread.
@Suite struct TrustLimitTests {
    private static func trust(_ chain: [Certificate], root: Certificate?) -> PeerTrust {
        PeerTrust(
            certificates: chain, stapledResponse: nil, host: "0.test",
            store: TrustStore(anchors: root.map { [$0] } ?? []))
    }

    @Test(arguments: [
        (0, "accepted"), (TrustPath.intermediateLimit, "accepted"),
        (TrustPath.intermediateLimit + 1, "invalidChain 11 22"),
        (90, "invalidChain 11 22"),
    ])
    func chainsAreLimited(_ intermediates: Int, _ expected: String) throws {
        let chain = try ChainMaker.chain(intermediates: intermediates)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
        #expect(trust.chain().count <= TrustPath.intermediateLimit + 2)
    }

    /// Checks the limit of comparisons: each name is compared with each constraint of each issuer.
    @Test(arguments: [(1, 0, "accepted"), (100, 100, "accepted"), (600, 300, "nameNotPermitted 0")])
    func nameComparisonsAreLimited(_ names: Int, _ constraints: Int, _ expected: String) throws {
        let chain = try ChainMaker.chain(intermediates: 1, names: names, constraints: constraints)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
    }

    /// Checks that UTF-8 mailboxes count for more: a constraint is decoded again for each of them.
    @Test(arguments: [(4, 40, "accepted"), (30, 40, "nameNotPermitted 0")])
    func mailboxesCountMore(_ mailboxes: Int, _ constraints: Int, _ expected: String) throws {
        let chain = try ChainMaker.chain(intermediates: 1, mailboxes: mailboxes, constraints: constraints)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
    }

    /// Checks that no signature is verified with a key that is slow by design; each verification would take 5 ms and more.
    @Test func noSignatureIsVerifiedWithASlowKey() throws {
        let slow = try PrivateKey(pem: Self.longExponent, password: nil)
        let chain = try ChainMaker.chain(intermediates: 2, key: slow)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == "invalidChain 0 76")
        #expect(trust.chain().count == 1 && TrustPath(of: trust, at: TrustFixture.now).totalCost == 1)
        // A root that the program trusts may have any key.
        let short = try ChainMaker.chain(intermediates: 0, key: slow)
        let trusted = Self.trust([short[0]], root: short[1])
        #expect(verdict(TrustEvaluator.default.evaluate(trusted, at: TrustFixture.now)) == "accepted")
    }

    /// Checks that an OCSP response is not verified with such a key either, even if the issuer has certified it.
    @Test func noAnswerIsCheckedWithAKeyThatIsMadeToBeSlow() throws {
        let certificate = try TrustFixture.certificate("good-ocsp")
        let issuer = try TrustFixture.certificate("intermediate")
        let begin = TrustFixture.answersBegin
        func outcome(_ key: PrivateKey) throws -> String {
            let answer = try OCSPResponseMaker.good(
                certificate, from: begin, until: UnixTime(seconds: 4_102_444_799), by: key)
            return summary { () throws(RevocationProblem) in
                try OCSPResponse(answer, about: certificate, issuer: issuer, at: TrustFixture.now).status
            }
        }
        #expect(try outcome(PrivateKey(pem: PKI.text("root.key"), password: nil)) == "good")
        #expect(try outcome(PrivateKey(pem: Self.longExponent, password: nil)) == "badSignature")
    }

    /// An RSA key of 2048 bits whose exponent has 65: `openssl genpkey -algorithm RSA -pkeyopt
    /// rsa_keygen_pubexp:36893488147419103363`.
    private static let longExponent = """
        -----BEGIN PRIVATE KEY-----
        MIIEwwIBADANBgkqhkiG9w0BAQEFAASCBK0wggSpAgEAAoIBAQCgaVGw2B9SAzxw
        MnuTBYAj8XDTcqdU5ZAdsabxXwRKFDWRxFMMmtcmSYwfOq+tJnG9T2QuibFdm2mi
        lvL/tQtb6htUtQfpvfwQYCBzB1ULDLeh1p2VLrr8vU7grOQRXybHiufG/PBBzhk7
        fIPiYIJ/3j/Naj3HzPvt5zlApNBhE3Zi1JSVfKAbmIH/qICxxKmMvgxtuWOt/ei1
        vjVIveTwkE86SRuYI59qPcrSD8SPeIekaO9RVfpGzwHsec/CschQGijfearlVmWI
        zXG/hFtQkoaylX1LdyRpp2UhCOdoKFO6bril16ILCJe2/tTuxE1tP+QDpFGES1Rj
        wPzJqzpbAgkCAAAAAAAAAIMCggEABHQ9aq+I52/9TkSSVZniu6Syv6VLXpE6/D0o
        Ndm+sGscKhw24MQ8jebcHh9ADPkHqPl8Oa/8br9FeApLZjkCVavp9md3qwB7KdBL
        595O1kEwJGtajoRACzJVBR1/AUwCK5fy9ruyTjRztc3h4AAdcvrDi8lx6mB2NmF5
        yMz39ERSaSmhz5rSoqREY/mfP8vFpRqDxRIRvTEZuKFvH0c1LB0IEWWmx0ne3+Ky
        0ptwbvOzQyIXcgSUcmJIg9wudcyQPkqEztRkHdk2om6LwdCb2BF7FNxJzxiqoYpd
        px+M0qMphS9gp7ssR7CIU1y9kAjcC1euZW6CbOitHRS2Rk0TLwKBgQDbQxmiVQ4V
        tmIQmUTe1kXFtZVmk8UxpTrm/+6DNUpOKkVpxUgiVJSRq1hX1ANHcgz9PI8dJA8z
        tFPOAVDjq0XdeN3q757qsFaBYvUnHNyC1oMJIQ+L6Yb8z63cM6cC4knPu9t8WYvI
        UUcBTDb2EK79fNY5YRz6hmci5CGhCyOJVwKBgQC7SelQbQ1eMErvlUhpgIYCCnuf
        PQrMAEuisNh/R8z87FkSU1Xo1tUYxL+tit/OcR/xZ6wc3ncKqD434F56vlS3hPu0
        qZuFQ29W3Nh41qWcB3MX1OJ9N6UUSIbXXPgX0fXdLv9DIunWQhbRPgAoxZtw6/In
        uTJvnynzae5WRiAAnQKBgQDaz6SYVSPNP+N2z/95hKOW+ZU+pmQ1qhglUrcbtLZs
        34p56i6T8/N4YfUCjxc9ub9hppymwUndXJUkytKGlCEEBBZ7YR9sFu5v1Xdl6V/o
        QUp2U2sdSFjRtdNJ2uBYKVr0jzHlJORgmK/n1INhfQuxXimrx68r1sexLUOrgD/X
        dwKBgGIAV6tfg7Yl4yVWE0WTv649W8sbMXvpUxeYLEP6y1mP/HqUQcJoPSm8VLXB
        taI8NJIbALsIlFIZnc528qPvqko2F5z3dXM+2dIRLC4TKCZoED3XEv78doehz3KK
        VS/9mW+08kLMGbr0+wFmx5+zrfeZd572So49q/LtzRQtvIUvAoGASJhR8yImuUHk
        1hHa0AyTTAQFvEQ0crGpp5g/NbqOosux/+1ifxPep29pjYImrEUk45NTKOD9u56Q
        W6W0SFp4Cv+NPvv8sxByoDJbqyQEGv+QgdUCBhSFvGcmk5N9Lsz+fR8AEhViJeVm
        fxR0yPFcjqo9N4X6saA7a6hV8iXT3nU=
        -----END PRIVATE KEY-----
        """

    /// Checks that the search for other paths is bounded: each path costs one verification for each of its certificates.
    @Test(arguments: [3, 90]) func theSearchForOtherPathsIsLimited(_ intermediates: Int) throws {
        let chain = try ChainMaker.chain(intermediates: intermediates)
        let path = TrustPath(of: Self.trust(chain, root: nil), at: TrustFixture.now)
        #expect(!path.isAnchored)
        #expect(path.totalCost <= TrustPath.costLimit + TrustPath.intermediateLimit + 2)
    }
}
