// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

/// What becomes of the files of other programs and of earlier versions in a cache's folder.
struct CacheVersionTests {
    let stage = CacheStage()

    @Test("[U-12.1] foreign files in the folder are kept; entries of earlier versions are removed")
    func otherFiles() async throws {
        let request = try CacheStage.request()
        try FileManager.default.createDirectory(at: stage.folder, withIntermediateDirectories: true)
        let digest = String(repeating: "0123456789abcdef", count: 4)
        let former = [
            "\(digest).entry", "\(digest)-\(digest).entry", ".\(digest).entry.draft-1",
            ".\(digest)-\(digest).entry.draft-\(UUID())",
        ]
        let others = [
            ".hidden", "a.entry", "note.txt", ".note.entry.draft-1", "\(digest)",
            "\(digest.dropLast()).entry",
            "segment-", "segment-01", "segment-x", "segment-18446744073709551615", "index2", ".index",
        ]
        for name in former + others {
            try Data([1]).write(to: stage.folder.appendingPathComponent(name))
        }
        try await stage.process { cache in
            #expect(cache.currentDiskUsage == 0)
            #expect(stage.files == (others + ["index", "lock"]).sorted())
            cache.storeCachedResponse(try CacheStage.loaded("x"), for: request)
        }
        #expect(stage.files.count == others.count + 3)
        await stage.process { $0.removeAllCachedResponses() }
        #expect(stage.files == (others + ["index", "lock"]).sorted())
    }

    @Test("[U-12.1] only the writer removes the files of earlier versions")
    func formerFilesOfAReader() async throws {
        let cache = stage.cache()
        cache.storeCachedResponse(try CacheStage.loaded("x"), for: try CacheStage.request())
        await cache.flush()
        let name = String(repeating: "0123456789abcdef", count: 4) + ".entry"
        try Data([1]).write(to: stage.folder.appendingPathComponent(name))
        #expect(stage.cache().currentDiskUsage > 0 && stage.files.contains(name))
    }

    @Test("[U-12.1] a folder whose index has another version is emptied")
    func formerIndex() async throws {
        let request = try CacheStage.request()
        try await stage.process { $0.storeCachedResponse(try CacheStage.loaded("x"), for: request) }
        let index = stage.folder.appendingPathComponent("index")
        var octets = try Data(contentsOf: index)
        // The version follows the magic number.
        octets[8] -= 1
        try octets.write(to: index)
        try await stage.process { cache in
            #expect(cache.currentDiskUsage == 0 && cache.content(request) == nil)
            cache.storeCachedResponse(try CacheStage.loaded("y"), for: request)
        }
        #expect(stage.files.filter { $0.hasPrefix("segment-") }.count == 1)
        #expect(stage.cache(memory: 0).content(request) == "y")
    }
}
