// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

/// Behaviour of programs that use Lupine under faults of the machine or of the program: each scenario in a separate process, with
/// an origin in this one. `FaultProbe` lists the scenarios.
@Suite(.serialized, .timeLimit(.minutes(20))) struct FaultTests {
    @Test("look-ups that hang or come late hold up nobody else, and the error names the limit")
    func lookUps() async throws { try await expect("lookups") }

    @Test("without descriptors: the error names the step, and all is well once there are some")
    func descriptors() async throws { try await expect("descriptors") }

    @Test("without descriptors for the first event loop: the error says so, and a later request has one")
    func descriptorsForLoops() async throws { try await expect("no-loop") }

    @Test("with little address space bodies of any size stream and are saved; collecting one has a limit")
    func addressSpace() async throws { try await expect("memory") }

    @Test(
        "whoever collects more than there is address space for ends by a signal, never with a part of a body")
    func addressSpaceUsedUp() async throws {
        let end = try await run("exhausted")
        switch end {
        case .killed(let signal): #expect([4, 5, 6, 11].contains(signal), "signal \(signal)")
        // An error that reports it is permitted, too.
        case .exited(let status): #expect(status == 1, "status \(status)")
        }
    }

    @Test("peers that reset raise no SIGPIPE in a program that never thought of it")
    func brokenPipes() async throws { try await expect("signals") }

    @Test("a pause of the process: what came in it is taken, and closed connections are replaced")
    func pause() async throws { try await expect("pause") }

    @Test("the wall clock is set by a year, both ways: time-outs, pauses and ages are right")
    func clockSteps() async throws { try await expect("clock") }

    @Test("a host program that forks: the child inherits no descriptor, the parent goes on")
    func forks() async throws { try await expect("fork") }

    @Test(
        "exit with requests in flight keeps its status and waits for nothing",
        arguments: ["main", "handler", "thread"])
    func exits(caller: String) async throws {
        for _ in 0..<8 {
            let start = ContinuousClock.now
            #expect(try await run("exit", caller) == .exited(42))
            #expect(ContinuousClock.now - start < .seconds(30), "the exit waited for a request")
        }
    }

    private func expect(_ scenario: String) async throws {
        #expect(try await run(scenario) == .exited(0))
    }

    private func run(_ scenario: String, _ argument: String...) async throws -> Program.End {
        let origin = try Origin.start()
        addRoutes(to: origin)
        addPause(to: origin)
        // A process that ends abruptly leaves its temporary files there.
        let temporary = FileManager.default.temporaryDirectory.appending(path: "fault-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: temporary) }
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let end = try await Program.run(
            products.joined(separator: "/") + "/lupine-fault-probe", [scenario, "\(origin.port)"] + argument,
            variables: sanitizers(scenario).merging(["TMPDIR": temporary.path]) { _, own in own })
        await origin.shutdown()
        return end
    }

    /// Returns the options of a sanitizer that the probe was built with.
    private func sanitizers(_ scenario: String) -> [String: String] {
        switch scenario {
        // Processes that exit abruptly, or right after the last request, still hold memory.
        case "clock", "descriptors", "exit", "lookups": return ["ASAN_OPTIONS": "detect_leaks=0"]
        // The allocator must return nil as the system's does, and errors must end the process by a signal.
        case "exhausted":
            let asTheSystem = "allocator_may_return_null=1:abort_on_error=1"
            return ["ASAN_OPTIONS": "detect_leaks=0:" + asTheSystem, "TSAN_OPTIONS": asTheSystem]
        default: return [:]
        }
    }

    private func addRoutes(to origin: LupineOrigin.Origin) {
        origin.script(nil, "/reset-at-once", ScriptPlan(.reset))
        origin.script(nil, "/reset-later", ScriptPlan(.expectBytes(20_000), .reset))
        origin.script(nil, "/stall", ScriptPlan(.stall))
    }

    /// Adds the routes for the scenario of the pause. `/meet` is answered once six connections have requested it; `/drops` first
    /// gets five of its 25 announced bytes. The probe is stopped while `/paused` is requested: then the six connections are
    /// closed and the rest of `/drops` is sent, and only after that is `/paused` answered.
    private func addPause(to origin: LupineOrigin.Origin) {
        let paused = Gate()
        let met = gate(opening: 6, on: "met", of: origin)
        let done = gate(opening: 7, on: "done", of: origin)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "
        origin.script(
            nil, "/meet",
            ScriptPlan(
                (0..<6).map { index in
                    Script([
                        .signal("met \(index)"), .waitForGate(met), .send(head + "1\r\n\r\n1"),
                        .waitForGate(paused), .halfClose, .signal("done \(index)"), .expectEnd,
                    ])
                }))
        origin.script(
            nil, "/drops",
            ScriptPlan(
                .send(head + "25\r\n\r\n12345"), .waitForGate(paused),
                .send("67890123456789012345"), .signal("done 6"), .speakHTTP))
        origin.route("GET", "/paused") { _ throws(Refusal) in
            paused.open()
            var response = try OriginResponse(200, "text/plain", [1])
            response.gate = done
            return response
        }
    }

    /// Returns a gate that opens when the origin's gates `name 0`, `name 1` and so on, `count` in all, have opened.
    private func gate(opening count: Int, on name: String, of origin: LupineOrigin.Origin) -> Gate {
        let all = Gate()
        let missing = Lock(count)
        for index in 0..<count {
            origin.gate("\(name) \(index)").whenOpen {
                let isLast = missing.withLock { count in
                    count -= 1
                    return count == 0
                }
                if isLast { all.open() }
            }
        }
        return all
    }
}
