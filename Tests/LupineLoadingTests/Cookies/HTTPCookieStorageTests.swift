// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct HTTPCookieStorageTests {
    let url: URL
    let storage = HTTPCookieStorage(file: nil)

    init() throws { url = try #require(URL(string: "https://www.example.org/dir/")) }

    func cookies(_ value: String) -> [HTTPCookie] {
        HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
    }

    func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    func flush(_ storage: HTTPCookieStorage) async {
        await withCheckedContinuation { continuation in storage.flush { continuation.resume() } }
    }

    @Test func cookiesAreSetFoundAndDeleted() throws {
        storage.setCookies(cookies("a=1; Path=/, b=2"), for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.map(\.name) == ["a", "b"])
        #expect(storage.cookies(for: url)?.map(\.name) == ["b", "a"])
        let other = try #require(URL(string: "https://www.example.org/dir/x"))
        #expect(storage.cookies(for: other)?.map(\.name) == ["b", "a"])
        storage.deleteCookie(try #require(storage.cookies?.first))
        #expect(storage.cookies?.map(\.name) == ["b"])
        storage.removeCookies(since: .distantPast)
        #expect(storage.cookies == [])
        let unknown = try #require(URL(string: "data:,"))
        #expect(storage.cookies(for: unknown) == [])
    }

    @Test func theAcceptPolicyApplies() throws {
        let site = try #require(URL(string: "https://other.net/"))
        #expect(storage.cookieAcceptPolicy == .always)
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        storage.setCookies(cookies("a=1"), for: url, mainDocumentURL: site)
        #expect(storage.cookies == [])
        storage.setCookies(cookies("a=1"), for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.count == 1)
        storage.setCookies(cookies("b=1; Domain=other.org"), for: url, mainDocumentURL: nil)
        #expect(storage.cookies?.count == 1)
        storage.cookieAcceptPolicy = .never
        storage.setCookies(cookies("c=1"), for: url, mainDocumentURL: nil)
        storage.setCookie(try #require(cookies("d=1").first))
        #expect(storage.cookies?.count == 1)
        storage.store(cookies("e=1"), from: url, mainDocumentURL: site, policy: .always)
        #expect(storage.cookies?.count == 2)
    }

    static let sites: [(main: String?, method: String, names: [String])] = [
        (nil, "POST", ["lax", "none", "strict", "unsaid"]),
        ("https://api.example.org/", "POST", ["lax", "none", "strict", "unsaid"]),
        ("https://other.net/", "GET", ["lax", "none", "unsaid"]),
        ("https://other.net/", "HEAD", ["lax", "none", "unsaid"]),
        ("https://other.net/", "POST", ["none", "unsaid"]),
    ]

    @Test(
        "[U-13.14] a cross-site request sends Lax cookies if it is safe, and Strict ones never",
        arguments: sites)
    func sameSite(main: String?, method: String, names: [String]) throws {
        let lines = "lax=1; SameSite=Lax, none=1; SameSite=None; Secure, strict=1; SameSite=Strict, unsaid=1"
        storage.setCookies(cookies(lines), for: url, mainDocumentURL: nil)
        let main = main.flatMap { URL(string: $0) }
        let found = storage.cookies(for: url, mainDocumentURL: main, method: method)
        #expect(found.map(\.name) == names)
    }

    @Test func changesAreAnnounced() throws {
        let changes = Lock<[NSNotification.Name]>([])
        let names: [NSNotification.Name] = [
            .NSHTTPCookieManagerCookiesChanged, .NSHTTPCookieManagerAcceptPolicyChanged,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: storage, queue: nil) { note in
                changes.withLock { $0.append(note.name) }
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let cookie = try #require(cookies("a=1").first)
        storage.setCookie(cookie)
        storage.setCookie(cookie)
        storage.deleteCookie(cookie)
        storage.deleteCookie(cookie)
        storage.cookieAcceptPolicy = .never
        storage.cookieAcceptPolicy = .never
        #expect(changes.withLock { $0 } == [names[0], names[0], names[1]])
    }

    @Test func cookiesAreSorted() {
        storage.setCookies(cookies("b=1, a=2, c=1"), for: url, mainDocumentURL: nil)
        let byValueThenName = [
            NSSortDescriptor(keyPath: \HTTPCookie.value, ascending: false),
            NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: true),
        ]
        #expect(storage.sortedCookies(using: byValueThenName).map(\.name) == ["a", "b", "c"])
    }

    @Test func manyTasksShareAStorage() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.jsonl")
            let storage = HTTPCookieStorage(file: file)
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for index in 0..<50 {
                            let lines = "t\(task)=\(index); Max-Age=1000, shared=\(index); Max-Age=1000"
                            storage.setCookies(cookies(lines), for: url, mainDocumentURL: nil)
                            _ = storage.cookies(for: url, mainDocumentURL: nil, method: "GET")
                        }
                    }
                }
            }
            await flush(storage)
            let reopened = HTTPCookieStorage(file: file)
            for storage in [storage, reopened] {
                #expect(storage.cookies?.count == 9)
                #expect(storage.cookies?.allSatisfy { $0.value == "49" || $0.name == "shared" } == true)
            }
        }
    }

    // MARK: the file

    @Test("[U-13.15] persistent cookies are in the file, with all attributes, readable by the owner only")
    func filesSurviveRestarts() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("deep/cookies.jsonl")
            let first = HTTPCookieStorage(file: file)
            let line =
                "a=1; Max-Age=1000; Secure; HttpOnly; SameSite=Strict; Path=/x; Domain=example.org; Port=\"443\""
            first.setCookies(cookies(line), for: url, mainDocumentURL: nil)
            first.setCookies(cookies("s=session"), for: url, mainDocumentURL: nil)
            first.setCookies(cookies("h=host; Max-Age=1000"), for: url, mainDocumentURL: nil)
            await flush(first)
            let second = HTTPCookieStorage(file: file)
            #expect(second.cookies?.map(\.name) == ["a", "h"])
            let cookie = try #require(second.cookies?.first)
            #expect(cookie.isSecure && cookie.isHTTPOnly && cookie.sameSitePolicy == .sameSiteStrict)
            #expect(cookie.domain == ".example.org" && cookie.path == "/x" && cookie.portList == [443])
            #expect(second.cookies?.last?.domain == "www.example.org")
            let written = try #require(first.cookies?.first?.expiresDate)
            #expect(abs(try #require(cookie.expiresDate).timeIntervalSince(written)) < 0.001)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
                    .count == 1)
        }
    }

    @Test(
        "[U-13.15] a storage without a file uses no disk; the shared one is in the user's data folder")
    func folders() {
        #expect(
            UserFolder.data(of: "p", environment: ["HOME": "/home/u"]).path == "/home/u/.local/share/p")
        #expect(UserFolder.data(of: "p", environment: ["XDG_DATA_HOME": "/d"]).path == "/d/p")
        #expect(
            UserFolder.data(of: "../p", environment: ["XDG_DATA_HOME": "d", "HOME": "/h"]).path
                == "/h/.local/share/.._p")
        #expect(UserFolder.cache(of: "p", environment: ["HOME": "/h"]).path == "/h/.cache/p")
        let storage = HTTPCookieStorage(file: nil)
        storage.setCookies(cookies("a=1; Max-Age=9"), for: url, mainDocumentURL: nil)
        #expect(!storage.hasFile)
    }

    @Test func aDamagedFileYieldsItsWholeLines() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.jsonl")
            let first = HTTPCookieStorage(file: file)
            first.setCookies(
                cookies("a=1; Max-Age=1000, b=2; Max-Age=1000, c=3; Max-Age=1000"), for: url,
                mainDocumentURL: nil)
            await flush(first)
            let whole = try Data(contentsOf: file)
            let lines = whole.split(separator: 0x0A)
            #expect(lines.count == 3)
            for cut in stride(from: 0, through: whole.count, by: 7) {
                try whole.prefix(cut).write(to: file)
                let complete = whole.prefix(cut).split(separator: 0x0A).filter { lines.contains($0) }.count
                #expect(HTTPCookieStorage(file: file).cookies?.count == complete, "cut at \(cut)")
            }
            var noise = Data([0xFF, 0x0A, 0x7B, 0x7D, 0x0A, 0x0A])
            noise.append(lines[1])
            try noise.write(to: file)
            #expect(HTTPCookieStorage(file: file).cookies?.map(\.name) == ["b"])
            let text = String(decoding: lines[0], as: UTF8.self)
            for (from, to) in [("\"a\"", "\"a;b\""), ("\"1\"", "\"x\\r\\ny\""), ("\"/dir\"", "\"dir\"")] {
                try Data(text.replacingOccurrences(of: from, with: to).utf8).write(to: file)
                #expect(HTTPCookieStorage(file: file).cookies == [], "\(to)")
            }
        }
    }

    @Test func anInterruptedWriteLeavesTheOldContent() async throws {
        try await withFolder { folder in
            let place = folder.appendingPathComponent("f")
            let file = AtomicFile(place)
            try file.replace(with: Data([1]))
            let draft = folder.appendingPathComponent(".f.draft-old")
            try Data([2]).write(to: draft)
            #expect(file.read(upTo: 1) == Data([1]))
            file.removeDrafts()
            #expect(FileManager.default.fileExists(atPath: draft.path))
            file.removeDrafts(at: Date().addingTimeInterval(601))
            #expect(!FileManager.default.fileExists(atPath: draft.path))
            try file.replace(with: Data([3, 4]))
            #expect(file.read(upTo: 2) == Data([3, 4]) && file.read(upTo: 1) == nil)
        }
    }

    @Test func anUnwritablePathIsAnError() throws {
        let file = AtomicFile(URL(fileURLWithPath: "/proc/self/none/f"))
        #expect(throws: (any Error).self) { try file.replace(with: Data()) }
        #expect(file.read(upTo: 10) == nil)
    }
}
