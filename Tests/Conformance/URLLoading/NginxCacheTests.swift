// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

/// The cache of sessions with nginx's fields: validators, ages, `Vary`, `no-store`.
@Suite struct NginxCacheTests {
    private static let text = "a page\n"

    /// Each file of the site has other caching fields.
    private static let locations = """
        location /fresh { alias page.txt; expires 1h; }
        location /stale { alias page.txt; expires -1; }
        location /dated { alias page.txt; expires -1; etag off; }
        location /secret { alias page.txt; etag off; add_header Cache-Control no-store; }
        location /kind { expires 1h; add_header Vary X-Kind; return 200 "kind $http_x_kind"; }
        location /any { expires 1h; add_header Vary *; return 200 "any"; }
        """

    private func converse(_ body: (NginxSession) async throws -> Void) async throws {
        // nginx does not resolve an `alias` below `root`.
        let folder = NSTemporaryDirectory() + "lupine-site-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        try Self.text.write(toFile: folder + "/page.txt", atomically: false, encoding: .utf8)
        try await NginxSession.with(
            Self.locations.replacingOccurrences(of: "page.txt", with: folder + "/page.txt"), body)
    }

    /// Returns a session with a cache in memory.
    private func caching(_ stage: NginxSession) -> URLSession {
        stage.session { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let path: String
        /// The statuses of the requests that nginx receives when the resource is loaded twice.
        let statuses: [Int]
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            Row(
                testDescription: "[U-12.9] fresh by expires: not asked again", path: "/fresh",
                statuses: [200]),
            Row(
                testDescription: "[U-12.13] an entity tag is asked about, and holds", path: "/stale",
                statuses: [200, 304]),
            Row(
                testDescription: "[U-12.13] so does a date without a tag", path: "/dated",
                statuses: [200, 304]),
            Row(
                testDescription: "[U-12.4] no-store is fetched again as a whole", path: "/secret",
                statuses: [200, 200]),
        ])
    func twice(_ row: Row) async throws {
        try await converse { stage in
            let session = caching(stage)
            for _ in 0..<2 {
                let (text, response) = try await stage.get(row.path, by: session)
                #expect(text == Self.text && response.statusCode == 200)
            }
            session.invalidateAndCancel()
            #expect(try await stage.requests() == row.statuses.map { "\(row.path) \($0)" })
        }
    }

    @Test("a page that has changed is fetched, one that has not is not", .timeLimit(.minutes(10)))
    func changed() async throws {
        try await NginxSession.with("expires -1;", site: [("page.txt", Self.text)]) { stage in
            let session = caching(stage)
            #expect(try await stage.get("/page.txt", by: session).text == Self.text)
            let file = stage.nginx.place.folder + "/page.txt"
            try "another page\n".write(toFile: file, atomically: true, encoding: .utf8)
            for _ in 0..<2 {
                #expect(try await stage.get("/page.txt", by: session).text == "another page\n")
            }
            session.invalidateAndCancel()
            #expect(try await stage.requests() == ["/page.txt 200", "/page.txt 200", "/page.txt 304"])
        }
    }

    @Test("[U-12.11] what varies is kept for the fields that it was fetched with", .timeLimit(.minutes(10)))
    func varying() async throws {
        try await converse { stage async throws in
            let session = caching(stage)
            for kind in ["a", "a", "b", "b"] {
                #expect(try await stage.get("/kind", ["X-Kind": kind], by: session).text == "kind \(kind)")
            }
            for _ in 0..<2 { #expect(try await stage.get("/any", by: session).text == "any") }
            session.invalidateAndCancel()
            #expect(try await stage.requests() == ["/kind 200", "/kind 200", "/any 200", "/any 200"])
        }
    }

    @Test("another cache on the same folder, in another session, needs no network", .timeLimit(.minutes(10)))
    func onDisk() async throws {
        try await converse { stage async throws in
            let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "lupine-cache-" + UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            func cache() -> URLCache {
                URLCache(
                    memoryCapacity: 0, diskCapacity: 10 << 20, directory: folder.appending(path: "cache"),
                    keyFile: folder.appending(path: "key"))
            }
            for _ in 0..<2 {
                let session = stage.session { $0.urlCache = cache() }
                #expect(try await stage.get("/fresh", by: session).text == Self.text)
                #expect(try await stage.get("/stale", by: session).text == Self.text)
                await withCheckedContinuation { done in session.flush { done.resume() } }
                session.invalidateAndCancel()
            }
            #expect(try await stage.requests() == ["/fresh 200", "/stale 200", "/stale 304"])
        }
    }

    @Test(
        "[U-12.12] the request's policy decides over what is there", .timeLimit(.minutes(10)),
        arguments: [
            (URLRequest.CachePolicy.reloadIgnoringLocalCacheData, ["/fresh 200", "/fresh 200"]),
            (.returnCacheDataElseLoad, ["/fresh 200"]), (.returnCacheDataDontLoad, ["/fresh 200"]),
            (.reloadRevalidatingCacheData, ["/fresh 200", "/fresh 304"]),
        ])
    func policies(_ policy: URLRequest.CachePolicy, _ requests: [String]) async throws {
        try await converse { stage in
            let session = caching(stage)
            _ = try await stage.get("/fresh", by: session)
            var again = URLRequest(url: try stage.url("/fresh"))
            again.cachePolicy = policy
            let (data, _) = try await session.data(for: again)
            #expect(data == Data(Self.text.utf8))
            session.invalidateAndCancel()
            #expect(try await stage.requests() == requests)
        }
    }
}
