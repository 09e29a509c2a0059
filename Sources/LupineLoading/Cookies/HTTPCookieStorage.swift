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
/// Any thread may use a storage. A storage reads its file once, when it is created. After changes it writes the whole file, on a
/// queue of its own. Two processes can share a file without damage to it, but each write discards the other process's changes.
public final class HTTPCookieStorage: NSObject, Sendable {
    // `CookieJar` decides which cookies are stored and sent, `CookieAdmission` which are accepted from a response.

    /// The state behind the lock.
    fileprivate struct State {
        /// The cookies of the program and of the file, and the cookies received over plain HTTP or from a peer that passed a
        /// check.
        var jar: CookieJar
        /// The cookies received over unchecked connections: a delegate or evaluator has accepted such a connection although its
        /// peer passed no check (U-13.17). Each judge, which is that delegate or evaluator, has a jar. The judge with the latest
        /// change is last.
        var uncheckedJars: [(judge: TrustJudge, jar: CookieJar)] = []
        /// The value of `cookieAcceptPolicy`.
        var policy = HTTPCookie.AcceptPolicy.always
        /// Whether a write of the file is scheduled on the queue and has not begun.
        var isWriteScheduled = false
    }

    private let state: Lock<State>
    /// The file of the storage; nil for a storage in memory only.
    private let file: CookieFile?
    /// Whether the storage has a file.
    var hasFile: Bool { file != nil }
    /// The serial queue on which the file is written.
    private let queue = DispatchQueue(label: "lupine.cookies", qos: .utility)

    /// The storage of the process, in the user's data folder under the program's name.
    public static let shared = HTTPCookieStorage(
        file: UserFolder.data().appendingPathComponent("cookies.jsonl"))

    /// The storages of `sharedCookieStorage(forGroupContainerIdentifier:)`, by identifier.
    private static let storages = Lock<[String: HTTPCookieStorage]>([:])

    /// Returns the storage with this name, which the user's other programs can share. A process has one storage for each name.
    public class func sharedCookieStorage(forGroupContainerIdentifier identifier: String) -> HTTPCookieStorage
    {
        storages.withLock { storages in
            if let storage = storages[identifier] { return storage }
            let folder = UserFolder.data(of: identifier)
            let storage = HTTPCookieStorage(file: folder.appendingPathComponent("cookies.jsonl"))
            storages[identifier] = storage
            return storage
        }
    }

    /// Creates a storage with a file at this URL, which the initializer reads; with nil, a storage in memory only.
    package init(file url: URL?) {
        file = url.map { CookieFile($0) }
        var jar = CookieJar()
        let now = Date()
        for (cookie, creationDate) in file?.read() ?? [] {
            jar.store(cookie, at: now, creationDate: creationDate)
        }
        state = Lock(State(jar: jar))
    }

    // MARK: cookies

    /// All unexpired cookies, oldest first. Cookies received over unchecked connections come after all others.
    public var cookies: [HTTPCookie]? {
        let now = Date()
        return state.withLock { state in
            state.jar.entries(at: now) + state.uncheckedJars.flatMap { $0.jar.entries(at: now) }
        }.map(\.cookie)
    }

    /// Whether there are no cookies, not even expired ones.
    package var isEmpty: Bool { state.withLock { $0.jar.count == 0 && $0.uncheckedJars.isEmpty } }

    /// Whether the storage has cookies received over unchecked connections (see `State.uncheckedJars`).
    var hasUncheckedCookies: Bool { state.withLock { !$0.uncheckedJars.isEmpty } }

    /// The most judges whose cookies are stored. Beyond this limit, the storage drops the jar whose last change is the oldest.
    private static let judgeLimit = 16

    /// The cookies that `setCookies(_:for:mainDocumentURL:)` accepts. With `never`, `setCookie(_:)` does nothing either.
    public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { state.withLock { $0.policy } }
        set {
            let hasChanged = state.withLock { state in
                // Compares with the old policy: `defer` sets the new one afterwards.
                defer { state.policy = newValue }
                return state.policy != newValue
            }
            if hasChanged { post(.NSHTTPCookieManagerAcceptPolicyChanged) }
        }
    }

    /// Stores a cookie in place of the one with the same name, domain and path. An expired cookie is not stored, but removes the
    /// stored one.
    public func setCookie(_ cookie: HTTPCookie) {
        let now = Date()
        change { state in state.policy != .never && state.jar.store(cookie, at: now) }
    }

    /// Removes the cookie with the same name, domain and path.
    public func deleteCookie(_ cookie: HTTPCookie) {
        change { state in
            let wasRemoved = state.jar.remove(cookie)
            // The call is the first operand, because `||` would skip the second one.
            return state.changeUncheckedJars { $0.remove(cookie) } || wasRemoved
        }
    }

    /// Removes the cookies that were first stored at this time or later.
    public func removeCookies(since date: Date) {
        change { state in
            let wereRemoved = state.jar.remove(since: date)
            // The call is the first operand, because `||` would skip the second one.
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

    /// Returns the cookies for a request, in the order of the `Cookie` field (U-13.14). If the main document belongs to another
    /// site, leaves out the cookies whose `SameSite` attribute forbids sending them.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - mainDocumentURL: The page for which the request is made; nil for none.
    ///   - method: The method of the request.
    ///   - judge: The delegates or evaluator that decide about the request's connection; nil for the default evaluation. The
    ///     cookies received over unchecked connections that this judge accepted come first. They replace other cookies with the
    ///     same name, domain and path.
    ///   - now: The current date of the session's clock.
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

    /// Whether the main document belongs to the origin's site. True if there is no main document.
    private static func isSameSite(_ origin: CookieOrigin, _ mainDocumentURL: URL?) -> Bool {
        guard let mainDocument = mainDocumentURL.flatMap({ CookieOrigin($0) }) else { return true }
        let suffixes = PublicSuffixList.system
        return suffixes.registrableDomain(of: mainDocument.host)
            == suffixes.registrableDomain(of: origin.host)
    }

    /// Stores the cookies that a response from `url` set, if the accept policy and the domain rules allow it.
    ///
    /// Without a URL the domain rules cannot be applied: the cookies are then stored as `setCookie(_:)` does.
    public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
        setCookies(cookies, for: url, mainDocumentURL: mainDocumentURL, at: Date())
    }

    /// Does the same as `setCookies(_:for:mainDocumentURL:)` at the date `now`.
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
    ///   - now: The current date of the session's clock.
    func store(
        _ cookies: [HTTPCookie], from url: URL?, mainDocumentURL: URL?, policy: HTTPCookie.AcceptPolicy,
        onlyFor judge: TrustJudge? = nil, at now: Date = Date()
    ) {
        guard !cookies.isEmpty, policy != .never else { return }
        guard let url else {
            return change { $0.jar.storeAll(cookies, at: now) }
        }
        guard let origin = CookieOrigin(url) else { return }
        let mainDocumentHost = mainDocumentURL.flatMap { CookieOrigin($0) }?.host
        let admission = CookieAdmission(origin: origin, mainDocumentHost: mainDocumentHost, policy: policy)
        guard admission.acceptsCookies else { return }
        let admitted = cookies.compactMap { admission.cookieToStore(for: $0) }
        if let judge {
            // Cookies of unchecked connections are never written to the file.
            return change(writesFile: false) {
                $0.store(admitted, onlyFor: judge, upTo: Self.judgeLimit, at: now)
            }
        }
        change { $0.jar.storeAll(admitted, isOriginSecure: origin.isSecure, at: now) }
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

    /// Contains the number of cookies, without those received over unchecked connections.
    public override var description: String {
        "<HTTPCookieStorage of \(state.withLock { $0.jar.count }) cookies>"
    }

    // MARK: changes

    /// Changes the state. `body` returns whether it changed any cookies; if so, schedules a write and posts the notification.
    private func change(writesFile: Bool = true, _ body: (inout State) -> Bool) {
        // Retains the judges until the lock is released: `body` may drop one, and an evaluator may be an object of the program,
        // whose `deinit` must not run under the lock.
        let (hasChanged, _) = state.withLock { state in
            let judges = state.uncheckedJars.map(\.judge)
            return (body(&state), judges)
        }
        guard hasChanged else { return }
        if writesFile { scheduleWrite() }
        post(.NSHTTPCookieManagerCookiesChanged)
    }

    /// Posts a notification: on the calling thread, or on a global queue if the calling thread belongs to an event loop.
    private func post(_ name: NSNotification.Name) {
        assertNoLockIsHeld()
        // A response changes cookies on an event loop, which observers must not block: they are the program's code (O-7).
        guard EventLoop.current != nil else {
            return NotificationCenter.default.post(name: name, object: self)
        }
        DispatchQueue.global().async { [self] in
            NotificationCenter.default.post(name: name, object: self)
        }
    }

    /// Schedules a write of the file, unless one is scheduled already.
    private func scheduleWrite() {
        guard let file else { return }
        let wasScheduled = state.withLock { state in
            // Returns the old value: `defer` sets the new one afterwards.
            defer { state.isWriteScheduled = true }
            return state.isWriteScheduled
        }
        if wasScheduled { return }
        queue.async { [self] in
            let now = Date()
            let entries = state.withLock { state in
                state.isWriteScheduled = false
                return state.jar.entries(at: now)
            }
            // After a failed write the process still has the cookies; only its next run lacks them.
            try? file.write(entries)
        }
    }

    /// Calls `completion` on the storage's queue once all earlier changes are written to the file: the queue is serial, and has
    /// received the writes of these changes before.
    package func flush(_ completion: @escaping @Sendable () -> Void) { queue.async(execute: completion) }
}

extension HTTPCookieStorage.State {
    /// Stores cookies that are sent only with requests under one judge. If more than `limit` judges then have a jar, drops the
    /// oldest jar. Returns whether `judge`'s cookies changed.
    fileprivate mutating func store(
        _ cookies: [HTTPCookie], onlyFor judge: TrustJudge, upTo limit: Int, at now: Date
    ) -> Bool {
        // Moves the judge's jar to the end, which is the place of the latest change.
        let index = uncheckedJars.firstIndex { $0.judge == judge }
        var jar = index.map { uncheckedJars.remove(at: $0).jar } ?? CookieJar()
        let hasChanged = jar.storeAll(cookies, at: now)
        if jar.count > 0 { uncheckedJars.append((judge, jar)) }
        if uncheckedJars.count > limit { uncheckedJars.removeFirst() }
        return hasChanged
    }

    /// Calls `body` with each jar of unchecked connections, and removes empty jars. Returns whether `body` returned true for any.
    fileprivate mutating func changeUncheckedJars(_ body: (inout CookieJar) -> Bool) -> Bool {
        var hasChanged = false
        for index in uncheckedJars.indices where body(&uncheckedJars[index].jar) { hasChanged = true }
        uncheckedJars.removeAll { $0.jar.count == 0 }
        return hasChanged
    }
}

extension CookieJar {
    /// Stores each of the cookies. Returns whether anything changed.
    fileprivate mutating func storeAll(
        _ cookies: [HTTPCookie], isOriginSecure: Bool = true, at now: Date
    ) -> Bool {
        var hasChanged = false
        for cookie in cookies {
            if store(cookie, isOriginSecure: isOriginSecure, at: now) { hasChanged = true }
        }
        return hasChanged
    }
}
