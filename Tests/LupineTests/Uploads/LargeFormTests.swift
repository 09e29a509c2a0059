// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// A form that is too large to be held in memory.
struct LargeFormTests {
    @Test(
        "[E-8.4, UP-4] a form of 2 GiB, half a file and half a stream, needs less than 32 MiB of memory"
    )
    func memory() async throws {
        let half = 1 << 30
        let origin = try LupineOrigin.Origin.start()
        origin.digest("POST", "/digest")
        try await withTemporaryFolder { folder async throws in
            let file = folder.appendingPathComponent("half.bin")
            try Data().write(to: file)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(half))
            try handle.close()
            let temporary = folder.appendingPathComponent("temporary")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
            let end = try await Program.run(
                TransferProbe.path,
                ["form", origin.url, file.path, "\(half)", try #require(digest(half)), "32768"],
                variables: ["ASAN_OPTIONS": "detect_leaks=0", "TMPDIR": temporary.path])
            #expect(end == .exited(0))
            #expect(!names(in: temporary).contains { $0.hasPrefix("LupineForm-") })
        }
        await origin.shutdown()
    }

    /// Returns the digest of the form that the program sends, in hexadecimal.
    private func digest(_ half: Int) -> String? {
        guard let digest = RunningDigest(.sha256) else { return nil }
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let octets = "Content-Type: application/octet-stream\r\n\r\n"
        let heads = [
            "--border\r\nContent-Disposition: form-data; name=\"file\"; filename=\"half.bin\"\r\n" + octets,
            "\r\n--border\r\nContent-Disposition: form-data; name=\"stream\"; filename=\"zeros\"\r\n"
                + octets,
        ]
        for head in heads {
            digest.update(Array(head.utf8))
            for _ in 0..<half / zeros.count { digest.update(zeros) }
        }
        digest.update(Array("\r\n--border--\r\n".utf8))
        return digest.finish().map { $0.map { String(format: "%02x", $0) }.joined() }
    }
}
