// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Cookies and header fields that outlive a request: those of `-b FILE`, `-c FILE` and `--session NAME`. Without any of these
/// nothing is kept, as with curl.
///
/// A session keeps separate cookies and fields for each origin; a request sees only those of its URL's origin.
struct CookieMemory: Sendable {
    private struct Memory: Sendable {
        let session: UserSession
        let storage: HTTPCookieStorage
    }

    private let invocation: Invocation
    private let context: ProcessContext
    private let store: SessionStore?
    /// By origin; empty without a session.
    private let memories: [SessionOrigin: Memory]
    /// The cookie storage used without a session; nil if cookies are not kept.
    private let common: HTTPCookieStorage?
    /// The cookies of `-b a=b`, each with the cookie of a file that it replaced.
    private var given: [(cookie: HTTPCookie, hidden: HTTPCookie?)] = []

    init(_ invocation: Invocation, _ context: ProcessContext) throws {
        self.invocation = invocation
        self.context = context
        let files = invocation.cookies.filter { !$0.contains("=") }
        let keeps = !files.isEmpty || invocation.cookieJar != nil || invocation.session != nil
        common = keeps ? Self.emptyStorage() : nil
        let store = invocation.session.map { SessionStore($0, context) }
        self.store = store
        var memories: [SessionOrigin: Memory] = [:]
        for typed in invocation.urls {
            guard let store,
                let origin = SessionOrigin(try Address(typed, scheme: invocation.defaultScheme).url()),
                memories[origin] == nil,
                let storage = Self.emptyStorage()
            else { continue }
            let session = try store.session(for: origin) { text in
                if !invocation.isSilent { context.errors.say(text) }
            }
            for cookie in session.storedCookies { storage.setCookie(cookie) }
            memories[origin] = Memory(session: session, storage: storage)
        }
        self.memories = memories
        for file in files where !file.isEmpty {
            let data: Data
            do { data = try PrivateFile.read(context.path(file)) } catch {
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

    /// Returns the cookie storage for requests to a URL; nil if cookies are not kept.
    func storage(for url: URL) -> HTTPCookieStorage? { memory(for: url)?.storage ?? common }

    /// Returns the header fields that the session has kept for the URL's origin.
    func headers(for url: URL) -> [(name: String, value: String)] {
        memory(for: url)?.session.headers.map { ($0.name, $0.value) } ?? []
    }

    /// Stores the cookies of `-b a=b`, restricted to the origins of these URLs: to their ports, and with `Secure` if all of the
    /// host's URLs are https.
    mutating func setGivenCookies(for urls: [URL]) {
        let pairs = invocation.cookies.filter { $0.contains("=") }.flatMap { $0.split(separator: ";") }
        guard !pairs.isEmpty else { return }
        var isSet: Set<String> = []
        for url in urls {
            guard let storage = storage(for: url), let host = url.host, let origin = SessionOrigin(url) else {
                continue
            }
            let origins = urls.filter { self.storage(for: $0) === storage }.compactMap { SessionOrigin($0) }
                .filter { $0.host == origin.host }
            // Several URLs of one host in one storage share one cookie.
            guard isSet.insert(store != nil ? origin.text : origin.host).inserted else { continue }
            for pair in pairs { set(pair, for: host, origins, in: storage) }
        }
    }

    private mutating func set(
        _ pair: Substring, for host: String, _ origins: [SessionOrigin], in storage: HTTPCookieStorage
    ) {
        let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return }
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: halves[0].trimmingCharacters(in: .whitespaces), .value: String(halves[1]), .domain: host,
            .path: "/", .port: Set(origins.map(\.port)).sorted().map(String.init).joined(separator: ","),
        ]
        if origins.allSatisfy({ $0.scheme == "https" }) { properties[.secure] = "TRUE" }
        guard let cookie = HTTPCookie(properties: properties) else { return }
        let before = storage.cookies?.first {
            $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
        }
        let hidden = before.flatMap { before in
            given.first { $0.cookie === before }.map(\.hidden) ?? before
        }
        storage.setCookie(cookie)
        given.append((cookie, hidden))
    }

    // MARK: writing

    /// Returns the cookies of a storage that are saved: none from the command line, none restricted to ports, which the file
    /// formats cannot express, and none of a server whose certificate was not checked.
    private func lasting(in storage: HTTPCookieStorage) -> (cookies: [HTTPCookie], hasOthers: Bool) {
        let all = storage.cookies ?? []
        let trusted = all.filter { !invocation.isInsecure || Self.isTrusted($0, in: storage) }
        let cookies = trusted.compactMap { cookie in
            guard let given = given.first(where: { $0.cookie === cookie }) else { return cookie }
            return given.hidden
        }
        return (cookies.filter { $0.portList == nil }, trusted.count < all.count)
    }

    /// Whether a storage sends the cookie over any connection. Cookies from unverified connections are kept apart and are not
    /// sent.
    private static func isTrusted(_ cookie: HTTPCookie, in storage: HTTPCookieStorage) -> Bool {
        var parts = URLComponents()
        parts.scheme = "https"
        let host = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
        parts.host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        parts.port = cookie.portList?.first?.intValue
        guard let root = parts.url, let url = URL(string: root.absoluteString + cookie.path) else {
            return false
        }
        return storage.cookies(for: url)?.contains { $0 === cookie } ?? false
    }

    /// Writes the cookie jar and the session.
    func save() throws {
        let store = invocation.savesSession ? store : nil
        let isKept = invocation.cookieJar != nil || store != nil
        let lasting = isKept ? storages.map(lasting) : []
        if !invocation.isSilent, lasting.contains(where: \.hasOthers) {
            context.errors.say(
                "lupine: cookies of a server that nobody has checked (-k) were for this run, and are not kept\n"
            )
        }
        if let jar = invocation.cookieJar {
            let text = NetscapeCookieFile.text(lasting.flatMap(\.cookies))
            if jar == "-" {
                try context.output.print("\(lines: text)")
            } else {
                do { try PrivateFile.write(Data(text.utf8), to: context.path(jar)) } catch {
                    throw CommandFailure.unwritable(jar, error)
                }
            }
        }
        guard let store else { return }
        var headers: [(name: String, value: String)] = []
        try HeaderEdits(invocation, context).apply(to: &headers)
        try store.save(
            memories.mapValues {
                $0.session.updated(cookies: self.lasting(in: $0.storage).cookies, headers: headers)
            })
    }
}
