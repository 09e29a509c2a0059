// SPDX-License-Identifier: MIT

/// How many cookies each registrable domain has, and on which shelves of a jar.
///
/// The root's dot makes another host and no other domain: `a.example` and `a.example.` count together.
struct CookieSites: Sendable {
    private struct Site: Sendable {
        var keys: Set<String> = []
        var count = 0
    }

    private let suffixes: PublicSuffixList
    /// The domain of each shelf.
    private var names: [String: String] = [:]
    private var sites: [String: Site] = [:]
    /// The domains that have so many cookies, so that those with the most are found without a look at all.
    private var ranks: [Int: Set<String>] = [:]
    private var most = 0

    /// Those of a jar, by the number of cookies on each of its shelves.
    init(_ shelves: [String: Int], _ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
        for (key, count) in shelves { changed(key, from: 0, to: count) }
    }

    /// A shelf had so many cookies, and has so many.
    mutating func changed(_ key: String, from before: Int, to now: Int) {
        guard before != now else { return }
        let name = names[key] ?? suffixes.registrableDomain(of: key)
        let count = (sites[name]?.count ?? 0) + now - before
        rank(name, from: sites[name]?.count ?? 0, to: count)
        sites[name, default: Site()].count = count
        if now > 0 {
            names[key] = name
            sites[name]?.keys.insert(key)
        } else {
            names[key] = nil
            sites[name]?.keys.remove(key)
            if sites[name]?.keys.isEmpty ?? false { sites[name] = nil }
        }
    }

    private mutating func rank(_ name: String, from before: Int, to now: Int) {
        ranks[before]?.remove(name)
        if ranks[before]?.isEmpty ?? false { ranks[before] = nil }
        if now > 0 { ranks[now, default: []].insert(name) }
        most = max(most, now)
        while most > 0, ranks[most] == nil { most -= 1 }
    }

    /// How many cookies the domain has that the shelf belongs to.
    func count(with key: String) -> Int { site(of: key)?.count ?? 0 }

    /// The shelves of that domain.
    func keys(with key: String) -> Set<String> { site(of: key)?.keys ?? [] }

    /// The shelves of the domain that a host belongs to, which need not have one itself; nil for a public suffix, below which there
    /// are many domains.
    func keys(ofDomainOf host: String) -> Set<String>? {
        if suffixes.contains(host) { return nil }
        return sites[suffixes.registrableDomain(of: host)]?.keys ?? []
    }

    /// The shelves of each of the domains that have the most.
    var largest: [Set<String>] { (ranks[most] ?? []).compactMap { sites[$0]?.keys } }

    private func site(of key: String) -> Site? { names[key].flatMap { sites[$0] } }
}
