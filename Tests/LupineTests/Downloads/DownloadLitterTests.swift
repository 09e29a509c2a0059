// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Downloads that fail because of the file system, in a process with its own folder for temporary files.
struct DownloadLitterTests {
    /// The reason for which a download fails.
    enum Cause: String, CaseIterable {
        case fullDestination
        case fullTemporaryFolder
        case fileSizeLimit
        case readOnlyDestination
        case readOnlyTemporaryFolder
        case vanishingDestination
        case cutOff
    }

    @Test(
        "[DL-5, DL-8] a failed download leaves neither a partial nor a temporary file",
        arguments: Cause.allCases)
    func litter(_ cause: Cause) async throws {
        try await withTemporaryFolder { place async throws in
            let origin = try LupineOrigin.Origin.start()
            origin.script(
                "GET", "/cut", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close))
            let temporary = place.appendingPathComponent("temporary")
            let destination = place.appendingPathComponent("destination")
            for folder in [temporary, destination] {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            }
            origin.serve("/long", 8 << 20)
            let content = origin.url + "/long"
            let (small, readOnly) = ("-o size=1m", "-o ro,size=1m")
            let (mount, rest): (String?, [String]) =
                switch cause {
                case .fullDestination:
                    ("\(small) none \(destination.path)", [content, destination.path, "move"])
                case .fullTemporaryFolder:
                    ("\(small) none \(temporary.path)", [content, destination.path, "-3003"])
                case .fileSizeLimit: (nil, [content, destination.path, "-3003", "1000000"])
                case .readOnlyDestination:
                    ("\(readOnly) none \(destination.path)", [content, destination.path, "move"])
                case .readOnlyTemporaryFolder:
                    ("\(readOnly) none \(temporary.path)", [content, destination.path, "-3000"])
                case .vanishingDestination: (nil, [content, destination.path, "vanish-move"])
                case .cutOff: (nil, [origin.url + "/cut", destination.path, "-1005"])
                }
            let variables = ["TMPDIR": temporary.path, "ASAN_OPTIONS": "detect_leaks=0"]
            let end: Program.End
            if let mount {
                // A new file system, mounted in its own mount namespace, where the system allows that.
                let script = "mount -t tmpfs \(mount) || exit 77; exec \"$@\""
                end = try await Program.run(
                    "unshare", ["-r", "-m", "sh", "-c", script, "sh", TransferProbe.path, "download"] + rest,
                    variables: variables)
            } else {
                end = try await Program.run(TransferProbe.path, ["download"] + rest, variables: variables)
            }
            #expect(end == .exited(0))
            await origin.shutdown()
        }
    }
}
