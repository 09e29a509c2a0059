// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTestKit
import Testing

/// The effects of a client on its process, tested in processes that run nothing else: see `ClientScenarios`.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ClientProcessTests {
    @Test func peersThatResetRaiseNoSignal() async throws { try await expectSuccess("clientResets") }

    @Test func theExitWaitsForNoRequest() async throws { try await expectSuccess("clientExit") }

    @Test func cancelledRequestsLeaveNoDescriptorAndNoThread() async throws {
        try await expectSuccess("clientLeaks")
    }

    @Test func withoutDescriptorsIdleConnectionsMakeRoom() async throws {
        try await expectSuccess("clientDescriptors", meeting: 8)
    }

    @Test func memoryStaysFlat() async throws { try await expectSuccess("clientMemory", meeting: 1) }

    @Test func idleConnectionsAreSmall() async throws {
        try DescriptorLimit.raise()
        try await expectSuccess("clientIdle", meeting: 1_000)
    }

    @Test func nothingGrowsWithHandshakes() async throws { try await expectSuccess("clientHandshakes") }

    /// Runs a scenario. Unless it needs only its own process, it is given an origin in this one, whose `/meet` answers once
    /// `count` requests have arrived.
    private func expectSuccess(_ scenario: String, meeting count: Int? = nil) async throws {
        guard let count else { return try await run(scenario, []) }
        try await withStressOrigin { origin in
            let all = origin.gate("all")
            let hold = HoldRoute(count, all)
            origin.route("GET", "/meet") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", [1])
                hold.arrive()
                response.gate = all
                return response
            }
            try await run(scenario, [String(origin.port)])
        }
    }

    private func run(_ scenario: String, _ arguments: [String]) async throws {
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        // One scenario exits in the middle of its work on purpose: what is in use then is not a leak.
        let end = try await Program.run(
            products.joined(separator: "/") + "/lupine-transport-probe", [scenario] + arguments,
            variables: scenario == "clientExit" ? ["ASAN_OPTIONS": "detect_leaks=0"] : [:])
        #expect(end == .exited(0))
    }
}
