// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

/// How much a peer may have a loop's thread compute.
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
    func aChainIsSoLongAndNoLonger(_ intermediates: Int, _ expected: String) throws {
        let chain = try ChainMaker.chain(intermediates: intermediates)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
        #expect(trust.chain().count <= TrustPath.intermediateLimit + 2)
    }

    /// Each name is compared with each constraint of each issuer.
    @Test(arguments: [(1, 0, "accepted"), (100, 100, "accepted"), (600, 300, "nameNotPermitted 0")])
    func namesAreComparedSoOftenAndNoMore(_ names: Int, _ constraints: Int, _ expected: String) throws {
        let chain = try ChainMaker.chain(intermediates: 1, names: names, constraints: constraints)
        let trust = Self.trust(chain, root: chain.last)
        #expect(verdict(TrustEvaluator.default.evaluate(trust, at: TrustFixture.now)) == expected)
    }

    /// Each try of another way costs a signature for each certificate of it.
    @Test(arguments: [3, 90]) func tryingOtherWaysHasAnEnd(_ intermediates: Int) throws {
        let chain = try ChainMaker.chain(intermediates: intermediates)
        let path = TrustPath(of: Self.trust(chain, root: nil), at: TrustFixture.now)
        #expect(!path.isAnchored)
        #expect(path.work <= TrustPath.workLimit + TrustPath.intermediateLimit + 2)
    }
}
