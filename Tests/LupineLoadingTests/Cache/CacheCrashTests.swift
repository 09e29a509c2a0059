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

    /// Returns the rounds of the responses that are found; each has to be whole.
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

    /// Returns the last round that the writer had recorded as written before it was killed.
    func recordedCount() throws -> Int {
        let recordedText = try String(
            contentsOf: stage.folder.appendingPathComponent("written"), encoding: .utf8)
        return try #require(Int(recordedText.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// The number of writers to kill: `LUPINE_CACHE_KILLS`, for a long run, or two hundred.
    static let killCount =
        ProcessInfo.processInfo.environment["LUPINE_CACHE_KILLS"].flatMap { Int($0) } ?? 200

    @Test(
        "[U-12.16] a program that is killed during a write loses nothing that was written before, repeatedly"
    )
    func killedWriters() async throws {
        var last = 0
        var halfRounds = 0
        var tails = 0
        for run in 0..<Self.killCount {
            let end = try await Program.run(
                Self.probe, ["cache", stage.folder.path, String(run * 7_919 % 5_000)])
            #expect(end == .killed(SIGKILL))
            let recordedCount = try self.recordedCount()
            let index = stage.folder.appendingPathComponent("index")
            let octets = Array(try Data(contentsOf: index))
            if CacheLog.contents(of: octets).end < octets.count { tails += 1 }
            // In every other run no writer repairs the folder before the next one.
            let isWriter = run % 2 == 0
            let rounds =
                isWriter
                ? try await stage.process(memory: 0, disk: 64 << 20) { try self.rounds($0) }
                : try read()
            #expect(rounds.count == Self.addresses.count)
            #expect((rounds.min() ?? 0) >= recordedCount && recordedCount > last)
            last = rounds.max() ?? last
            if Set(rounds).count > 1 { halfRounds += 1 }
            #expect(stage.entries.count == Self.addresses.count)
            #expect(stage.segments.count < 60)
        }
        // Some writers were killed in the middle of a round.
        #expect(halfRounds > 0 || Self.killCount < 200, "\(halfRounds), \(tails)")
    }

    /// Returns the rounds of the entries in the folder, read without a cache.
    func read() throws -> [Int] {
        let index = stage.index
        return try Self.addresses.compactMap { url in
            let key = CacheKey(address: url, partition: nil)
            guard let location = index[key]?.location else { return nil }
            let segment = try Data(
                contentsOf: stage.folder.appendingPathComponent("segment-\(location.segment)"))
            let entry = try #require(
                CacheFolder.entry(Array(segment[location.offset..<location.end]), key: key))
            return try #require(entry.httpResponse?.value(forHTTPHeaderField: "Round").flatMap { Int($0) })
        }
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
        // There may be none: the last process to become the writer removes the entries that it had replaced as a reader.
        try await wholeEntries()
        // The next process can become the writer.
        let last = try await Program.run(probe, ["share", folder, "1"])
        #expect(last == .exited(0))
        let rounds = try await wholeEntries()
        #expect(rounds == Self.addresses.map { _ in 0 })
    }

    /// Returns the rounds of the entries in the folder, and checks that every one of them is found, so none is damaged.
    @discardableResult
    func wholeEntries() async throws -> [Int] {
        try await stage.process(memory: 0, disk: 200_000) { cache in
            let rounds = try self.rounds(cache)
            await cache.flush()
            #expect(stage.entries.count == rounds.count && cache.currentDiskUsage <= 200_000)
            return rounds
        }
    }
}
