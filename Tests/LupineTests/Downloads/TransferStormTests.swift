// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import Testing

@testable import Lupine

/// Many transfers at once.
struct TransferStormTests {
    private static let size = 8 << 20
    private static let count = 200

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
                stage.origin.digest("POST", "/sum")
                let file = folder.appendingPathComponent("file")
                let bytes = octets(Self.size)
                try Data(bytes).write(to: file)
                let digest = try #require(RunningDigest(.sha256))
                digest.update(bytes)
                let (expected, address) = (digest.finish().map { Data($0) }, stage.url("/sum"))
                let wrong = await withTaskGroup(of: String?.self) { group in
                    for index in 0..<Self.count {
                        group.addTask {
                            let response = await stage.session.upload(file, to: address).answered()
                            return response.data == expected && expected != nil
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
