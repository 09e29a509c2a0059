// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineTestKit
import Testing

/// Sends the frames of a mostly correct peer to a machine of this library and to a session of nghttp2 in the same role. Both must
/// go on, or end the same streams or the connection with the same code, and must report the same events for what both accept.
/// Where they differ, `AllowedDifference` gives the reason; a run ends there, since the states of the two ends are different from
/// then on.
///
/// A failure names the seed, which determines the frames.
@Suite struct SessionDifferentialTests {
    private static let runs = 1_000 as UInt64
    private static let steps = 20

    @Test("[H-5.10] the same verdicts and events as nghttp2's", arguments: HTTP2Role.allCases)
    func sameVerdicts(_ role: HTTP2Role) throws {
        var used = 0
        var compared = 0
        for seed in 0..<Self.runs {
            var run = try Run(role, seed: seed)
            try run.talk(Self.steps)
            compared += run.compared
            if run.difference != nil { used += 1 }
        }
        // Most runs must end without a difference, or the frames would be too wrong to show anything.
        #expect(compared > Int(Self.runs) * 6)
        #expect(used < Int(Self.runs) / 2)
    }
}

extension SessionDifferentialTests {
    /// One connection.
    private struct Run {
        private let seed: UInt64
        private let role: HTTP2Role
        private var frames: RandomFrames
        private var ends: ComparedEnds
        private var failed: Set<StreamID> = []
        private var reset: Set<StreamID> = []
        private(set) var compared = 0
        /// The difference that has ended the run.
        private(set) var difference: AllowedDifference?

        init(_ role: HTTP2Role, seed: UInt64) throws {
            (self.seed, self.role) = (seed, role)
            frames = RandomFrames(role, seed: seed)
            ends = try ComparedEnds(role, consumes: seed % 2 == 0, opening: frames.opening)
        }

        mutating func talk(_ steps: Int) throws {
            for _ in 0..<steps where !ends.isOver {
                let step = frames.next()
                let (own, other) = try ends.take(step)
                compared += 1
                if case .reset(let stream) = step { reset.insert(stream) }
                failed.formUnion(own.streams.keys)
                failed.formUnion(other.streams.keys)
                let isSame =
                    own.outcome == other.outcome && (own.connection != nil || own.streams == other.streams)
                guard isSame else { return explain(step, own, other) }
                reset.formUnion(own.streams.keys)
                if own.connection != nil { break }
            }
            #expect(ends.differences(without: failed).isEmpty, "\(role), seed \(seed)")
        }

        private mutating func explain(_ step: RandomFrames.Step, _ own: Verdict, _ other: Verdict) {
            if case .receive(let frame) = step {
                difference = AllowedDifference.explaining(
                    Difference(
                        role: role, frame: frame, own: own.outcome, other: other.outcome, reason: ends.reason,
                        wasReset: reset.contains(StreamID(frame.stream))))
            }
            #expect(
                difference != nil,
                "\(role), seed \(seed): \(own) here (\(ends.reason)), \(other) there: \(step)")
        }
    }
}
