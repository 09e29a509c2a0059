// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// When a silent peer is probed, and when it is given up.
@Suite struct LivenessProbeTests {
    /// Returns an instant, in seconds since an arbitrary moment.
    private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    @Test(
        "[H-12.8] a peer that was heard within fifteen seconds is not asked",
        arguments: [(0, nil), (14.9, nil), (15, 20), (15.1, 20.1), (1_000, 1_005)] as [(Double, Double?)])
    func asked(_ now: Double, _ look: Double?) {
        var probe = LivenessProbe()
        #expect(probe.exchangeBegins(at: Self.at(now), lastReceived: Self.at(0)) == look.map(Self.at))
    }

    @Test("[H-12.8] it is asked once at a time") func once() {
        var probe = LivenessProbe()
        #expect(probe.exchangeBegins(at: Self.at(20), lastReceived: Self.at(0)) != nil)
        #expect(probe.exchangeBegins(at: Self.at(21), lastReceived: Self.at(0)) == nil)
        #expect(probe.check(at: Self.at(25), lastReceived: Self.at(21), acknowledged: 1) == .alive)
        #expect(probe.exchangeBegins(at: Self.at(30), lastReceived: Self.at(21)) == nil)
        #expect(probe.exchangeBegins(at: Self.at(36), lastReceived: Self.at(21)) == Self.at(41))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The findings of each look: when something was last received, and how much the peer's kernel has acknowledged.
        let looks: [(lastReceived: Double, acknowledged: UInt64?)]
        let verdict: LivenessProbe.Verdict
    }

    @Test(
        "[H-12.9] what a look finds, five seconds after the one before",
        arguments: [
            Row(testDescription: "an octet came", looks: [(100, 7)], verdict: .alive),
            Row(testDescription: "an octet came later", looks: [(0, 7), (106, 7)], verdict: .alive),
            Row(testDescription: "nothing yet", looks: [(0, 7)], verdict: .doubtful(checkAgain: at(110))),
            Row(testDescription: "nothing for ten seconds", looks: [(0, 7), (0, 7)], verdict: .gone),
            Row(
                testDescription: "nothing, where the kernel says nothing", looks: [(0, nil), (0, nil)],
                verdict: .gone),
            Row(
                testDescription: "its kernel still takes what was sent", looks: [(0, 7), (0, 8), (0, 9)],
                verdict: .doubtful(checkAgain: at(120))),
            Row(
                testDescription: "its kernel took something, and then no more",
                looks: [(0, 7), (0, 8), (0, 8)], verdict: .gone),
        ])
    func found(_ row: Row) {
        var probe = LivenessProbe()
        _ = probe.exchangeBegins(at: Self.at(100), lastReceived: Self.at(0))
        var verdict = LivenessProbe.Verdict.alive
        for (index, look) in row.looks.enumerated() {
            verdict = probe.check(
                at: Self.at(105 + 5 * Double(index)), lastReceived: Self.at(look.lastReceived),
                acknowledged: look.acknowledged)
        }
        #expect(verdict == row.verdict)
    }

    @Test func whereNobodyAskedAllIsWell() {
        var probe = LivenessProbe()
        #expect(probe.check(at: Self.at(100), lastReceived: Self.at(0), acknowledged: nil) == .alive)
    }
}
