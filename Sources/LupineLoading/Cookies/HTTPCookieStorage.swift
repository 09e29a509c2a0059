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
/// Any thread may use it. `CookieJar` decides what is kept and sent, `CookieAdmission` what is accepted from a response. A file
/// is read once, when the storage is created; after changes it is written as a whole, on the storage's own queue. Two processes
/// can share a file without damage, but the last writer wins.
public final class HTTPCookieStorage: NSObject, Sendable {
    fileprivate struct State {
        var jar: CookieJar
        /// Cookies received over unchecked connections, separately for each judge that accepted one (its delegates or evaluator);
        /// the judge with the latest change is last.
        var apart: [(judge: TrustJudge, jar: CookieJar)] = []
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

    /// Creates a storage with a file, or in memory only.
    package init(file url: URL?) {
        file = url.map { CookieFile($0) }
        var jar = CookieJar()
        let now = Date()
        for (cookie, created) in file?.read() ?? [] { jar.store(cookie, at: now, created: created) }
        state = Lock(State(jar: jar))
    }

    // MARK: what is stored

    /// All unexpired cookies, the oldest first.
    public var cookies: [HTTPCookie]? {
        let now = Date()
        return state.withLock { state in
            state.jar.entries(at: now) + state.apart.flatMap { $0.jar.entries(at: now) }
        }.map(\.cookie)
    }

    /// Whether there are no cookies, not even expired ones.
    package var isEmpty: Bool { state.withLock { $0.jar.count == 0 && $0.apart.isEmpty } }

    /// Whether cookies of unchecked connections are stored.
    var hasSomeApart: Bool { state.withLock { !$0.apart.isEmpty } }

    /// The number of judges whose cookies are kept; the one with the oldest change is dropped first.
    private static let judgeLimit = 16

    /// The cookies that `setCookies(_:for:mainDocumentURL:)` accepts; `never` also stops `setCookie(_:)`.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set {
            let isNew = state.withLock { state in
                defer { state.policy = newValue }
                return state.policy != newValue
            }
            if isNew { post(.NSHTTPCookieManagerAcceptPolicyChanged) }
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
            let isGone = state.jar.remove(cookie)
            return state.changeApart { $0.remove(cookie) } || isGone
        }
    }

    /// Removes the cookies that were first stored at this time or later.
    public func removeCookies(since date: Date) {
        change { state in
            let areGone = state.jar.remove(since: date)
            return state.changeApart { $0.remove(since: date) } || areGone
        }
    }

    /// Returns the cookies for a request to this address, in the order to be sent, without those received over unchecked
    /// connections.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = Date()
        return state.withLock { $0.jar.cookies(for: origin, at: now) }
    }

    /// Returns the cookies for a request, in the order to be sent (U-13.14). `SameSite` cookies are left out if the main document
    /// is of another site.
    ///
    /// - Parameters:
    ///   - url: The address of the request.
    ///   - mainDocumentURL: The page that the request is made for; nil for none.
    ///   - method: The method of the request.
    ///   - judge: The delegates or evaluator that decide about the request's connection. Cookies received over unchecked
    ///     connections that the same judge accepted replace others of the same name, domain and path.
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
            guard let judge, let index = state.apart.firstIndex(where: { $0.judge == judge }) else {
                return cookies
            }
            let own = state.apart[index].jar.cookies(for: origin, at: now, where: isWanted)
            let others = cookies.filter { cookie in
                !own.contains { CookieJar.isSame($0, cookie) }
            }
            return own + others
        }
    }

    private static func isSameSite(_ origin: CookieOrigin, _ mainDocumentURL: URL?) -> Bool {
        guard let main = mainDocumentURL.flatMap({ CookieOrigin($0) }) else { return true }
        let suffixes = PublicSuffixList.system
        return suffixes.registrableDomain(of: main.host) == suffixes.registrableDomain(of: origin.host)
    }

    /// Stores the cookies that a response from `url` set, if the accept policy and the domain rules allow it.
    ///
    /// Without an address the rules cannot be applied: the cookies are stored as by `setCookie(_:)`.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        setCookies(cookies, for: url, mainDocumentURL: mainDocumentURL, at: Date())
    }

    /// Does the same with the given date.
    package func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?, at now: Date) {
        store(cookies, from: url, mainDocumentURL: mainDocumentURL, policy: cookieAcceptPolicy, at: now)
    }

    /// Stores the cookies that a response set, under the policy of a session's configuration.
    ///
    /// - Parameters:
    ///   - cookies: The cookies of the response.
    ///   - url: The address of the response; nil if it is not known.
    ///   - mainDocumentURL: The page that the request was made for; nil for none.
    ///   - policy: The cookies that are accepted.
    ///   - judge: The judge that accepted the connection although its peer passed no check; nil if it passed one. With a judge,
    ///     the cookies are only used for requests under the same judge, and never written to disk.
    ///   - now: The session's date.
    func store(
        _ cookies: [HTTPCookie], from url: URL?, mainDocumentURL: URL?, policy: HTTPCookie.AcceptPolicy,
        apartFor judge: TrustJudge? = nil, at now: Date = Date()
    ) {
        guard !cookies.isEmpty, policy != .never else { return }
        guard let url else {
            return change { state in
                cookies.reduce(false) { state.jar.store($1, at: now) || $0 }
            }
        }
        guard let origin = CookieOrigin(url) else { return }
        let main = mainDocumentURL.flatMap { CookieOrigin($0) }?.host
        let admission = CookieAdmission(origin: origin, mainDocumentHost: main, policy: policy)
        guard admission.isWanted else { return }
        let admitted = cookies.compactMap(admission.admitted)
        if let judge {
            return change(isWritten: false) {
                $0.keep(admitted, apartFor: judge, upTo: Self.judgeLimit, at: now)
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

    private func change(isWritten: Bool = true, _ body: (inout State) -> Bool) {
        // Judges are released outside of the lock, because an evaluator may be the program's object.
        let (hasChanged, _) = state.withLock { state in
            let judges = state.apart.map(\.judge)
            return (body(&state), judges)
        }
        guard hasChanged else { return }
        if isWritten { scheduleWrite() }
        post(.NSHTTPCookieManagerCookiesChanged)
    }

    private func post(_ name: NSNotification.Name) {
        assertNoLockIsHeld()
        // Responses arrive on event loops, and the program's observers may block (O-7).
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
    /// Stores cookies for requests under one judge only.
    fileprivate mutating func keep(
        _ cookies: [HTTPCookie], apartFor judge: TrustJudge, upTo limit: Int, at now: Date
    ) -> Bool {
        let index = apart.firstIndex { $0.judge == judge }
        var jar = index.map { apart.remove(at: $0).jar } ?? CookieJar()
        let hasChanged = cookies.reduce(false) { jar.store($1, at: now) || $0 }
        if jar.count > 0 { apart.append((judge, jar)) }
        if apart.count > limit { apart.removeFirst() }
        return hasChanged
    }

    /// Changes the jars of unchecked connections, and removes those that have become empty.
    fileprivate mutating func changeApart(_ body: (inout CookieJar) -> Bool) -> Bool {
        var hasChanged = false
        for index in apart.indices where body(&apart[index].jar) { hasChanged = true }
        apart.removeAll { $0.jar.count == 0 }
        return hasChanged
    }
}
