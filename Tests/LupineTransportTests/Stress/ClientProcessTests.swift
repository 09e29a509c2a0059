// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTransport
import Testing

/// What a client does to a process can only be seen in one that runs nothing else: see `ClientScenarios`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ClientProcessTests {
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

    /// Runs a scenario; where it is one about its process alone, with an origin in this one, at whose `/meet` so many
    /// requests wait for each other.
    private func expectSuccess(_ scenario: String, meeting count: Int? = nil) async throws {
        guard let count else { return try await ProbeProcess(scenario, []).expectSuccess() }
        try await withStressOrigin { origin in
            let all = origin.gate("all")
            let hold = HoldRoute(count, all)
            origin.route("GET", "/meet") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", [1])
                hold.arrive()
                response.gate = all
                return response
            }
            try await ProbeProcess(scenario, [String(origin.port)]).expectSuccess()
        }
    }
}

/// A run of `TransportProbe`.
struct ProbeProcess {
    private let process = Process()
    private let output = Pipe()

    init(_ scenario: String, _ arguments: [String]) {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = products.appendingPathComponent("lupine-transport-probe")
        process.arguments = [scenario] + arguments
        process.standardOutput = output
        process.standardError = output
        if scenario == "clientExit" {
            // It ends in the middle of things, on purpose: what is in use then is no leak.
            process.environment = ["ASAN_OPTIONS": "detect_leaks=0"]
        }
    }

    func expectSuccess() async throws {
        let (process, output) = (process, output)
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { process in
                process.terminationHandler = nil
                done.resume()
            }
            do { try process.run() } catch { done.resume(throwing: error) }
        }
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        #expect(process.terminationReason == .exit, "\(text)")
        #expect(process.terminationStatus == 0, "\(text)")
        if process.terminationStatus == 0, !text.isEmpty { print(text) }
    }
}
