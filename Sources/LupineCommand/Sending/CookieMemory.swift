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
    private let context: ProcessContext
    private let store: SessionStore?
    /// By origin; empty without a session.
    private let memories: [SessionOrigin: Memory]
    /// Where cookies of no session are kept; nil when they are not.
    private let common: HTTPCookieStorage?
    /// The cookies of `-b a=b`, each with the one of a file that it hides.
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

    /// Where the cookies of a request to a URL are kept; nil when they are not.
    func storage(for url: URL) -> HTTPCookieStorage? { memory(for: url)?.storage ?? common }

    /// Fields that the session has kept for the origin of a URL.
    func headers(for url: URL) -> [(name: String, value: String)] {
        memory(for: url)?.session.headers.map { ($0.name, $0.value) } ?? []
    }

    /// Puts `-b a=b` where the other cookies are, for the origins of these URLs alone: their ports, and, where all of a host's are
    /// https, with `Secure`.
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
            // Of several addresses of a host in one storage, each cookie is one.
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

    /// The cookies of a storage that are written down: none that was given on the command line, none that is for certain ports,
    /// which the files have no word for, and none of a server that nobody has checked.
    private func lasting(in storage: HTTPCookieStorage) -> (cookies: [HTTPCookie], hasOthers: Bool) {
        let all = storage.cookies ?? []
        let trusted = all.filter { !invocation.isInsecure || Self.isTrusted($0, in: storage) }
        let cookies = trusted.compactMap { cookie in
            guard let given = given.first(where: { $0.cookie === cookie }) else { return cookie }
            return given.hidden
        }
        return (cookies.filter { $0.portList == nil }, trusted.count < all.count)
    }

    /// Whether a storage gives a cookie to everyone. What came over connections that nobody has checked it does not.
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

    /// Writes what is to be kept.
    func save() throws {
        let store = invocation.sessionIsKept ? store : nil
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
        try store.keep(
            memories.mapValues {
                $0.session.updated(cookies: self.lasting(in: $0.storage).cookies, headers: headers)
            })
    }
}
