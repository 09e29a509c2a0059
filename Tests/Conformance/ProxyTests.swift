// SPDX-License-Identifier: MIT

import Testing

/// The same requests through widely used proxies.
@Suite struct ProxyTests {
    @Test(.timeLimit(.minutes(10)), arguments: Way.all)
    func everyRequestComesThrough(_ way: Way) async throws {
        try await Conversation.on(way) { talk in
            var failures: [String] = []
            for row in RequestCase.all {
                do { try await row.run(talk) } catch { failures.append("\(row.name): \(error)") }
            }
            guard failures.isEmpty else {
                throw RowFailure("\(way.name):\n" + failures.joined(separator: "\n"))
            }
        }
    }
}
