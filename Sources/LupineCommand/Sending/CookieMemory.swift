// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The cookies and header fields that outlive a request, and the files that store them: the files of `-b FILE`, `-c FILE` and
/// `--session NAME`. Without any of these options nothing is kept, as with curl.
///
/// A session (`--session`) keeps separate cookies and fields for each origin, and a request gets only what its URL's origin has.
struct CookieMemory: Sendable {
    /// What a session keeps for one origin.
    private struct OriginMemory: Sendable {
        let session: UserSession
        let storage: HTTPCookieStorage
    }

    private let invocation: Invocation
    private let context: ProcessContext
    private let store: SessionStore?
    /// What the session keeps for each origin; empty without a session.
    private let memories: [SessionOrigin: OriginMemory]
    /// The cookie storage for URLs without a session; nil if cookies are not kept.
    private let sharedStorage: HTTPCookieStorage?
    /// The cookies of `-b a=b`, each with the cookie of a file that it has replaced in the storage.
    private var commandLineCookies: [(cookie: HTTPCookie, fileCookie: HTTPCookie?)] = []

    /// Reads the files of the options. Throws if one of them cannot be read.
    init(_ invocation: Invocation, _ context: ProcessContext) throws {
        self.invocation = invocation
        self.context = context
        // The argument of `-b` is a file name unless it has an equals sign.
        let files = invocation.cookies.filter { !$0.contains("=") }
        let keepsCookies = !files.isEmpty || invocation.cookieJar != nil || invocation.userSessionName != nil
        sharedStorage = keepsCookies ? Self.emptyStorage() : nil
        let store = invocation.userSessionName.map { SessionStore($0, context) }
        self.store = store
        var memories: [SessionOrigin: OriginMemory] = [:]
        for typedURL in invocation.urls {
            // Only a URL of HTTP or of a web socket has an origin. URLs of one origin share what the session keeps.
            guard let store,
                let origin = SessionOrigin(try Address(typedURL, scheme: invocation.defaultScheme).url()),
                memories[origin] == nil,
                let storage = Self.emptyStorage()
            else { continue }
            // The closure prints a warning: the session was in a file of the old format.
            let session = try store.session(for: origin) { text in
                if !invocation.isSilent { context.errors.say(text) }
            }
            for cookie in session.storedCookies { storage.setCookie(cookie) }
            memories[origin] = OriginMemory(session: session, storage: storage)
        }
        self.memories = memories
        // `-b ""` names no file: it only asks for cookies to be kept.
        for file in files where !file.isEmpty {
            let data: Data
            do { data = try PrivateFile.read(context.path(file)) } catch {
                throw CommandFailure.unreadable(file, error)
            }
            let cookies = NetscapeCookieFile.cookies(String(decoding: data, as: UTF8.self))
            for storage in storages { for cookie in cookies { storage.setCookie(cookie) } }
        }
    }

    /// Returns a new storage in memory.
    private static func emptyStorage() -> HTTPCookieStorage? {
        URLSessionConfiguration.ephemeral.httpCookieStorage
    }

    /// All storages, in a fixed order.
    private var storages: [HTTPCookieStorage] {
        memories.sorted { $0.key.text < $1.key.text }.map(\.value.storage)
            + [sharedStorage].compactMap { $0 }
    }

    /// Returns what the session keeps for the URL's origin; nil without a session.
    private func memory(for url: URL) -> OriginMemory? { SessionOrigin(url).flatMap { memories[$0] } }

    /// Whether the options ask for cookies to be kept.
    var keepsCookies: Bool { sharedStorage != nil }

    /// Returns the cookie storage for requests to a URL; nil if cookies are not kept.
    func storage(for url: URL) -> HTTPCookieStorage? { memory(for: url)?.storage ?? sharedStorage }

    /// Returns the header fields that the session has kept for the URL's origin.
    func headers(for url: URL) -> [(name: String, value: String)] {
        memory(for: url)?.session.headers.map { ($0.name, $0.value) } ?? []
    }

    /// Adds the cookies of `-b a=b` to the storages, for the hosts of these URLs.
    ///
    /// A cookie is sent only to the ports of its host's URLs, and only over https if all of these URLs are https.
    mutating func addCommandLineCookies(for urls: [URL]) {
        let pairs = invocation.cookies.filter { $0.contains("=") }.flatMap { $0.split(separator: ";") }
        guard !pairs.isEmpty else { return }
        // The origins, or without a session the hosts, that have the cookies already.
        var servedOrigins: Set<String> = []
        for url in urls {
            guard let storage = storage(for: url), let host = url.host, let origin = SessionOrigin(url) else {
                continue
            }
            // The origins of the same host whose cookies are in the same storage.
            let origins = urls.filter { self.storage(for: $0) === storage }.compactMap { SessionOrigin($0) }
                .filter { $0.host == origin.host }
            // Without a session, all URLs of a host use one storage and so share its cookies.
            guard servedOrigins.insert(store != nil ? origin.text : origin.host).inserted else { continue }
            for pair in pairs { addCookie(pair, for: host, origins, in: storage) }
        }
    }

    /// Adds the cookie of a `name=value` pair to a storage, for the ports of these origins of the host.
    private mutating func addCookie(
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
        var fileCookie = storage.cookies?.first {
            $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
        }
        // If a name occurs twice on the command line, the second cookie replaces the first, and inherits its file's cookie.
        if let earlier = commandLineCookies.first(where: { $0.cookie === fileCookie }) {
            fileCookie = earlier.fileCookie
        }
        storage.setCookie(cookie)
        commandLineCookies.append((cookie, fileCookie))
    }

    // MARK: writing

    /// Returns the cookies of a storage that are saved, and whether the storage has cookies of untrusted servers.
    ///
    /// Three kinds of cookies are not saved:
    ///
    /// - cookies of servers whose certificate was not checked
    /// - cookies of the command line
    /// - cookies that are restricted to ports, which the file formats cannot express
    private func savedCookies(in storage: HTTPCookieStorage) -> (cookies: [HTTPCookie], hasUntrusted: Bool) {
        let all = storage.cookies ?? []
        // Without `-k`, every server was checked.
        let trusted = all.filter { !invocation.isInsecure || Self.isTrusted($0, in: storage) }
        let cookies = trusted.compactMap { cookie in
            guard let entry = commandLineCookies.first(where: { $0.cookie === cookie }) else {
                return cookie
            }
            // The cookie of the file is saved again in place of the one that replaced it.
            return entry.fileCookie
        }
        return (cookies.filter { $0.portList == nil }, trusted.count < all.count)
    }

    /// Whether a cookie was received over a trusted connection. The storage keeps cookies of untrusted connections apart and does
    /// not return them for a URL.
    private static func isTrusted(_ cookie: HTTPCookie, in storage: HTTPCookieStorage) -> Bool {
        var components = URLComponents()
        components.scheme = "https"
        let host = cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
        components.host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        // The storage returns the cookie for any of its ports; nil if the cookie has no list of ports.
        components.port = cookie.portList?.first?.intValue
        // The storage compares a cookie's path with the path of the request line, so the path is not encoded again.
        guard let rootURL = components.url, let url = URL(string: rootURL.absoluteString + cookie.path) else {
            return false
        }
        return storage.cookies(for: url)?.contains { $0 === cookie } ?? false
    }

    /// Writes the cookie jar and the session, as far as the options ask for them.
    func save() throws {
        // With `--session-read-only`, the session is used and not written.
        let store = invocation.savesSession ? store : nil
        let savesCookies = invocation.cookieJar != nil || store != nil
        let cookieSets = savesCookies ? storages.map(savedCookies) : []
        if !invocation.isSilent, cookieSets.contains(where: \.hasUntrusted) {
            context.errors.say(
                "lupine: cookies of a server that nobody has checked (-k) were for this run, and are not kept\n"
            )
        }
        if let jar = invocation.cookieJar {
            let text = NetscapeCookieFile.text(cookieSets.flatMap(\.cookies))
            if jar == "-" {
                // `lines:` keeps the line ends of text that is filtered for a terminal.
                try context.output.print("\(lines: text)")
            } else {
                do { try PrivateFile.write(Data(text.utf8), to: context.path(jar)) } catch {
                    throw CommandFailure.unwritable(jar, error)
                }
            }
        }
        guard let store else { return }
        // The session also keeps the header fields of the command line.
        var headers: [(name: String, value: String)] = []
        try HeaderEdits(invocation, context).apply(to: &headers)
        try store.save(
            memories.mapValues {
                $0.session.updated(cookies: savedCookies(in: $0.storage).cookies, headers: headers)
            })
    }
}
