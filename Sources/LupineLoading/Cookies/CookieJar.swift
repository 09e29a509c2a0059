// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The cookies of one storage: decides which are kept, which are dropped, and which are sent with a request
/// (draft-ietf-httpbis-rfc6265bis §5.7, §5.8; U-13.10, U-13.11).
///
/// A value without a clock, a lock or a file: `HTTPCookieStorage` guards it with a lock and passes the time.
struct CookieJar: Sendable {
    /// One stored cookie.
    struct Entry: Sendable {
        let cookie: HTTPCookie
        /// When a cookie with this name, domain and path was first stored.
        let created: Date
        /// The order in which cookies were first stored, also within one tick of the clock.
        let order: UInt64
        var lastUse: UInt64
    }

    /// The largest number of cookies.
    struct Limits: Sendable {
        /// Per registrable domain, however many hosts it has.
        var perDomain = 180
        var total = 3_000
    }

    private let limits: Limits
    /// The public suffix list; nil means the system's, which is read only when it is needed.
    private let ownSuffixes: PublicSuffixList?
    /// The shelves, by domain without its leading dot. A shelf is the list of the cookies of one domain.
    private var shelves: [String: [Entry]] = [:]
    /// The shelves of each registrable domain; nil until the jar has more cookies than one domain may have, because it is not
    /// needed before.
    private var sites: CookieSites?
    private(set) var count = 0
    private var clock: UInt64 = 0
    /// No stored cookie expires before this time.
    private var firstEnd = Date.distantFuture

    /// Creates an empty jar.
    init(limits: Limits = Limits(), suffixes: PublicSuffixList? = nil) {
        self.limits = limits
        ownSuffixes = suffixes
    }

    /// Returns all unexpired cookies, the oldest first.
    func entries(at now: Date) -> [Entry] {
        shelves.values.joined().filter { !$0.isOver(at: now) }.sorted { $0.order < $1.order }
    }

    /// Stores a cookie, replacing the one with the same name, domain and path. An expired cookie only removes that one.
    ///
    /// - Parameters:
    ///   - isSecure: Whether the cookie was received over a secure connection; if not, it does not affect secure cookies.
    ///   - created: When the cookie was first stored, if it comes from a file.
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func store(_ cookie: HTTPCookie, isSecure: Bool = true, at now: Date, created: Date? = nil)
        -> Bool
    {
        let key = Self.key(of: cookie)
        if !isSecure, !cookie.isSecure, wouldCoverSecureCookie(cookie, at: now) { return false }
        clock += 1
        var shelf = shelves[key] ?? []
        let index = shelf.firstIndex { Self.isSame($0.cookie, cookie) }
        let old = index.map { shelf[$0] }
        let entry = Entry(
            cookie: cookie, created: old?.created ?? created ?? now, order: old?.order ?? clock,
            lastUse: clock)
        if entry.isOver(at: now) {
            guard let index else { return false }
            shelf.remove(at: index)
        } else if let index {
            shelf[index] = entry
        } else {
            shelf.append(entry)
        }
        put(shelf, on: key)
        if let end = cookie.expiresDate { firstEnd = min(firstEnd, end) }
        if index == nil { makeRoom(on: key, at: now) }
        return old?.cookie != cookie || entry.isOver(at: now)
    }

    /// Removes the cookie with the same name, domain and path. Returns whether there was one.
    mutating func remove(_ cookie: HTTPCookie) -> Bool {
        removeAll { Self.isSame($0.cookie, cookie) }
    }

    /// Removes the cookies that were first stored at this time or later. Returns whether there were any.
    mutating func remove(since date: Date) -> Bool { removeAll { $0.created >= date } }

    /// Returns the cookies for a request to an address, in the order to be sent: longer paths first, then older cookies.
    mutating func cookies(
        for origin: CookieOrigin, at now: Date, where isWanted: (HTTPCookie) -> Bool = { _ in true }
    )
        -> [HTTPCookie]
    {
        clock += 1
        var found: [Entry] = []
        var domain = origin.host[...]
        let isAddress = HostName.isAddress(origin.host)
        while !domain.isEmpty {
            let key = String(domain)
            if var shelf = shelves[key] {
                for index in shelf.indices
                where shelf[index].isFor(origin, at: now) && isWanted(shelf[index].cookie) {
                    shelf[index].lastUse = clock
                    found.append(shelf[index])
                }
                shelves[key] = shelf
            }
            guard let dot = domain.firstIndex(of: "."), !isAddress else { break }
            domain = domain[domain.index(after: dot)...]
        }
        found.sort { left, right in
            let (longer, shorter) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return longer == shorter ? left.order < right.order : longer > shorter
        }
        return found.map(\.cookie)
    }

    // MARK: identity

    private static func key(of cookie: HTTPCookie) -> String {
        cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
    }

    static func isSame(_ left: HTTPCookie, _ right: HTTPCookie) -> Bool {
        left.name.hasSameOctets(as: right.name) && left.domain == right.domain
            && left.path.hasSameOctets(as: right.path)
    }

    /// Whether this cookie would hide a secure one of the same name (§5.7 step 16): one whose domain is the same, above or below,
    /// and whose path is the same or above.
    private func wouldCoverSecureCookie(_ cookie: HTTPCookie, at now: Date) -> Bool {
        let key = Self.key(of: cookie)
        return shelvesAround(key).contains { domain in
            (shelves[domain] ?? []).contains { entry in
                entry.cookie.isSecure && entry.cookie.name.hasSameOctets(as: cookie.name)
                    && !entry.isOver(at: now)
                    && CookieOrigin.isPath(cookie.path, below: entry.cookie.path)
            } && (HostName.isSame(domain, orBelow: key) || HostName.isSame(key, orBelow: domain))
        }
    }

    /// Returns shelves that include all of the domains above and below, so that a full jar is not searched for each cookie.
    private func shelvesAround(_ key: String) -> [String] {
        guard var around = sites.map({ $0.keys(ofDomainOf: key) }) ?? nil else { return Array(shelves.keys) }
        var domain = key[...]
        while let dot = domain.firstIndex(of: ".") {
            domain = domain[domain.index(after: dot)...]
            if shelves[String(domain)] != nil { around.insert(String(domain)) }
        }
        return Array(around)
    }

    // MARK: dropping

    /// The only function that changes a shelf, so that the counts stay correct.
    private mutating func put(_ shelf: [Entry], on key: String) {
        let before = shelves[key]?.count ?? 0
        count += shelf.count - before
        shelves[key] = shelf.isEmpty ? nil : shelf
        sites?.changed(key, from: before, to: shelf.count)
    }

    private mutating func removeAll(
        on keys: some Collection<String>, where isUnwanted: (Entry) -> Bool
    ) -> Bool {
        let before = count
        for key in keys {
            guard let shelf = shelves[key] else { continue }
            let rest = shelf.filter { !isUnwanted($0) }
            if rest.count < shelf.count { put(rest, on: key) }
        }
        return count < before
    }

    private mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        removeAll(on: Array(shelves.keys), where: isUnwanted)
    }

    /// Removes expired cookies. Searches only if one may have expired, not for each new cookie.
    private mutating func removeEnded(at now: Date) {
        guard firstEnd <= now else { return }
        _ = removeAll { $0.isOver(at: now) }
        firstEnd = shelves.values.joined().lazy.compactMap(\.cookie.expiresDate).min() ?? .distantFuture
    }

    /// Enforces the limits. Expired cookies are dropped first, then one of the registrable domain that has too many, or some of
    /// the domains that have the most: no domain displaces another's cookies before its own.
    private mutating func makeRoom(on key: String, at now: Date) {
        guard count > min(limits.perDomain, limits.total) else { return }
        if sites == nil { sites = CookieSites(shelves.mapValues(\.count), ownSuffixes ?? .system) }
        if count > limits.total {
            removeEnded(at: now)
        } else if isCrowded(key), firstEnd <= now {
            _ = removeAll(on: keys(with: key)) { $0.isOver(at: now) }
        }
        if isCrowded(key) {
            dropOne(on: keys(with: key))
        } else if count > limits.total {
            makeRoomForAll()
        }
    }

    /// Drops a sixteenth of a full jar, so that not every new cookie searches it.
    private mutating func makeRoomForAll() {
        let rest = limits.total - limits.total / 16
        while count > rest {
            let first = (sites?.largest ?? []).compactMap { firstToGo(on: $0) }
                .sorted { $0.goes(before: $1) }
            if first.isEmpty { return }
            for entry in first.prefix(count - rest) { drop(entry) }
        }
    }

    private func isCrowded(_ key: String) -> Bool { sites?.count(with: key) ?? 0 > limits.perDomain }

    private func keys(with key: String) -> Set<String> { sites?.keys(with: key) ?? [] }

    private mutating func dropOne(on keys: Set<String>) { firstToGo(on: keys).map { drop($0) } }

    private mutating func drop(_ entry: Entry) {
        _ = removeAll(on: [Self.key(of: entry.cookie)]) { $0.order == entry.order }
    }

    /// Returns the least recently used cookie of these shelves, preferring those without `Secure` (§5.8), so that an attacker
    /// without a secure connection cannot displace cookies that were set over one.
    private func firstToGo(on keys: Set<String>) -> Entry? {
        var oldest: Entry?
        for key in keys {
            for entry in shelves[key] ?? [] where oldest.map({ entry.goes(before: $0) }) ?? true {
                oldest = entry
            }
        }
        return oldest
    }
}

extension CookieJar.Entry {
    /// Whether this cookie is dropped before the other.
    fileprivate func goes(before other: CookieJar.Entry) -> Bool {
        cookie.isSecure == other.cookie.isSecure ? lastUse < other.lastUse : other.cookie.isSecure
    }

    fileprivate func isOver(at now: Date) -> Bool { cookie.expiresDate.map { $0 <= now } ?? false }

    fileprivate func isFor(_ origin: CookieOrigin, at now: Date) -> Bool {
        let domain = cookie.domain
        let isHere =
            domain.hasPrefix(".")
            ? HostName.isSame(origin.host, orBelow: String(domain.dropFirst())) : origin.host == domain
        return isHere && !isOver(at: now) && (origin.isSecure || !cookie.isSecure)
            && origin.isPath(below: cookie.path)
            && cookie.contents.ports.map { $0.contains(origin.port) } ?? true
    }
}
