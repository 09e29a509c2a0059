// SPDX-License-Identifier: MIT

import Testing

/// Each feature with each server that has it, through `Session`. A failure names both.
@Suite struct MatrixTests {
    @Test("every feature of a server", .timeLimit(.minutes(10)), arguments: MatrixServer.all)
    func column(_ server: MatrixServer) async throws {
        try await server.run { stage in
            for feature in MatrixFeature.all where feature.needs.map(server.offers.contains) ?? true {
                do { try await feature.run(stage) } catch { Issue.record("\(feature.name) x \(server)") }
            }
        }
    }

    @Test("each feature is offered by some server, and each offer is asked for") func noEmptyRows() {
        let offered = Set(MatrixServer.all.flatMap(\.offers))
        #expect(offered == Set(MatrixFeature.all.compactMap(\.needs)))
    }
}
