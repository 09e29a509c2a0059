// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading

/// Rounds of responses for the same URLs: header and content carry the round's number.
struct CacheScenario {
    let folder: String

    private static let addresses = (0..<20).compactMap {
        URL(string: "http://example.org/item/\($0)?q=\($0)")
    }

    /// Writes rounds until the process is killed. Calls `isWarm` once, when the first round and this many further halves of rounds
    /// are on the disk: a process that is killed soon after an odd number of halves leaves half of a round, however busy the
    /// machine is.
    func write(halves count: Int, until isWarm: () -> Void) {
        let cache = cache(diskCapacity: 64 << 20)
        // Higher than the number of any earlier round.
        var round = Int(Date().timeIntervalSince1970 * 1_000_000)
        write(round, to: cache)
        note(round)
        var remainingHalves = count
        func halfEnded() {
            if remainingHalves == 0 { isWarm() }
            remainingHalves -= 1
        }
        halfEnded()
        while true {
            round += 1
            write(round, to: cache, halfEnded)
            note(round)
        }
    }

    /// Records beside the cache which round is on the disk, with one write, which a kill does not divide.
    private func note(_ round: Int) {
        let file = URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent("written")
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        }
        guard let handle = FileHandle(forWritingAtPath: file.path) else { return }
        handle.write(Data("\(round)".utf8))
        try? handle.close()
    }

    /// Writes `rounds` rounds into a cache that has room for only a few of them.
    func write(rounds: Int) {
        let cache = cache(diskCapacity: 200_000)
        for round in 0..<rounds { write(round, to: cache) }
    }

    private func cache(diskCapacity: Int) -> URLCache {
        let folder = URL(fileURLWithPath: folder, isDirectory: true)
        return URLCache(
            memoryCapacity: 0, diskCapacity: diskCapacity, directory: folder,
            keyFile: folder.appendingPathComponent("key"))
    }

    /// Writes a round in two batches, so that a kill can leave half of it. Calls `halfEnded` after each.
    private func write(_ round: Int, to cache: URLCache, _ halfEnded: () -> Void = {}) {
        let content = Data(String(repeating: "\(round),", count: 1_000).utf8)
        for (index, url) in Self.addresses.enumerated() {
            if index == Self.addresses.count / 2 {
                flush(cache)
                halfEnded()
            }
            guard
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Round": String(round)])
            else { continue }
            var request = URLRequest(url: url)
            request.setValue("secret", forHTTPHeaderField: "Authorization")
            cache.storeCachedResponse(CachedURLResponse(response: response, data: content), for: request)
        }
        flush(cache)
        halfEnded()
    }

    private func flush(_ cache: URLCache) {
        let written = DispatchSemaphore(value: 0)
        cache.flush { written.signal() }
        written.wait()
    }
}
