// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
internal import LupineTransport

extension NSNotification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Posted when the cookies of a storage, the notification's object, have changed: on the thread of the program's call, or,
    /// after a change by a response, on a global queue.
    public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Posted when the accept policy of a storage, the notification's object, has changed.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = NSNotification.Name(
        "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

/// Keeps cookies between responses and requests: in memory, and in a file if the storage has one.
///
/// Any thread may use a storage. `CookieJar` decides which cookies are kept and sent, `CookieAdmission` which are accepted from a
/// response. A storage reads its file once, when it is created; after changes it writes the whole file, on a queue that only the
/// storage uses. Two processes can share a file without damage, but the last writer wins.
public final class HTTPCookieStorage: NSObject, Sendable {
    fileprivate struct State {
        var jar: CookieJar
        /// The cookies received over connections whose peer passed no check (U-13.17), separately for each judge that accepted
        /// such a connection. The judge with the latest change is last.
        var uncheckedJars: [(judge: TrustJudge, jar: CookieJar)] = []
        var policy = HTTPCookie.AcceptPolicy.always
        var writeIsScheduled = false
    }

    private let state: Lock<State>
    private let file: CookieFile?
    /// Whether the storage has a file.
    var hasFile: Bool { file != nil }
    private let queue = DispatchQueue(label: "lupine.cookies", qos: .utility)

    /// The storage of the process, in the user's data folder under the program's name.
    public static let shared = HTTPCookieStorage(
        file: UserFolder.data().appendingPathComponent("cookies.jsonl"))

    private static let groups = Lock<[String: HTTPCookieStorage]>([:])

    /// Returns the storage with this name, which the user's other programs can share. A process has one storage for each name.
    public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage
    {
        groups.withLock { groups in
            if let storage = groups[identifier] { return storage }
            let folder = UserFolder.data(of: identifier)
            let storage = HTTPCookieStorage(file: folder.appendingPathComponent("cookies.jsonl"))
            groups[identifier] = storage
            return storage
        }
    }

    /// Creates a storage with a file at this URL, or in memory only.
    package init(file url: URL?) {
        file = url.map { CookieFile($0) }
        var jar = CookieJar()
        let now = Date()
        for (cookie, created) in file?.read() ?? [] { jar.store(cookie, at: now, created: created) }
        state = Lock(State(jar: jar))
    }

    // MARK: cookies

    /// All unexpired cookies, the oldest first.
    public var cookies: [HTTPCookie]? {
        let now = Date()
        return state.withLock { state in
            state.jar.entries(at: now) + state.uncheckedJars.flatMap { $0.jar.entries(at: now) }
        }.map(\.cookie)
    }

    /// Whether there are no cookies, not even expired ones.
    package var isEmpty: Bool { state.withLock { $0.jar.count == 0 && $0.uncheckedJars.isEmpty } }

    /// Whether the storage has cookies received over unchecked connections.
    var hasUncheckedCookies: Bool { state.withLock { !$0.uncheckedJars.isEmpty } }

    /// The most judges whose cookies are kept; beyond it, the jar with the oldest change is dropped.
    private static let judgeLimit = 16

    /// The cookies that `setCookies(_:for:mainDocumentURL:)` accepts; `never` also stops `setCookie(_:)`.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set {
            let hasChanged = state.withLock { state in
                defer { state.policy = newValue }
                return state.policy != newValue
            }
            if hasChanged { post(.NSHTTPCookieManagerAcceptPolicyChanged) }
        }
    }

    /// Stores a cookie, replacing the one with the same name, domain and path. An expired cookie only removes that one.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = Date()
        change { state in state.policy != .never && state.jar.store(cookie, at: now) }
    }

    /// Removes the cookie with the same name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        change { state in
            let wasRemoved = state.jar.remove(cookie)
            return state.changeUncheckedJars { $0.remove(cookie) } || wasRemoved
        }
    }

    /// Removes the cookies that were first stored at this time or later.
    public func removeCookies(since date: Date) {
        change { state in
            let wereRemoved = state.jar.remove(since: date)
            return state.changeUncheckedJars { $0.remove(since: date) } || wereRemoved
        }
    }

    /// Returns the cookies for a request to this URL, in the order of the `Cookie` field, without those received over unchecked
    /// connections.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = Date()
        return state.withLock { $0.jar.cookies(for: origin, at: now) }
    }

    /// Returns the cookies for a request, in the order of the `Cookie` field (U-13.14), without `SameSite` cookies if the main
    /// document is of another site.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - mainDocumentURL: The page for which the request is made; nil for none.
    ///   - method: The method of the request.
    ///   - judge: The delegates or evaluator that decide about the request's connection. The cookies received over unchecked
    ///     connections that this judge accepted are returned in place of others of the same name, domain and path.
    ///   - now: The session's date.
    func cookies(
        for url: URL, mainDocumentURL: URL?, method: String, of judge: TrustJudge? = nil,
        at now: Date = Date()
    ) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        let isSameSite = Self.isSameSite(origin, mainDocumentURL)
        let isSafe = method == "GET" || method == "HEAD"
        let isWanted = { (cookie: HTTPCookie) in
            if isSameSite { return true }
            switch cookie.sameSitePolicy {
            case .sameSiteStrict?: return false
            case .sameSiteLax?: return isSafe
            default: return true
            }
        }
        return state.withLock { state in
            let cookies = state.jar.cookies(for: origin, at: now, where: isWanted)
            guard let judge, let index = state.uncheckedJars.firstIndex(where: { $0.judge == judge }) else {
                return cookies
            }
            let unchecked = state.uncheckedJars[index].jar.cookies(for: origin, at: now, where: isWanted)
            let others = cookies.filter { cookie in
                !unchecked.contains { CookieJar.isSame($0, cookie) }
            }
            return unchecked + others
        }
    }

    private static func isSameSite(_ origin: CookieOrigin, _ mainDocumentURL: URL?) -> Bool {
        guard let main = mainDocumentURL.flatMap({ CookieOrigin($0) }) else { return true }
        let suffixes = PublicSuffixList.system
        return suffixes.registrableDomain(of: main.host) == suffixes.registrableDomain(of: origin.host)
    }

    /// Stores the cookies that a response from `url` set, if the accept policy and the domain rules allow it.
    ///
    /// Without a URL no rule can be applied: the cookies are stored as by `setCookie(_:)`.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        setCookies(cookies, for: url, mainDocumentURL: mainDocumentURL, at: Date())
    }

    /// Does the same as `setCookies(_:for:mainDocumentURL:)` at the given date.
    package func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?, at now: Date) {
        store(cookies, from: url, mainDocumentURL: mainDocumentURL, policy: cookieAcceptPolicy, at: now)
    }

    /// Stores the cookies that a response set, under the policy of a session's configuration.
    ///
    /// - Parameters:
    ///   - cookies: The cookies of the response.
    ///   - url: The URL of the response; nil if it is not known.
    ///   - mainDocumentURL: The page for which the request was made; nil for none.
    ///   - policy: The accept policy of the configuration.
    ///   - judge: The judge that accepted the connection although its peer passed no check; nil if the peer passed one. With a
    ///     judge, the cookies are sent only with requests under the same judge, and never written to disk.
    ///   - now: The session's date.
    func store(
        _ cookies: [HTTPCookie], from url: URL?, mainDocumentURL: URL?, policy: HTTPCookie.AcceptPolicy,
        onlyFor judge: TrustJudge? = nil, at now: Date = Date()
    ) {
        guard !cookies.isEmpty, policy != .never else { return }
        guard let url else {
            // `store` comes first in `||`, here and below, so that every cookie is stored.
            return change { state in
                cookies.reduce(false) { state.jar.store($1, at: now) || $0 }
            }
        }
        guard let origin = CookieOrigin(url) else { return }
        let main = mainDocumentURL.flatMap { CookieOrigin($0) }?.host
        let admission = CookieAdmission(origin: origin, mainDocumentHost: main, policy: policy)
        guard admission.acceptsCookies else { return }
        let admitted = cookies.compactMap(admission.admitted)
        if let judge {
            return change(writesFile: false) {
                $0.store(admitted, onlyFor: judge, upTo: Self.judgeLimit, at: now)
            }
        }
        change { state in
            admitted.reduce(false) { state.jar.store($1, isSecure: origin.isSecure, at: now) || $0 }
        }
    }

    /// Returns all cookies, sorted by the descriptors.
    public func sortedCookies(using sortOrder: [NSSortDescriptor]) -> [HTTPCookie] {
        (cookies ?? []).sorted { left, right in
            for descriptor in sortOrder {
                switch descriptor.compare(left, to: right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    /// The number of cookies.
    public override var description: String {
        "<HTTPCookieStorage of \(state.withLock { $0.jar.count }) cookies>"
    }

    // MARK: changes

    /// Changes the state; `body` returns whether it changed any cookies. If so, schedules a write and posts the notification.
    private func change(writesFile: Bool = true, _ body: (inout State) -> Bool) {
        // The judges are returned, so that dropped ones are released outside of the lock: an evaluator may be the program's
        // object, whose `deinit` runs its code.
        let (hasChanged, _) = state.withLock { state in
            let judges = state.uncheckedJars.map(\.judge)
            return (body(&state), judges)
        }
        guard hasChanged else { return }
        if writesFile { scheduleWrite() }
        post(.NSHTTPCookieManagerCookiesChanged)
    }

    private func post(_ name: NSNotification.Name) {
        assertNoLockIsHeld()
        // A response changes cookies on an event loop, which the program's observers must not block (O-7).
        guard EventLoop.current != nil else {
            return NotificationCenter.default.post(name: name, object: self)
        }
        DispatchQueue.global().async { [self] in
            NotificationCenter.default.post(name: name, object: self)
        }
    }

    private func scheduleWrite() {
        guard let file else { return }
        let wasScheduled = state.withLock { state in
            defer { state.writeIsScheduled = true }
            return state.writeIsScheduled
        }
        if wasScheduled { return }
        queue.async { [self] in
            let now = Date()
            let entries = state.withLock { state in
                state.writeIsScheduled = false
                return state.jar.entries(at: now)
            }
            // A failed write only means that cookies are missing after the next start.
            try? file.write(entries)
        }
    }

    /// Calls `completion` on the storage's queue when all earlier changes are written to the file.
    package func flush(_ completion: @escaping @Sendable () -> Void) { queue.async(execute: completion) }
}

extension HTTPCookieStorage.State {
    /// Stores cookies that are sent only with requests under one judge. Returns whether any cookie changed.
    fileprivate mutating func store(
        _ cookies: [HTTPCookie], onlyFor judge: TrustJudge, upTo limit: Int, at now: Date
    ) -> Bool {
        let index = uncheckedJars.firstIndex { $0.judge == judge }
        var jar = index.map { uncheckedJars.remove(at: $0).jar } ?? CookieJar()
        let hasChanged = cookies.reduce(false) { jar.store($1, at: now) || $0 }
        if jar.count > 0 { uncheckedJars.append((judge, jar)) }
        if uncheckedJars.count > limit { uncheckedJars.removeFirst() }
        return hasChanged
    }

    /// Changes the jars of unchecked connections, and removes empty ones. Returns whether `body` did for any jar.
    fileprivate mutating func changeUncheckedJars(_ body: (inout CookieJar) -> Bool) -> Bool {
        var hasChanged = false
        for index in uncheckedJars.indices where body(&uncheckedJars[index].jar) { hasChanged = true }
        uncheckedJars.removeAll { $0.jar.count == 0 }
        return hasChanged
    }
}
