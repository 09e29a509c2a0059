// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Long bodies, downloaded by a separate program that measures its own memory.
struct DownloadMemoryTests {
    /// Its length divides no buffer size, so that a misplaced octet is detected.
    private static let pattern = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    private static let limit = "8192"
    /// LeakSanitizer is off: the program exits while its event loops run, and LeakSanitizer cannot see what they hold.
    static let variables = ["ASAN_OPTIONS": "detect_leaks=0"]

    private func origin(_ count: Int) throws -> LupineOrigin.Origin {
        let origin = try LupineOrigin.Origin.start()
        for (path, length) in [("/small", 1_000), ("/other", 256 << 20), ("/big", count)] {
            origin.route("GET", path) { _ throws(Refusal) in
                var position = 0
                return OriginResponse(
                    body: .stream(length: Int64(length)) { piece, room in
                        let offset = position % Self.pattern.count
                        let size = min(room, Self.pattern.count - offset, length - position)
                        piece += Self.pattern[offset..<offset + size]
                        position += size
                        return position == length ? .end(trailers: Fields()) : .more
                    })
            }
        }
        return origin
    }

    @Test(
        "[U-7.9] a download of 1 GiB uses less than 8 MiB of memory, and is complete"
    )
    func download() async throws {
        let count = 1 << 30
        let origin = try origin(count)
        let file = FileManager.default.temporaryDirectory.appending(
            path: "lupine-\(UUID().uuidString).memory")
        defer { try? FileManager.default.removeItem(at: file) }
        let end = try await Program.run(
            CacheCrashTests.probe, ["memory", origin.url + "/big", Self.limit, "download", file.path],
            variables: Self.variables)
        #expect(end == .exited(0))
        await origin.shutdown()

        let pattern = Data(Self.pattern)
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var length = 0
        while let piece = try handle.read(upToCount: pattern.count), !piece.isEmpty {
            try #require(piece == pattern.prefix(piece.count), "behind \(length)")
            length += piece.count
        }
        #expect(length == count)
    }

    @Test(
        "[U-4.7, U-7.2] a slow consumer uses less than 8 MiB of memory",
        arguments: ["delegate", "bytes"])
    func slowConsumer(_ form: String) async throws {
        let origin = try origin(1 << 30)
        let end = try await Program.run(
            CacheCrashTests.probe, ["memory", origin.url + "/big", Self.limit, form, "/dev/null"],
            variables: Self.variables)
        #expect(end == .exited(0))
        await origin.shutdown()
    }
}
