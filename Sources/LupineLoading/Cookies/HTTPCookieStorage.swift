// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
internal import LupineTransport

extension NSNotification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The cookies of the storage that is the object have changed. Posted on the thread that changed them.
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
    private struct State {
        var jar: CookieJar
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
        return state.withLock { $0.jar.entries(at: now) }.map(\.cookie)
    }

    /// Whether there is no cookie, ended or not.
    package var isEmpty: Bool { state.withLock { $0.jar.count == 0 } }

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
        change { $0.jar.remove(cookie) }
    }

    /// Removes the cookies that were first stored at that time or later.
    public func removeCookies(since date: Date) {
        change { $0.jar.remove(since: date) }
    }

    /// The cookies for a request to that address, as they are to be sent.
    public func cookies(for url: URL) -> [HTTPCookie]? {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = Date()
        return state.withLock { $0.jar.cookies(for: origin, at: now) }
    }

    /// The cookies for a request, as they are to be sent (U-13.14): those that are only for their own site are left out
    /// when the main document is from another.
    package func cookies(for url: URL, mainDocumentURL: URL?, method: String) -> [HTTPCookie] {
        guard let origin = CookieOrigin(url) else { return [] }
        let now = Date()
        let isSameSite = Self.isSameSite(origin, mainDocumentURL)
        let isSafe = method == "GET" || method == "HEAD"
        return state.withLock { state in
            state.jar.cookies(for: origin, at: now) { cookie in
                if isSameSite { return true }
                switch cookie.sameSitePolicy {
                case .sameSiteStrict?: return false
                case .sameSiteLax?: return isSafe
                default: return true
                }
            }
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
        store(cookies, from: url, mainDocumentURL: mainDocumentURL, policy: cookieAcceptPolicy)
    }

    /// Stores what a response set, under the policy of a session's configuration.
    package func store(
        _ cookies: [HTTPCookie], from url: URL?, mainDocumentURL: URL?, policy: HTTPCookie.AcceptPolicy
    ) {
        guard !cookies.isEmpty, policy != .never else { return }
        let now = Date()
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

    private func change(_ body: (inout State) -> Bool) {
        let hasChanged = state.withLock { body(&$0) }
        guard hasChanged else { return }
        scheduleWrite()
        post(.NSHTTPCookieManagerCookiesChanged)
    }

    private func post(_ name: NSNotification.Name) {
        assertNoLockIsHeld()
        NotificationCenter.default.post(name: name, object: self)
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
