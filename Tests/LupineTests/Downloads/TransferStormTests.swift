// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// Many transfers at once.
struct TransferStormTests {
    /// As many as are asked of the library where it is optimized; fewer bytes where it is not.
    #if DEBUG
        private static let size = 1 << 20
    #else
        private static let size = 8 << 20
    #endif
    private static let count = 200

    /// Sums up what the origin is sent, as it comes.
    private final class SumSink: BodySink {
        private var sum = OctetSum()

        func receive(_ bytes: Span<UInt8>) throws(Refusal) {
            for index in 0..<bytes.count { sum.add(bytes[index]) }
        }

        func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
            try OriginResponse(200, "text/plain", Array(sum.text.utf8))
        }
    }

    /// FNV-1a: it depends on every octet and its place.
    private struct OctetSum {
        private var value: UInt64 = 0xcbf2_9ce4_8422_2325
        private var count = 0

        mutating func add(_ octet: UInt8) {
            value = (value ^ UInt64(octet)) &* 0x100_0000_01b3
            count += 1
        }

        var text: String { "\(count) \(value)" }
    }

    /// Whether none of the folder's files is open any more when the loops have let go of what they transferred.
    private static func isClosed(_ folder: URL, _ stage: PipelineStage) async throws -> Bool {
        for _ in 0..<1000 where try !open(in: folder).isEmpty {
            await stage.settle()
        }
        return try open(in: folder).isEmpty
    }

    /// The files of that folder that the process has open.
    private static func open(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
        }.filter { $0.hasPrefix(folder.path) }
    }

    @Test("[DL-5, DL-30] 200 downloads at once are whole, and leave nothing open")
    func downloads() async throws {
        try await withPlace { folder async throws in
            var setUp = PipelineSetUp()
            setUp.configure = { $0.httpMaximumConnectionsPerHost = 64 }
            try await withPipeline(setUp) { stage async throws in
                stage.origin.serve("/long", Self.size)
                let address = stage.url("/long")
                let first = try #require(await stage.session.request(address).answered().data)
                let wrong = await withTaskGroup(of: String?.self) { group in
                    for index in 0..<Self.count {
                        group.addTask {
                            let place = folder.appendingPathComponent("\(index)")
                            let response = await stage.session.download(address, to: { _, _ in (place, []) })
                                .moved()
                            guard response.fileURL == place, let data = try? Data(contentsOf: place),
                                data == first
                            else { return "\(index): \(String(describing: response.error))" }
                            try? FileManager.default.removeItem(at: place)
                            return nil
                        }
                    }
                    return await group.reduce(into: []) { wrong, one in wrong += one.map { [$0] } ?? [] }
                }
                #expect(wrong.isEmpty)
                #expect(names(in: folder).isEmpty)
                #expect(try await Self.isClosed(folder, stage))
            }
        }
    }

    @Test("[UP-1, UP-8] 200 uploads of files at once arrive whole")
    func uploads() async throws {
        try await withPlace { folder async throws in
            var setUp = PipelineSetUp()
            setUp.configure = { $0.httpMaximumConnectionsPerHost = 64 }
            try await withPipeline(setUp) { stage async throws in
                stage.origin.route("POST", "/sum", .streamed { _ throws(Refusal) in SumSink() })
                let file = folder.appendingPathComponent("file")
                let bytes = octets(Self.size)
                try Data(bytes).write(to: file)
                var sum = OctetSum()
                for byte in bytes { sum.add(byte) }
                let (expected, address) = (Data(sum.text.utf8), stage.url("/sum"))
                let wrong = await withTaskGroup(of: String?.self) { group in
                    for index in 0..<Self.count {
                        group.addTask {
                            let response = await stage.session.upload(file, to: address).answered()
                            return response.data == expected
                                ? nil : "\(index): \(String(describing: response.error))"
                        }
                    }
                    return await group.reduce(into: []) { wrong, one in wrong += one.map { [$0] } ?? [] }
                }
                #expect(wrong.isEmpty)
                #expect(try await Self.isClosed(folder, stage))
            }
        }
    }
}
