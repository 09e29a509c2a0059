// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import Testing

@testable import LupineChaos

/// A whole round: it passes with the chaos origin, and fails with one that answers wrongly.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ChaosRoundTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    @Test(
        "a short round breaks no invariant",
        arguments: [
            (UInt64(1), false, ChaosVersion.http1), (2, true, .http1), (3, true, .http1), (4, false, .http2),
            (5, true, .http2), (6, true, .http2),
        ])
    func holds(_ seed: UInt64, _ isSecure: Bool, _ version: ChaosVersion) async throws {
        try await withFolder { folder async throws in
            let origin = try ChaosOrigin()
            let round = ChaosRound(
                seed: seed, requests: 150, secure: isSecure, over: version, doors: origin.doors,
                folder: folder)
            let (tally, violations) = try await round.run(since: nil)
            #expect(violations.isEmpty, "\(violations.prefix(10))")
            #expect(tally.requests == 150 && tally.whole > 75 && tally.retries > 30)
            #expect(tally.table.contains("none"))
            #expect(round.hanging(longerThan: .zero) == nil)
            await origin.shutdown()
        }
    }

    @Test("an origin that answers everybody with the same body is found out")
    func confusion() async throws {
        try await withFolder { folder async throws in
            let origin = try LupineOrigin.Origin.start()
            let same = Array("1/3: the same for everybody".utf8)
            for path in ["/served", "/chaos"] {
                origin.route(
                    nil, path,
                    .collected { _ throws(Refusal) in
                        try OriginResponse(200, "application/octet-stream", same)
                    })
            }
            var doors = ChaosDoors()
            for door in ChaosDoor.allCases {
                for isSecure in [false, true] { doors[door, secure: isSecure] = origin.port }
            }
            let round = ChaosRound(seed: 1, requests: 50, secure: false, doors: doors, folder: folder)
            let (_, violations) = try await round.run(since: nil)
            #expect(violations.contains { $0.contains("wrong body") })
            #expect(violations.contains { $0.contains("ended well") })
            await origin.shutdown()
        }
    }
}
