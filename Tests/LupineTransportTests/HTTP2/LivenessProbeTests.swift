// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// The times at which a silent peer is probed, and at which its connection is given up.
@Suite struct LivenessProbeTests {
    /// Returns an instant, in seconds since an arbitrary moment.
    private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test(
        "[H-12.8] a peer that sent something within fifteen seconds is not probed",
        arguments: [(0, nil), (14.9, nil), (15, 20), (15.1, 20.1), (1_000, 1_005)] as [(Double, Double?)])
    func probed(_ now: Double, _ check: Double?) {
        var probe = LivenessProbe()
        #expect(probe.exchangeBegins(at: Self.at(now), lastReceived: Self.at(0)) == check.map(Self.at))
    }

    @Test("[H-12.8] there is one probe at a time") func once() {
        var probe = LivenessProbe()
        #expect(probe.exchangeBegins(at: Self.at(20), lastReceived: Self.at(0)) != nil)
        #expect(probe.exchangeBegins(at: Self.at(21), lastReceived: Self.at(0)) == nil)
        #expect(probe.check(at: Self.at(25), lastReceived: Self.at(21), acknowledged: 1) == .alive)
        #expect(probe.exchangeBegins(at: Self.at(30), lastReceived: Self.at(21)) == nil)
        #expect(probe.exchangeBegins(at: Self.at(36), lastReceived: Self.at(21)) == Self.at(41))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The findings of each check: when something was last received, and how much the peer's kernel has acknowledged.
        let checks: [(lastReceived: Double, acknowledged: UInt64?)]
        let verdict: LivenessProbe.Verdict
    }

    @Test(
        "[H-12.9] the verdicts of checks at intervals of five seconds",
        arguments: [
            Row(testDescription: "an octet arrived", checks: [(100, 7)], verdict: .alive),
            Row(testDescription: "an octet arrived later", checks: [(0, 7), (106, 7)], verdict: .alive),
            Row(testDescription: "nothing yet", checks: [(0, 7)], verdict: .doubtful(checkAgain: at(110))),
            Row(testDescription: "nothing for ten seconds", checks: [(0, 7), (0, 7)], verdict: .gone),
            Row(
                testDescription: "nothing, without information from the kernel",
                checks: [(0, nil), (0, nil)],
                verdict: .gone),
            Row(
                testDescription: "the peer's kernel still acknowledges octets",
                checks: [(0, 7), (0, 8), (0, 9)],
                verdict: .doubtful(checkAgain: at(120))),
            Row(
                testDescription: "the peer's kernel acknowledged octets, and then no more",
                checks: [(0, 7), (0, 8), (0, 8)], verdict: .gone),
        ])
    func verdict(_ row: Row) {
        var probe = LivenessProbe()
        _ = probe.exchangeBegins(at: Self.at(100), lastReceived: Self.at(0))
        var verdict = LivenessProbe.Verdict.alive
        for (index, check) in row.checks.enumerated() {
            verdict = probe.check(
                at: Self.at(105 + 5 * Double(index)), lastReceived: Self.at(check.lastReceived),
                acknowledged: check.acknowledged)
        }
        #expect(verdict == row.verdict)
    }

    @Test func withoutAProbeThePeerIsAlive() {
        var probe = LivenessProbe()
        #expect(probe.check(at: Self.at(100), lastReceived: Self.at(0), acknowledged: nil) == .alive)
    }
}
