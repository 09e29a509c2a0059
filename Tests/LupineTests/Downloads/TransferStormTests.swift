// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Many transfers at once, in a process of their own: the descriptors of other tests would hide the ones that the transfers
/// leave open.
struct TransferStormTests {
    private static let size = 8 << 20

    @Test(
        "[DL-5, DL-30, UP-1, UP-8] 200 concurrent downloads and 200 uploads of 8 MiB are complete, and leave no descriptor open"
    )
    func storm() async throws {
        let origin = try LupineOrigin.Origin.start()
        let (served, sent) = (octets(Self.size, seed: 1), octets(Self.size, seed: 2))
        origin.route("GET", "/long") { _ throws(Refusal) in
            try OriginResponse(200, "application/octet-stream", served)
        }
        origin.digest("POST", "/sum")
        try await withTemporaryFolder { folder async throws in
            let file = folder.appendingPathComponent("file")
            try Data(sent).write(to: file)
            let (downloads, temporary) = (
                folder.appendingPathComponent("in"), folder.appendingPathComponent("tmp")
            )
            for made in [downloads, temporary] {
                try FileManager.default.createDirectory(at: made, withIntermediateDirectories: false)
            }
            let end = try await Program.run(
                TransferProbe.path,
                [
                    "storm", origin.url, downloads.path, file.path, "200", try digest(of: served),
                    try digest(of: sent),
                ],
                variables: ["TMPDIR": temporary.path])
            #expect(end == .exited(0))
            #expect(names(in: temporary).isEmpty)
        }
        await origin.shutdown()
    }

    private func digest(of bytes: [UInt8]) throws -> String {
        let digest = try #require(RunningDigest(.sha256))
        digest.update(bytes)
        return try #require(digest.finish()).map { String(format: "%02x", $0) }.joined()
    }
}
