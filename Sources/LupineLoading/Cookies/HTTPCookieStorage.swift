// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
internal import LupineTransport

extension NSNotification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The cookies of the storage that is the object have changed. Posted on the thread of the program's that changed them; what
    /// a response has changed is told on a queue of the system's, after the change.
    public static let NSHTTPCookieManagerCookiesChanged = NSNotification.Name(
        "NSHTTPCookieManagerCookiesChangedNotification")
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The accept policy of the storage that is the object has changed.
    public static let NSHTTPCookieManagerAcceptPolicyChanged = NSNotification.Name(
        "NSHTTPCookieManagerAcceptPolicyChangedNotification")
}

/// Where cookies are kept between responses and requests: in memory, and for a storage with a file also there.
///
/// Any thread may use it. What it keeps and gives out is `CookieJar`'s to say, what it takes from a response
/// `CookieAdmission`'s. A file is read once, when the storage is made; it is written on a queue of the storage's own, as a
/// whole, after changes. Two processes with one file do not harm it, but the last one to write wins.
public final class HTTPCookieStorage: NSObject, Sendable {
    fileprivate struct State {
        var jar: CookieJar
        /// What came over connections that nobody has checked, each judge's for itself; the judge of the last change last.
        var apart: [(judge: TrustJudge, jar: CookieJar)] = []
        var policy = HTTPCookie.AcceptPolicy.always
        var writeIsScheduled = false
    }

    private let state: Lock<State>
    private let file: CookieFile?
    /// Whether anything is ever written.
    var hasFile: Bool { file != nil }
    private let queue = DispatchQueue(label: "lupine.cookies", qos: .utility)

    /// The storage of the process, kept in the user's data folder under the program's name.
    public static let shared = HTTPCookieStorage(
        file: UserFolder.data().appendingPathComponent("cookies.jsonl"))

    private static let groups = Lock<[String: HTTPCookieStorage]>([:])

    /// The storage of that name, which other programs of the user can share: one for each name in a process.
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

    /// A storage with a file, or in memory only.
    package init(file url: URL?) {
        file = url.map { CookieFile($0) }
        var jar = CookieJar()
        let now = Date()
        for (cookie, created) in file?.read() ?? [] { jar.store(cookie, at: now, created: created) }
        state = Lock(State(jar: jar))
    }

    // MARK: what is stored

    /// All cookies that have not ended, the oldest first.
    public var cookies: [HTTPCookie]? {
        let now = Date()
        return state.withLock { state in
            state.jar.entries(at: now) + state.apart.flatMap { $0.jar.entries(at: now) }
        }.map(\.cookie)
    }

    /// Whether there is no cookie, ended or not.
    package var isEmpty: Bool { state.withLock { $0.jar.count == 0 && $0.apart.isEmpty } }

    /// Whether some are kept apart.
    var hasSomeApart: Bool { state.withLock { !$0.apart.isEmpty } }

    /// How many judges' cookies are kept; those of the one that has had no news for the longest time go first.
    private static let judgeLimit = 16

    /// Which cookies `setCookies(_:for:mainDocumentURL:)` takes; `never` also stops `setCookie(_:)`.
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

    /// Stores a cookie in place of the one of its name, domain and path. One that has ended only removes that one.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = Date()
        change { state in state.policy != .never && state.jar.store(cookie, at: now) }
    }

    /// Removes the cookie of that name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        change { state in
            let isGone = state.jar.remove(cookie)
            return state.changeApart { $0.remove(cookie) } || isGone
        }
    }

    /// Removes the cookies that were first stored at that time or later.
    public func removeCookies(since date: Date) {
        change { state in
            let areGone = state.jar.remove(since: date)
            return state.changeApart { $0.remove(since: date) } || areGone
        }
    }

    /// The cookies for a request to that address, as they are to be sent; without those that came over a connection that
    /// nobody has checked.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = Date()
        return state.withLock { $0.jar.cookies(for: origin, at: now) }
    }

    /// The cookies for a request, as they are to be sent (U-13.14): those that are only for their own site are left out
    /// when the main document is from another.
    ///
    /// - Parameters:
    ///   - url: The address that is asked.
    ///   - mainDocumentURL: The page that the request is made for; nil for none.
    ///   - method: The request's.
    ///   - judge: Under whom the request's connection is accepted: what came over connections that it has accepted unseen takes the
    ///     place of others of the same name, domain and path.
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

    /// Stores what a response from `url` set, as far as the accept policy and the rules for domains allow.
    ///
    /// Without an address there is nothing to compare the cookies with: they are stored as by `setCookie(_:)`.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        setCookies(cookies, for: url, mainDocumentURL: mainDocumentURL, at: Date())
    }

    /// The same at another date than the machine's.
    package func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?, at now: Date) {
        store(cookies, from: url, mainDocumentURL: mainDocumentURL, policy: cookieAcceptPolicy, at: now)
    }

    /// Stores what a response set, under the policy of a session's configuration.
    ///
    /// - Parameters:
    ///   - cookies: What it set.
    ///   - url: The address that it came from; nil where that is not known.
    ///   - mainDocumentURL: The page that its request was made for; nil for none.
    ///   - policy: Which of them are taken.
    ///   - judge: Who has accepted the connection although its peer has passed no check; nil where it has. With a judge the
    ///     cookies are kept for requests under the same judge, and never on the disk.
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

    /// All cookies in the order that the descriptors give.
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

    /// How many cookies there are.
    public override var description: String {
        "<HTTPCookieStorage of \(state.withLock { $0.jar.count }) cookies>"
    }

    // MARK: changes

    private func change(isWritten: Bool = true, _ body: (inout State) -> Bool) {
        // Judges go away outside of the lock: an evaluator may be the program's.
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
        // Responses come on loops, and observers are the program's: they may block (O-7).
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
            // A disk that cannot be written to costs the next start its cookies, and this one nothing.
            try? file.write(entries)
        }
    }

    /// Calls `completion` on a queue of the storage when everything that was stored before is in its file.
    package func flush(_ completion: @escaping @Sendable () -> Void) { queue.async(execute: completion) }
}

extension HTTPCookieStorage.State {
    /// Keeps cookies for requests under a judge alone.
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

    /// Changes what is kept apart; a jar that has become empty goes.
    fileprivate mutating func changeApart(_ body: (inout CookieJar) -> Bool) -> Bool {
        var hasChanged = false
        for index in apart.indices where body(&apart[index].jar) { hasChanged = true }
        apart.removeAll { $0.jar.count == 0 }
        return hasChanged
    }
}
