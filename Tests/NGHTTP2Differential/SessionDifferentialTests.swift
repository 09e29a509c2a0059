// SPDX-License-Identifier: MIT

import LupineHTTP2
import LupineTestKit
import Testing

@Suite struct SessionDifferentialTests {
    @Test func histogram() throws {
        for role in HTTP2Role.allCases {
            var counts: [String: (Int, String)] = [:]
            for seed in 0..<4_000 as Range<UInt64> {
                var frames = RandomFrames(role, seed: seed)
                var ends = try ComparedEnds(role, consumes: seed % 2 == 0, opening: frames.opening)
                var failed: Set<StreamID> = []
                for _ in 0..<20 {
                    let step = frames.next()
                    let (own, other) = try ends.take(step)
                    failed.formUnion(own.streams.keys)
                    failed.formUnion(other.streams.keys)
                    var kind = "\(step)".prefix(5) == "open(" ? "open" : ""
                    if case .receive(let frame) = step { kind = "\(frame.type)" }
                    if own != other {
                        let key = "\(kind) | \(own) | \(other)"
                        counts[key, default: (0, "")].0 += 1
                        counts[key]?.1 = "seed \(seed) \(ends.reason) // \(step)"
                        break
                    }
                    counts["same \(own)", default: (0, "")].0 += 1
                    if own.connection != nil { break }
                }
                let differences = ends.differences(without: failed)
                if !differences.isEmpty { counts["events", default: (0, "")].0 += 1; counts["events"]?.1 = "seed \(seed) \(differences)" }
            }
            for (key, value) in counts.sorted(by: { $0.key < $1.key }) { print("HIST \(role) \(value.0) \(key)   // \(value.1.prefix(260))") }
        }
    }
}
