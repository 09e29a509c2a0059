// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The cookies of one storage: decides which are kept, which are dropped, and which are sent with a request
/// (draft-ietf-httpbis-rfc6265bis §5.7, §5.8; U-13.10, U-13.11).
///
/// A value without a clock, a lock or a file: `HTTPCookieStorage` guards the jar with a lock and passes the time.
struct CookieJar: Sendable {
    /// One stored cookie.
    struct Entry: Sendable {
        let cookie: HTTPCookie
        /// The date when a cookie with this name, domain and path was first stored.
        let created: Date
        /// The jar's `useCount` at that date, which orders cookies even if their dates are equal.
        let creationOrder: UInt64
        /// The jar's `useCount` when the cookie was last stored or sent.
        var lastUse: UInt64
    }

    /// The most cookies that a jar keeps.
    struct Limits: Sendable {
        /// The most cookies of a registrable domain, all hosts of it together.
        var perDomain = 180
        /// The most cookies of all domains.
        var total = 3_000
    }

    private let limits: Limits
    /// The public suffix list; nil for the system's, which is read when it is first needed.
    private let suffixList: PublicSuffixList?
    /// The shelves by key. A shelf is the list of the cookies of one domain; its key is the domain without a leading dot.
    private var shelves: [String: [Entry]] = [:]
    /// The shelves of each registrable domain; nil until the jar has more cookies than one domain may have.
    private var sites: CookieSites?
    /// The number of cookies, including expired ones that have not been removed.
    private(set) var count = 0
    /// Counts the calls that store or look up cookies.
    private var useCount: UInt64 = 0
    /// No stored cookie expires before this time.
    private var earliestExpiry = Date.distantFuture

    /// Creates an empty jar.
    init(limits: Limits = Limits(), suffixes: PublicSuffixList? = nil) {
        self.limits = limits
        suffixList = suffixes
    }

    /// Returns all unexpired cookies, the oldest first.
    func entries(at now: Date) -> [Entry] {
        shelves.values.joined().filter { !$0.hasExpired(at: now) }
            .sorted { $0.creationOrder < $1.creationOrder }
    }

    /// Stores a cookie, replacing the one with the same name, domain and path. An expired cookie only removes that one.
    ///
    /// - Parameters:
    ///   - cookie: The cookie, which `CookieAdmission` has accepted, or which the program or a file supplies.
    ///   - isSecure: Whether the cookie came over a secure connection; otherwise it cannot replace or hide secure cookies.
    ///   - now: The current date.
    ///   - created: The date when the cookie was first stored, if it comes from a file.
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func store(_ cookie: HTTPCookie, isSecure: Bool = true, at now: Date, created: Date? = nil)
        -> Bool
    {
        let key = Self.key(of: cookie)
        if !isSecure, !cookie.isSecure, wouldHideSecureCookie(cookie, at: now) { return false }
        useCount += 1
        var shelf = shelves[key] ?? []
        let index = shelf.firstIndex { Self.isSame($0.cookie, cookie) }
        let old = index.map { shelf[$0] }
        let entry = Entry(
            cookie: cookie, created: old?.created ?? created ?? now,
            creationOrder: old?.creationOrder ?? useCount, lastUse: useCount)
        if entry.hasExpired(at: now) {
            guard let index else { return false }
            shelf.remove(at: index)
        } else if let index {
            shelf[index] = entry
        } else {
            shelf.append(entry)
        }
        setShelf(shelf, on: key)
        if let end = cookie.expiresDate { earliestExpiry = min(earliestExpiry, end) }
        if index == nil { enforceLimits(on: key, at: now) }
        // An expired cookie that gets here has removed another one.
        return old?.cookie != cookie || entry.hasExpired(at: now)
    }

    /// Removes the cookie with the same name, domain and path. Returns whether there was one.
    mutating func remove(_ cookie: HTTPCookie) -> Bool {
        removeAll { Self.isSame($0.cookie, cookie) }
    }

    /// Removes the cookies that were first stored at this time or later. Returns whether there were any.
    mutating func remove(since date: Date) -> Bool { removeAll { $0.created >= date } }

    /// Returns the wanted cookies for a request to a URL, and records their use. They are in the order of the `Cookie` field:
    /// longer paths first, then older cookies.
    mutating func cookies(
        for origin: CookieOrigin, at now: Date, where isWanted: (HTTPCookie) -> Bool = { _ in true }
    )
        -> [HTTPCookie]
    {
        useCount += 1
        var found: [Entry] = []
        // Visits the shelves of the host and of all its parent domains; an address has none.
        var domain = origin.host[...]
        let isAddress = HostName.isAddress(origin.host)
        while !domain.isEmpty {
            let key = String(domain)
            if var shelf = shelves[key] {
                for index in shelf.indices
                where shelf[index].matches(origin, at: now) && isWanted(shelf[index].cookie) {
                    shelf[index].lastUse = useCount
                    found.append(shelf[index])
                }
                shelves[key] = shelf
            }
            guard let dot = domain.firstIndex(of: "."), !isAddress else { break }
            domain = domain[domain.index(after: dot)...]
        }
        found.sort { left, right in
            let (leftLength, rightLength) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            if leftLength != rightLength { return leftLength > rightLength }
            return left.creationOrder < right.creationOrder
        }
        return found.map(\.cookie)
    }

    // MARK: identity

    /// Returns the key of the shelf that a cookie belongs on.
    private static func key(of cookie: HTTPCookie) -> String {
        cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
    }

    /// Whether two cookies have the same name, domain and path, so that one replaces the other.
    static func isSame(_ left: HTTPCookie, _ right: HTTPCookie) -> Bool {
        left.name.hasSameOctets(as: right.name) && left.domain == right.domain
            && left.path.hasSameOctets(as: right.path)
    }

    /// Whether the jar has a secure cookie of the same name that this cookie would hide (§5.7 step 16): its domain is the same, a
    /// parent or a child, and its path is the same or a parent.
    private func wouldHideSecureCookie(_ cookie: HTTPCookie, at now: Date) -> Bool {
        let key = Self.key(of: cookie)
        return keysNear(key).contains { domain in
            (shelves[domain] ?? []).contains { entry in
                entry.cookie.isSecure && entry.cookie.name.hasSameOctets(as: cookie.name)
                    && !entry.hasExpired(at: now)
                    && CookieOrigin.isPath(cookie.path, below: entry.cookie.path)
            } && (HostName.isSame(domain, orBelow: key) || HostName.isSame(key, orBelow: domain))
        }
    }

    /// Returns keys of shelves, among them those of all parents and children of a domain. If the sites of the jar are known and
    /// the domain belongs to one, only shelves of that site and of the parents are returned, so that a cookie does not cause a
    /// search of a full jar.
    private func keysNear(_ key: String) -> [String] {
        guard var keys = sites?.keys(ofDomainOf: key) else { return Array(shelves.keys) }
        var domain = key[...]
        while let dot = domain.firstIndex(of: ".") {
            domain = domain[domain.index(after: dot)...]
            if shelves[String(domain)] != nil { keys.insert(String(domain)) }
        }
        return Array(keys)
    }

    // MARK: removal and eviction

    /// Replaces a shelf. No other function adds or removes cookies, so that the counts stay correct.
    private mutating func setShelf(_ shelf: [Entry], on key: String) {
        let before = shelves[key]?.count ?? 0
        count += shelf.count - before
        shelves[key] = shelf.isEmpty ? nil : shelf
        sites?.changed(key, from: before, to: shelf.count)
    }

    /// Removes the entries that satisfy `isUnwanted` from the shelves with these keys. Returns whether there were any.
    private mutating func removeAll(
        on keys: some Collection<String>, where isUnwanted: (Entry) -> Bool
    ) -> Bool {
        let before = count
        for key in keys {
            guard let shelf = shelves[key] else { continue }
            let kept = shelf.filter { !isUnwanted($0) }
            if kept.count < shelf.count { setShelf(kept, on: key) }
        }
        return count < before
    }

    private mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        removeAll(on: Array(shelves.keys), where: isUnwanted)
    }

    /// Removes expired cookies. Searches the jar only if a cookie may have expired.
    private mutating func removeExpired(at now: Date) {
        guard earliestExpiry <= now else { return }
        _ = removeAll { $0.hasExpired(at: now) }
        earliestExpiry = shelves.values.joined().lazy.compactMap(\.cookie.expiresDate).min() ?? .distantFuture
    }

    /// Enforces the limits after a cookie was added to the shelf with this key. Removes expired cookies first; then one cookie of
    /// the registrable domain if it has too many, or some of the domains with the most cookies: a domain with many cookies does
    /// not displace those of domains with few.
    private mutating func enforceLimits(on key: String, at now: Date) {
        guard count > min(limits.perDomain, limits.total) else { return }
        if sites == nil { sites = CookieSites(shelves.mapValues(\.count), suffixList ?? .system) }
        if count > limits.total {
            removeExpired(at: now)
        } else if exceedsDomainLimit(key), earliestExpiry <= now {
            _ = removeAll(on: keys(with: key)) { $0.hasExpired(at: now) }
        }
        if exceedsDomainLimit(key) {
            evictOne(on: keys(with: key))
        } else if count > limits.total {
            enforceTotalLimit()
        }
    }

    /// Evicts a sixteenth of a full jar at once, so that only one of many new cookies causes a search.
    private mutating func enforceTotalLimit() {
        let target = limits.total - limits.total / 16
        while count > target {
            // The candidates are one cookie of each of the domains with the most cookies.
            let candidates = (sites?.largest ?? []).compactMap { nextToEvict(on: $0) }
                .sorted { $0.isEvicted(before: $1) }
            if candidates.isEmpty { return }
            for entry in candidates.prefix(count - target) { evict(entry) }
        }
    }

    /// Whether the registrable domain of the shelf with this key has too many cookies.
    private func exceedsDomainLimit(_ key: String) -> Bool { sites?.count(with: key) ?? 0 > limits.perDomain }

    /// Returns the keys of all shelves of the registrable domain that the shelf with this key belongs to.
    private func keys(with key: String) -> Set<String> { sites?.keys(with: key) ?? [] }

    /// Evicts one cookie of these shelves.
    private mutating func evictOne(on keys: Set<String>) {
        if let entry = nextToEvict(on: keys) { evict(entry) }
    }

    private mutating func evict(_ entry: Entry) {
        _ = removeAll(on: [Self.key(of: entry.cookie)]) { $0.creationOrder == entry.creationOrder }
    }

    /// Returns the least recently used cookie of these shelves, preferring those without `Secure` (§5.8), so that an attacker
    /// without a secure connection cannot displace cookies that were set over one.
    private func nextToEvict(on keys: Set<String>) -> Entry? {
        var next: Entry?
        for key in keys {
            for entry in shelves[key] ?? [] where next.map({ entry.isEvicted(before: $0) }) ?? true {
                next = entry
            }
        }
        return next
    }
}

extension CookieJar.Entry {
    /// Whether this cookie is evicted before the other: cookies without `Secure` first, then the least recently used one.
    fileprivate func isEvicted(before other: CookieJar.Entry) -> Bool {
        cookie.isSecure == other.cookie.isSecure ? lastUse < other.lastUse : other.cookie.isSecure
    }

    fileprivate func hasExpired(at now: Date) -> Bool { cookie.expiresDate.map { $0 <= now } ?? false }

    /// Whether the cookie is sent with a request to this URL.
    fileprivate func matches(_ origin: CookieOrigin, at now: Date) -> Bool {
        let domain = cookie.domain
        let matchesDomain: Bool
        if domain.hasPrefix(".") {
            matchesDomain = HostName.isSame(origin.host, orBelow: String(domain.dropFirst()))
        } else {
            matchesDomain = origin.host == domain
        }
        return matchesDomain && !hasExpired(at: now) && (origin.isSecure || !cookie.isSecure)
            && origin.isPath(below: cookie.path)
            && cookie.contents.ports.map { $0.contains(origin.port) } ?? true
    }
}
