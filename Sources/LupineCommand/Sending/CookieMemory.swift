// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Cookies and header fields that outlive a request: of `-b FILE`, `-c FILE` and `--session NAME`. Without any of these
/// nothing is kept, as with curl.
struct CookieMemory: Sendable {
    /// Where cookies are kept; nil when they are not.
    let storage: HTTPCookieStorage?
    private let invocation: Invocation
    private let surroundings: Surroundings
    private let sessionPath: String?
    private let session: UserSession

    init(_ invocation: Invocation, _ surroundings: Surroundings) throws {
        self.invocation = invocation
        self.surroundings = surroundings
        let files = invocation.cookies.filter { !$0.contains("=") }
        let keeps = !files.isEmpty || invocation.cookieJar != nil || invocation.session != nil
        storage = keeps ? URLSessionConfiguration.ephemeral.httpCookieStorage : nil
        if let name = invocation.session {
            let host = try invocation.urls.first.map { try Address($0).url().host ?? "" } ?? ""
            let path = UserSession.path(name, host: host, surroundings)
            sessionPath = path
            session = try UserSession.read(path)
        } else {
            sessionPath = nil
            session = UserSession()
        }
        for cookie in session.storedCookies { storage?.setCookie(cookie) }
        for file in files where !file.isEmpty {
            guard
                let text = try? String(
                    contentsOf: URL(fileURLWithPath: surroundings.path(file)), encoding: .utf8)
            else { throw CommandFailure.unreadable(file, CocoaError(.fileReadNoSuchFile)) }
            for cookie in NetscapeCookieFile.cookies(text) { storage?.setCookie(cookie) }
        }
    }

    /// Fields that the session has kept.
    var headers: [(name: String, value: String)] { session.headers.map { ($0.name, $0.value) } }

    /// Puts `-b a=b` where the other cookies are.
    func setGivenCookies(for url: URL) {
        guard let storage, let host = url.host else { return }
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
    func save(_ plans: [RequestPlan]) throws {
        guard let storage else { return }
        let cookies = storage.cookies ?? []
        if let jar = invocation.cookieJar {
            let text = NetscapeCookieFile.text(cookies)
            if jar == "-" { return surroundings.output.say(text) }
            do { try PrivateFile.write(Data(text.utf8), to: surroundings.path(jar)) } catch {
                throw CommandFailure.unwritable(jar, error)
            }
        }
        if let sessionPath {
            let given = try HeaderEdits(invocation, surroundings)
            var headers: [(name: String, value: String)] = []
            given.apply(to: &headers)
            try session.updated(cookies: cookies, headers: headers).write(sessionPath)
        }
    }
}
