// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests that an interrupted process leaves no temporary files.
@Suite(.timeLimit(.minutes(10))) struct InterruptionTests {
    @Test func cleanupsRunOnce() {
        let interruption = Interruption()
        let ran = Guarded<[Int]>([])
        _ = interruption.addCleanup { ran.withLock { $0.append(1) } }
        let second = interruption.addCleanup { ran.withLock { $0.append(2) } }
        _ = interruption.addCleanup { ran.withLock { $0.append(3) } }
        interruption.remove(second)
        // A cleanup is not a listener: the interruption has none to notify.
        #expect(!interruption.interrupt())
        interruption.runCleanups()
        interruption.runCleanups()
        #expect(ran.withLock { $0 } == [1, 3])
    }

    /// Checks that a large form, which is in a temporary folder until it is sent, is removed when the process exits.
    @Test func theFileOfALargeFormIsRemovedOnExit() async throws {
        try await withShell { shell, origin in
            let temporaryFolder = shell.folder + "/tmp"
            try FileManager.default.createDirectory(
                atPath: temporaryFolder, withIntermediateDirectories: true)
            try Data(count: 11_000_000).write(to: URL(fileURLWithPath: shell.folder + "/big"))
            var shell = shell
            shell.environment["TMPDIR"] = temporaryFolder
            let interruption = shell.interruption
            let listings = Guarded<[[String]]>([])
            let listFolder = { @Sendable () -> Void in
                let names = try? FileManager.default.contentsOfDirectory(atPath: temporaryFolder)
                listings.withLock { $0.append(names ?? ["?"]) }
            }
            origin.route("POST", "/form") { _ throws(Refusal) in
                listFolder()
                interruption.runCleanups()
                listFolder()
                return try OriginResponse(200, "text/plain", [])
            }
            let result = await shell.run("-s -S -F f=@big :\(origin.port)/form")
            #expect(result.code == 0, "\(result.errors)")
            let (before, after) = listings.withLock { ($0.first ?? [], $0.last) }
            #expect(before.count == 1 && before.first?.hasPrefix("lupine-") == true, "\(before)")
            #expect(after == [])
        }
    }

    /// A Python script that starts a program and interrupts it when it has created a form in TMPDIR, where the runtime of a
    /// sanitizer may have created a file before. Exits with 0 if the program was interrupted and has left no file there.
    private static let interruptingScript = """
        import os, signal, subprocess, sys
        place = os.environ["TMPDIR"]
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
        forms = lambda: [name for _, _, names in os.walk(place) for name in names if name.startswith("form-")]
        while child.poll() is None and not forms(): pass
        child.send_signal(signal.SIGINT)
        sys.exit(0 if child.wait() == 130 and not os.listdir(place) else 1)
        """

    @Test func controlCWhileALargeFormIsWrittenLeavesNoFile() async throws {
        try await Shell.withTemporaryFolder { shell in
            let temporaryFolder = shell.folder + "/tmp"
            try FileManager.default.createDirectory(
                atPath: temporaryFolder, withIntermediateDirectories: true)
            try shell.write("", to: "big")
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: shell.folder + "/big"))
            try file.truncate(atOffset: 2 << 30)
            try file.close()
            let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appendingPathComponent("lupine").path
            let end = try await Program.run(
                "python3",
                [
                    "-c", Self.interruptingScript, program, "-s", "-F", "f=@\(shell.folder)/big",
                    "http://127.0.0.1:1/",
                ],
                variables: [
                    "TMPDIR": temporaryFolder, "HOME": shell.folder, "ASAN_OPTIONS": "detect_leaks=0",
                ])
            #expect(end == .exited(0))
        }
    }
}
