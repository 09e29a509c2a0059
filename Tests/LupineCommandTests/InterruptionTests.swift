// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests of what is left when the process is terminated.
@Suite(.timeLimit(.minutes(10))) struct InterruptionTests {
    @Test func whatIsToBeDoneBeforeLeavingIsDoneOnce() {
        let interruption = Interruption()
        let done = Guarded<[Int]>([])
        _ = interruption.addCleanup { done.withLock { $0.append(1) } }
        let second = interruption.addCleanup { done.withLock { $0.append(2) } }
        _ = interruption.addCleanup { done.withLock { $0.append(3) } }
        interruption.forget(second)
        // A handler that only cleans up does not count as work to interrupt.
        #expect(!interruption.interrupt())
        interruption.leave()
        interruption.leave()
        #expect(done.withLock { $0 } == [1, 3])
    }

    /// Checks that a long form, which is in a temporary folder until it is sent, is removed when the process exits.
    @Test func aLongFormIsGoneWhenTheProcessLeaves() async throws {
        try await withShell { shell, origin in
            let place = shell.folder + "/tmp"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try Data(count: 11_000_000).write(to: URL(fileURLWithPath: shell.folder + "/big"))
            var shell = shell
            shell.environment["TMPDIR"] = place
            let interruption = shell.interruption
            let seen = Guarded<[[String]]>([])
            let look = { @Sendable () -> Void in
                let names = try? FileManager.default.contentsOfDirectory(atPath: place)
                seen.withLock { $0.append(names ?? ["?"]) }
            }
            origin.route("POST", "/form") { _ throws(Refusal) in
                look()
                interruption.leave()
                look()
                return try OriginResponse(200, "text/plain", [])
            }
            let result = await shell.run("-s -S -F f=@big :\(origin.port)/form")
            #expect(result.code == 0, "\(result.errors)")
            let (before, after) = seen.withLock { ($0.first ?? [], $0.last) }
            #expect(before.count == 1 && before.first?.hasPrefix("lupine-") == true, "\(before)")
            #expect(after == [])
        }
    }

    /// Starts `argv` and interrupts it when it has created a form in TMPDIR, where a sanitizer's runtime may create a file
    /// earlier. Exits with 0 if the program was interrupted and has left nothing there.
    private static let keeper = """
        import os, signal, subprocess, sys
        place = os.environ["TMPDIR"]
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
        forms = lambda: [name for _, _, names in os.walk(place) for name in names if name.startswith("form-")]
        while child.poll() is None and not forms(): pass
        child.send_signal(signal.SIGINT)
        sys.exit(0 if child.wait() == 130 and not os.listdir(place) else 1)
        """

    @Test func controlCWhileALongFormIsWrittenLeavesNothing() async throws {
        try await Shell.use { shell in
            let place = shell.folder + "/tmp"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            try shell.write("", to: "big")
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: shell.folder + "/big"))
            try file.truncate(atOffset: 2 << 30)
            try file.close()
            let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("lupine").path
            let end = try await Program.run(
                "python3",
                ["-c", Self.keeper, program, "-s", "-F", "f=@\(shell.folder)/big", "http://127.0.0.1:1/"],
                variables: ["TMPDIR": place, "HOME": shell.folder, "ASAN_OPTIONS": "detect_leaks=0"])
            #expect(end == .exited(0))
        }
    }
}
