// SPDX-License-Identifier: MIT

/// Counts the cookies of each registrable domain (a site) of a `CookieJar`, and lists the keys of its shelves. A shelf is the
/// list of the cookies of one domain, such as `www.a.example`; its key is that domain, without a leading dot.
///
/// A trailing dot makes another host but not another site: `a.example` and `a.example.` count together.
struct CookieSites: Sendable {
    private struct Site: Sendable {
        var keys: Set<String> = []
        var count = 0
    }

    private let suffixes: PublicSuffixList
    /// The registrable domain of each shelf, by the shelf's key.
    private var siteNames: [String: String] = [:]
    /// The sites by their registrable domain.
    private var sites: [String: Site] = [:]
    /// The sites by their number of cookies, so that those with the most are found without a search.
    private var sitesByCount: [Int: Set<String>] = [:]
    /// The most cookies that any site has.
    private var largestCount = 0

    /// Creates the sites of a jar from the number of cookies on each of its shelves.
    init(_ shelves: [String: Int], _ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
        for (key, count) in shelves { changed(key, from: 0, to: count) }
    }

    /// Records that the number of cookies on the shelf with this key has changed from `before` to `now`.
    mutating func changed(_ key: String, from before: Int, to now: Int) {
        guard before != now else { return }
        let name = siteNames[key] ?? suffixes.registrableDomain(of: key)
        let count = (sites[name]?.count ?? 0) + now - before
        updateCount(name, from: sites[name]?.count ?? 0, to: count)
        sites[name, default: Site()].count = count
        if now > 0 {
            siteNames[key] = name
            sites[name]?.keys.insert(key)
        } else {
            siteNames[key] = nil
            sites[name]?.keys.remove(key)
            if sites[name]?.keys.isEmpty ?? false { sites[name] = nil }
        }
    }

    /// Moves a site within `sitesByCount`, and updates `largestCount`.
    private mutating func updateCount(_ name: String, from before: Int, to now: Int) {
        sitesByCount[before]?.remove(name)
        if sitesByCount[before]?.isEmpty ?? false { sitesByCount[before] = nil }
        if now > 0 { sitesByCount[now, default: []].insert(name) }
        largestCount = max(largestCount, now)
        while largestCount > 0, sitesByCount[largestCount] == nil { largestCount -= 1 }
    }

    /// Returns the number of cookies of the site that the shelf with this key belongs to.
    func count(with key: String) -> Int { site(of: key)?.count ?? 0 }

    /// Returns the keys of all shelves of the site that the shelf with this key belongs to.
    func keys(with key: String) -> Set<String> { site(of: key)?.keys ?? [] }

    /// Returns the keys of the shelves of the site that a host belongs to; the host need not have a shelf. Returns nil for a
    /// public suffix, which has many sites below it.
    func keys(ofDomainOf host: String) -> Set<String>? {
        if suffixes.contains(host) { return nil }
        return sites[suffixes.registrableDomain(of: host)]?.keys ?? []
    }

    /// The sites with the most cookies, each as the keys of its shelves.
    var largest: [Set<String>] { (sitesByCount[largestCount] ?? []).compactMap { sites[$0]?.keys } }

    private func site(of key: String) -> Site? { siteNames[key].flatMap { sites[$0] } }
}
