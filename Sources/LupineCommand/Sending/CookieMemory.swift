// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Cookies and header fields that outlive a request: of `-b FILE`, `-c FILE` and `--session NAME`. Without any of these
/// nothing is kept, as with curl.
///
/// Under a session each origin has cookies and fields of its own, and a request sees those of its URL's origin alone.
struct CookieMemory: Sendable {
    private struct Memory: Sendable {
        let session: UserSession
        let storage: HTTPCookieStorage
    }

    private let invocation: Invocation
    private let surroundings: Surroundings
    private let store: SessionStore?
    /// By origin; empty without a session.
    private let memories: [SessionOrigin: Memory]
    /// Where cookies of no session are kept; nil when they are not.
    private let common: HTTPCookieStorage?

    init(_ invocation: Invocation, _ surroundings: Surroundings) throws {
        self.invocation = invocation
        self.surroundings = surroundings
        let files = invocation.cookies.filter { !$0.contains("=") }
        let keeps = !files.isEmpty || invocation.cookieJar != nil || invocation.session != nil
        common = keeps ? Self.emptyStorage() : nil
        let store = invocation.session.map { SessionStore($0, surroundings) }
        self.store = store
        var memories: [SessionOrigin: Memory] = [:]
        for typed in invocation.urls {
            guard let store, let origin = SessionOrigin(try Address(typed).url()), memories[origin] == nil,
                let storage = Self.emptyStorage()
            else { continue }
            let session = try store.session(for: origin) { text in
                if !invocation.isSilent { surroundings.errors.say(text) }
            }
            for cookie in session.storedCookies { storage.setCookie(cookie) }
            memories[origin] = Memory(session: session, storage: storage)
        }
        self.memories = memories
        for file in files where !file.isEmpty {
            let data: Data
            do { data = try PrivateFile.read(surroundings.path(file)) } catch {
                throw CommandFailure.unreadable(file, error)
            }
            let cookies = NetscapeCookieFile.cookies(String(decoding: data, as: UTF8.self))
            for storage in storages { for cookie in cookies { storage.setCookie(cookie) } }
        }
    }

    private static func emptyStorage() -> HTTPCookieStorage? {
        URLSessionConfiguration.ephemeral.httpCookieStorage
    }

    private var storages: [HTTPCookieStorage] {
        memories.sorted { $0.key.text < $1.key.text }.map(\.value.storage) + [common].compactMap { $0 }
    }

    private func memory(for url: URL) -> Memory? { SessionOrigin(url).flatMap { memories[$0] } }

    /// Whether cookies are kept at all.
    var keepsCookies: Bool { common != nil }

    /// Where the cookies of a request to a URL are kept; nil when they are not.
    func storage(for url: URL) -> HTTPCookieStorage? { memory(for: url)?.storage ?? common }

    /// Fields that the session has kept for the origin of a URL.
    func headers(for url: URL) -> [(name: String, value: String)] {
        memory(for: url)?.session.headers.map { ($0.name, $0.value) } ?? []
    }

    /// Puts `-b a=b` where the other cookies are.
    func setGivenCookies(for url: URL) {
        guard let storage = storage(for: url), let host = url.host else { return }
        for text in invocation.cookies where text.contains("=") {
            for pair in text.split(separator: ";") {
                let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2 else { continue }
                let name = halves[0].trimmingCharacters(in: .whitespaces)
                let cookie = HTTPCookie(properties: [
                    .name: name, .value: String(halves[1]), .domain: host, .path: "/",
                ])
                if let cookie { storage.setCookie(cookie) }
            }
        }
    }

    /// Writes what is to be kept.
    func save() throws {
        if let jar = invocation.cookieJar {
            let text = NetscapeCookieFile.text(storages.flatMap { $0.cookies ?? [] })
            if jar == "-" {
                try surroundings.output.print("\(lines: text)")
            } else {
                do { try PrivateFile.write(Data(text.utf8), to: surroundings.path(jar)) } catch {
                    throw CommandFailure.unwritable(jar, error)
                }
            }
        }
        guard let store else { return }
        var headers: [(name: String, value: String)] = []
        try HeaderEdits(invocation, surroundings).apply(to: &headers)
        try store.keep(
            memories.mapValues { $0.session.updated(cookies: $0.storage.cookies ?? [], headers: headers) })
    }
}
