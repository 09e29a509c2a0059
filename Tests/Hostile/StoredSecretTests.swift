// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

/// The files of a program that handles secrets, in a process with umask 0.
@Suite struct StoredSecretTests {
    /// Runs the probe in a new folder, and passes the folder to `body`.
    private func probe(_ body: (URL) throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "secrets-\(UUID().uuidString)")
        for name in ["home", "data", "cache", "tmp"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try LupineOrigin.Origin.start()
        serve(on: origin)
        let products = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
            .dropLast()
        let end: Program.End
        do {
            end = try await Program.run(
                "sh",
                [
                    "-c", "umask 0 && exec \"$@\"", "probe",
                    products.joined(separator: "/") + "/lupine-transfer-probe", "secrets", origin.url,
                    folder.path,
                ],
                variables: [
                    "HOME": folder.path + "/home", "XDG_DATA_HOME": folder.path + "/data",
                    "XDG_CACHE_HOME": folder.path + "/cache", "TMPDIR": folder.path + "/tmp",
                    // The probe ends while loops of the process run: the memory they hold then is not a leak.
                    "ASAN_OPTIONS": "detect_leaks=0",
                ])
        } catch {
            await origin.shutdown()
            throw error
        }
        await origin.shutdown()
        try #require(end == .exited(0))
        try body(folder)
    }

    private func serve(on origin: LupineOrigin.Origin) {
        origin.script(
            "GET", "/part",
            ScriptPlan(
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nETag: \"t\"\r\nAccept-Ranges: bytes\r\n\r\n"
                ),
                .send([UInt8](repeating: 0x61, count: 50_000)), .stall))
        origin.route("GET", "/cached/{n}") { _ throws(Refusal) in
            var response = try OriginResponse(200, "text/plain", Array("ok".utf8))
            try response.add("Cache-Control", "public, max-age=1000")
            return response
        }
        let gate = origin.gate("go")
        origin.route("GET", "/go") { _ throws(Refusal) in
            gate.open()
            return OriginResponse(204)
        }
        origin.route("POST", "/form") { _ throws(Refusal) in
            var response = try OriginResponse(200, "text/plain", Array("ok".utf8))
            response.gate = gate
            return response
        }
    }

    @Test(
        "[U-7.9, U-12.1, U-13.15] only their owner can read files, whatever the umask of the process",
        .timeLimit(.minutes(10)))
    func modes() async throws {
        try await probe { folder in
            let notes = try String(contentsOf: folder.appendingPathComponent("notes"), encoding: .utf8)
            let files = notes.split(separator: "\n").filter { $0.hasPrefix("file ") }
            // The probe has noted at least one file of each kind.
            for kind in ["cached/", "cookies", "tmp/", "LupineForm-"] {
                #expect(files.contains { $0.contains(kind) }, "\(kind) in\n\(notes)")
            }
            #expect(files.filter { !$0.hasPrefix("file 600 ") } == [])
        }
    }

    @Test("[U-12.5] the cache contains no credential", .timeLimit(.minutes(10)))
    func contents() async throws {
        try await probe { folder in
            let cache = folder.appendingPathComponent("cached")
            let names = try #require(FileManager.default.enumerator(atPath: cache.path)).compactMap {
                $0 as? String
            }
            let secrets = ["s3cr3t", Data("user:s3cr3t".utf8).base64EncodedString(), "user:"]
            var entries = 0
            for name in names {
                guard let data = try? Data(contentsOf: cache.appendingPathComponent(name)) else { continue }
                if name.hasPrefix("segment-") { entries += data.ranges(of: Data("/cached/".utf8)).count }
                for secret in secrets {
                    #expect(
                        data.range(of: Data(secret.utf8)) == nil && !name.contains(secret),
                        "\(secret) in \(name)")
                }
            }
            #expect(entries > 1, "\(names)")
        }
    }
}
