// SPDX-License-Identifier: MIT

/// Counts the cookies of each site of a `CookieJar`, and lists the site's domains. A site is a registrable domain, such as
/// `a.example`, with all hosts below it.
///
/// All domains are bare: without a leading dot. A trailing dot makes another host but not another site: `a.example` and
/// `a.example.` count together.
struct CookieSites: Sendable {
    /// A registrable domain that has cookies.
    private struct Site: Sendable {
        /// The domains of the site that have cookies.
        var domains: Set<String> = []
        /// The number of cookies of all these domains.
        var count = 0
    }

    private let suffixes: PublicSuffixList
    /// The registrable domain of each domain that has cookies.
    private var siteNames: [String: String] = [:]
    /// The sites by their registrable domain.
    private var sites: [String: Site] = [:]
    /// The registrable domains by number of cookies, so that the sites with the most are found without a search.
    private var siteNamesByCount: [Int: Set<String>] = [:]
    /// The most cookies that any site has.
    private var largestCount = 0

    /// Creates the sites of a jar from the number of cookies of each of its domains.
    init(cookieCounts: [String: Int], _ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
        for (domain, count) in cookieCounts { updateCount(ofDomain: domain, from: 0, to: count) }
    }

    /// Records that the number of cookies of a domain has changed.
    mutating func updateCount(ofDomain domain: String, from oldCount: Int, to newCount: Int) {
        guard oldCount != newCount else { return }
        let name = siteNames[domain] ?? suffixes.registrableDomain(of: domain)
        let oldSiteCount = sites[name]?.count ?? 0
        let newSiteCount = oldSiteCount + newCount - oldCount
        updateCount(ofSite: name, from: oldSiteCount, to: newSiteCount)
        sites[name, default: Site()].count = newSiteCount
        // `newCount` is the domain's; other domains of the site may still have cookies.
        if newCount > 0 {
            siteNames[domain] = name
            sites[name]?.domains.insert(domain)
        } else {
            siteNames[domain] = nil
            sites[name]?.domains.remove(domain)
            if sites[name]?.domains.isEmpty ?? false { sites[name] = nil }
        }
    }

    /// Moves a site within `siteNamesByCount`, and updates `largestCount`.
    private mutating func updateCount(ofSite name: String, from oldCount: Int, to newCount: Int) {
        siteNamesByCount[oldCount]?.remove(name)
        if siteNamesByCount[oldCount]?.isEmpty ?? false { siteNamesByCount[oldCount] = nil }
        if newCount > 0 { siteNamesByCount[newCount, default: []].insert(name) }
        // The loop ends at the largest count that a site still has.
        largestCount = max(largestCount, newCount)
        while largestCount > 0, siteNamesByCount[largestCount] == nil { largestCount -= 1 }
    }

    /// Returns the number of cookies of the site of a domain; 0 if the domain has no cookies.
    func count(ofSiteOf domain: String) -> Int { site(of: domain)?.count ?? 0 }

    /// Returns the domains that have cookies in the site of a domain; none if that domain has no cookies.
    func domains(ofSiteOf domain: String) -> Set<String> { site(of: domain)?.domains ?? [] }

    /// Returns the domains that have cookies in the site of a host, which need not have cookies itself. Returns nil for a public
    /// suffix, which has many sites below it.
    func domains(ofSiteContaining host: String) -> Set<String>? {
        if suffixes.contains(host) { return nil }
        return sites[suffixes.registrableDomain(of: host)]?.domains ?? []
    }

    /// The sites with the most cookies, each as the set of its domains.
    var largest: [Set<String>] { (siteNamesByCount[largestCount] ?? []).compactMap { sites[$0]?.domains } }

    /// Returns the site of a domain; nil if the domain has no cookies.
    private func site(of domain: String) -> Site? { siteNames[domain].flatMap { sites[$0] } }
}
