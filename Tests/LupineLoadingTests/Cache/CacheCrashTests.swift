// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineTestKit
import Testing

@testable import LupineLoading

struct CacheCrashTests {
    let stage = CacheStage()
    static let addresses = (0..<20).map { "http://example.org/item/\($0)?q=\($0)" }

    static var probe: String {
        CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/lupine-loading-probe"
    }

    /// The rounds of the responses that are there; each has to be whole.
    func rounds(_ cache: URLCache) throws -> [Int] {
        try Self.addresses.compactMap { url in
            guard let found = cache.cachedResponse(for: try CacheStage.request(url)) else { return nil }
            let response = try #require(found.response as? HTTPURLResponse)
            let round = try #require(response.value(forHTTPHeaderField: "Round").flatMap { Int($0) })
            #expect(found.data == Data(String(repeating: "\(round),", count: 1_000).utf8))
            #expect(response.url?.absoluteString == url)
            return round
        }
    }

    @Test(
        "[U-12.16] a program that is killed in the middle of a write leaves whole entries, two hundred times")
    func killedWriters() async throws {
        var last = 0
        var drafts = 0
        var halfRounds = 0
        for run in 0..<200 {
            let end = try await Program.run(
                Self.probe, ["cache", stage.folder.path, String(run * 7_919 % 5_000)])
            #expect(end == .killed(SIGKILL))
            let rounds = try rounds(stage.cache(memory: 0, disk: 64 << 20))
            #expect(rounds.count == Self.addresses.count)
            #expect((rounds.min() ?? 0) > last)
            last = rounds.max() ?? last
            if Set(rounds).count > 1 { halfRounds += 1 }
            #expect(stage.files.filter { $0.hasSuffix(".entry") }.count == Self.addresses.count)
            drafts = stage.files.filter { $0.hasPrefix(".") }.count
        }
        // Writers were stopped in the middle of a round, and some in the middle of a file.
        #expect(halfRounds > 0 && drafts > 0, "\(halfRounds), \(drafts)")
    }

    @Test("[U-12.1] processes that share a folder leave whole entries in it")
    func sharedFolder() async throws {
        let (probe, folder) = (Self.probe, stage.folder.path)
        let ends = try await withThrowingTaskGroup(of: Program.End.self) { group in
            for _ in 0..<3 {
                group.addTask { try await Program.run(probe, ["share", folder, "40"]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends == [.exited(0), .exited(0), .exited(0)])
        let cache = stage.cache(memory: 0, disk: 200_000)
        let rounds = try rounds(cache)
        #expect(!rounds.isEmpty)
        await cache.flush()
        // None of the files was damaged: what is there was found.
        #expect(stage.files.filter { $0.hasSuffix(".entry") }.count == rounds.count)
        #expect(!stage.files.contains { $0.hasPrefix(".") } && cache.currentDiskUsage <= 200_000)
    }
}
