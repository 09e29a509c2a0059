// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The cookies of one storage: decides which are stored, which are evicted, and which are sent with a request
/// (draft-ietf-httpbis-rfc6265bis §5.7, §5.8; U-13.10, U-13.11).
///
/// A value without a clock, a lock or a file: `HTTPCookieStorage` guards the jar with a lock and passes the current date.
struct CookieJar: Sendable {
    /// One stored cookie.
    struct Entry: Sendable {
        let cookie: HTTPCookie
        /// The date when a cookie with this name, domain and path was first stored.
        let creationDate: Date
        /// The jar's `useCount` at `creationDate`. Unlike the date, it is different for each cookie, so it defines an order.
        let creationOrder: UInt64
        /// The jar's `useCount` when the cookie was last stored or sent.
        var lastUse: UInt64
    }

    /// The limits of a jar.
    struct Limits: Sendable {
        /// The most cookies of a registrable domain, counted over all of its hosts.
        var perDomain = 180
        /// The most cookies of all domains.
        var total = 3_000
    }

    private let limits: Limits
    /// The public suffix list; nil for the system's list, which is read when it is first needed.
    private let suffixList: PublicSuffixList?
    /// The cookies by bare domain: the cookie's domain without a leading dot, such as `www.a.example`.
    private var entriesByDomain: [String: [Entry]] = [:]
    /// The bare domains of each registrable domain; nil until the jar has more cookies than one registrable domain may have.
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
        entriesByDomain.values.joined().filter { !$0.hasExpired(at: now) }
            .sorted { $0.creationOrder < $1.creationOrder }
    }

    /// Stores a cookie in place of the one with the same name, domain and path. An expired cookie is not stored, but removes the
    /// stored one.
    ///
    /// - Parameters:
    ///   - cookie: The cookie, which `CookieAdmission` has accepted, or which the program or a file supplies.
    ///   - isOriginSecure: Whether the cookie came over a secure connection. If not, it cannot replace or hide secure cookies.
    ///   - now: The current date.
    ///   - creationDate: The date when the cookie was first stored, if it comes from a file.
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func store(
        _ cookie: HTTPCookie, isOriginSecure: Bool = true, at now: Date, creationDate: Date? = nil
    )
        -> Bool
    {
        let domain = Self.bareDomain(of: cookie)
        if !isOriginSecure, !cookie.isSecure, wouldHideSecureCookie(cookie, at: now) { return false }
        useCount += 1
        var entries = entriesByDomain[domain] ?? []
        let index = entries.firstIndex { Self.isSame($0.cookie, cookie) }
        let oldEntry = index.map { entries[$0] }
        let entry = Entry(
            cookie: cookie, creationDate: oldEntry?.creationDate ?? creationDate ?? now,
            creationOrder: oldEntry?.creationOrder ?? useCount, lastUse: useCount)
        if entry.hasExpired(at: now) {
            guard let index else { return false }
            entries.remove(at: index)
        } else if let index {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
        setEntries(entries, ofDomain: domain)
        // Never later than the earliest expiry of a stored cookie, but perhaps earlier: a cookie may have been removed.
        if let expiry = cookie.expiresDate { earliestExpiry = min(earliestExpiry, expiry) }
        if index == nil { enforceLimits(afterAddingTo: domain, at: now) }
        // An expired cookie has removed a stored one here: if there was none, the function has returned above.
        return oldEntry?.cookie != cookie || entry.hasExpired(at: now)
    }

    /// Removes the cookie with the same name, domain and path. Returns whether there was one.
    mutating func remove(_ cookie: HTTPCookie) -> Bool {
        removeAll { Self.isSame($0.cookie, cookie) }
    }

    /// Removes the cookies that were first stored at this time or later. Returns whether there were any.
    mutating func remove(since date: Date) -> Bool { removeAll { $0.creationDate >= date } }

    /// Returns the cookies for a request to a URL that satisfy `isWanted`, and records their use. The cookies are in the order of
    /// the `Cookie` field: longer paths first, then older cookies.
    mutating func cookies(
        for origin: CookieOrigin, at now: Date, where isWanted: (HTTPCookie) -> Bool = { _ in true }
    )
        -> [HTTPCookie]
    {
        useCount += 1
        var matching: [Entry] = []
        // Visits the cookies of the host and of all its parent domains; an IP address has no parents.
        var domain = origin.host[...]
        let isAddress = HostName.isAddress(origin.host)
        while !domain.isEmpty {
            let key = String(domain)
            if var entries = entriesByDomain[key] {
                for index in entries.indices
                where entries[index].matches(origin, at: now) && isWanted(entries[index].cookie) {
                    entries[index].lastUse = useCount
                    matching.append(entries[index])
                }
                entriesByDomain[key] = entries
            }
            guard let dot = domain.firstIndex(of: "."), !isAddress else { break }
            domain = domain[domain.index(after: dot)...]
        }
        matching.sort { left, right in
            let (leftLength, rightLength) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            if leftLength != rightLength { return leftLength > rightLength }
            return left.creationOrder < right.creationOrder
        }
        return matching.map(\.cookie)
    }

    // MARK: comparing cookies

    /// Returns the cookie's domain without a leading dot: the key in `entriesByDomain`.
    private static func bareDomain(of cookie: HTTPCookie) -> String {
        cookie.domain.hasPrefix(".") ? String(cookie.domain.dropFirst()) : cookie.domain
    }

    /// Whether two cookies have the same name, domain and path, so that one replaces the other.
    static func isSame(_ left: HTTPCookie, _ right: HTTPCookie) -> Bool {
        left.name.hasSameOctets(as: right.name) && left.domain == right.domain
            && left.path.hasSameOctets(as: right.path)
    }

    /// Whether the jar has a secure cookie of the same name that this cookie would hide (rfc6265bis §5.7 step 16). The
    /// domain of the secure cookie is then the same, a parent or a child; its path is the same or a parent.
    private func wouldHideSecureCookie(_ cookie: HTTPCookie, at now: Date) -> Bool {
        let cookieDomain = Self.bareDomain(of: cookie)
        return domainsPossiblyRelated(to: cookieDomain).contains { domain in
            let hasSecureCookie = (entriesByDomain[domain] ?? []).contains { entry in
                entry.cookie.isSecure && entry.cookie.name.hasSameOctets(as: cookie.name)
                    && !entry.hasExpired(at: now)
                    && CookieOrigin.isPath(cookie.path, atOrBelow: entry.cookie.path)
            }
            guard hasSecureCookie else { return false }
            return HostName.isSame(domain, orBelow: cookieDomain)
                || HostName.isSame(cookieDomain, orBelow: domain)
        }
    }

    /// Returns bare domains that have cookies, at least all parents and children of `domain`. Without `sites`, or for a public
    /// suffix, which has no site, these are all domains. Otherwise they are the parents of `domain` and the domains of its site,
    /// so that storing a cookie does not search a full jar.
    private func domainsPossiblyRelated(to domain: String) -> [String] {
        guard var relatedDomains = sites?.domains(ofSiteContaining: domain) else {
            return Array(entriesByDomain.keys)
        }
        var parent = domain[...]
        while let dot = parent.firstIndex(of: ".") {
            parent = parent[parent.index(after: dot)...]
            if entriesByDomain[String(parent)] != nil { relatedDomains.insert(String(parent)) }
        }
        return Array(relatedDomains)
    }

    // MARK: removal and eviction

    /// Replaces the cookies of a bare domain. No other function adds or removes cookies, so that the counts stay correct.
    private mutating func setEntries(_ entries: [Entry], ofDomain domain: String) {
        let oldCount = entriesByDomain[domain]?.count ?? 0
        count += entries.count - oldCount
        entriesByDomain[domain] = entries.isEmpty ? nil : entries
        sites?.updateCount(ofDomain: domain, from: oldCount, to: entries.count)
    }

    /// Removes the entries that satisfy `isUnwanted` from these bare domains. Returns whether there were any.
    private mutating func removeAll(
        ofDomains domains: some Collection<String>, where isUnwanted: (Entry) -> Bool
    ) -> Bool {
        let oldCount = count
        for domain in domains {
            guard let entries = entriesByDomain[domain] else { continue }
            let remaining = entries.filter { !isUnwanted($0) }
            if remaining.count < entries.count { setEntries(remaining, ofDomain: domain) }
        }
        return count < oldCount
    }

    /// Removes the entries that satisfy `isUnwanted`. Returns whether there were any.
    private mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        removeAll(ofDomains: Array(entriesByDomain.keys), where: isUnwanted)
    }

    /// Removes expired cookies. Searches the jar only if a cookie may have expired.
    private mutating func removeExpired(at now: Date) {
        guard earliestExpiry <= now else { return }
        // Whether any cookie was removed does not matter: `count` tells the caller.
        _ = removeAll { $0.hasExpired(at: now) }
        earliestExpiry =
            entriesByDomain.values.joined().lazy.compactMap(\.cookie.expiresDate).min() ?? .distantFuture
    }

    /// Enforces the limits after a cookie was added to this bare domain. Removes expired cookies first. Then evicts one cookie of
    /// the registrable domain if that has too many, otherwise cookies of the registrable domains with the most cookies: a domain
    /// with many cookies does not displace the cookies of domains with few.
    private mutating func enforceLimits(afterAddingTo domain: String, at now: Date) {
        guard count > min(limits.perDomain, limits.total) else { return }
        if sites == nil {
            sites = CookieSites(cookieCounts: entriesByDomain.mapValues(\.count), suffixList ?? .system)
        }
        if count > limits.total {
            removeExpired(at: now)
        } else if exceedsSiteLimit(domain), earliestExpiry <= now {
            _ = removeAll(ofDomains: domainsOfSite(of: domain)) { $0.hasExpired(at: now) }
        }
        if exceedsSiteLimit(domain) {
            evictOne(ofDomains: domainsOfSite(of: domain))
        } else if count > limits.total {
            enforceTotalLimit()
        }
    }

    /// Evicts a sixteenth of a full jar at once, so that only one of many new cookies causes a search.
    private mutating func enforceTotalLimit() {
        let targetCount = limits.total - limits.total / 16
        while count > targetCount {
            // The candidates are one cookie of each of the sites with the most cookies.
            let candidates = (sites?.largest ?? []).compactMap { nextToEvict(ofDomains: $0) }
                .sorted { $0.isEvicted(before: $1) }
            // Never true while cookies remain; without a candidate the loop would not end.
            if candidates.isEmpty { return }
            for entry in candidates.prefix(count - targetCount) { evict(entry) }
        }
    }

    /// Whether the registrable domain that this bare domain belongs to has too many cookies.
    private func exceedsSiteLimit(_ domain: String) -> Bool {
        (sites?.count(ofSiteOf: domain) ?? 0) > limits.perDomain
    }

    /// Returns all bare domains of the registrable domain that this bare domain belongs to.
    private func domainsOfSite(of domain: String) -> Set<String> { sites?.domains(ofSiteOf: domain) ?? [] }

    /// Evicts one cookie of these bare domains.
    private mutating func evictOne(ofDomains domains: Set<String>) {
        if let entry = nextToEvict(ofDomains: domains) { evict(entry) }
    }

    /// Removes this entry, which its `creationOrder` identifies.
    private mutating func evict(_ entry: Entry) {
        _ = removeAll(ofDomains: [Self.bareDomain(of: entry.cookie)]) {
            $0.creationOrder == entry.creationOrder
        }
    }

    /// Returns the least recently used cookie of these bare domains, if possible one without `Secure` (rfc6265bis §5.8), so that
    /// an attacker without a secure connection cannot displace cookies that were set over one.
    private func nextToEvict(ofDomains domains: Set<String>) -> Entry? {
        var next: Entry?
        for domain in domains {
            for entry in entriesByDomain[domain] ?? [] {
                if let next, !entry.isEvicted(before: next) { continue }
                next = entry
            }
        }
        return next
    }
}

extension CookieJar.Entry {
    /// Whether this cookie is evicted before the other: cookies without `Secure` first, then the least recently used one.
    fileprivate func isEvicted(before other: CookieJar.Entry) -> Bool {
        if cookie.isSecure != other.cookie.isSecure { return other.cookie.isSecure }
        return lastUse < other.lastUse
    }

    /// Whether the cookie has an expiry date that has passed.
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
        // A cookie without `Port` is sent to all ports.
        let matchesPort = cookie.contents.ports.map { $0.contains(origin.port) } ?? true
        return matchesDomain && !hasExpired(at: now) && (origin.isSecure || !cookie.isSecure)
            && origin.isPath(atOrBelow: cookie.path) && matchesPort
    }
}
