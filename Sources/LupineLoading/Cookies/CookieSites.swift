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
    private var names: [String: String] = [:]
    private var sites: [String: Site] = [:]

    /// Those of a jar, by the number of cookies on each of its shelves.
    init(_ shelves: [String: Int], _ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
        for (key, count) in shelves { changed(key, from: 0, to: count) }
    }

    /// A shelf had so many cookies, and has so many.
    mutating func changed(_ key: String, from before: Int, to now: Int) {
        guard before != now else { return }
        let name = names[key] ?? suffixes.registrableDomain(of: key)
        sites[name, default: Site()].count += now - before
        if now > 0 {
            names[key] = name
            sites[name]?.keys.insert(key)
        } else {
            names[key] = nil
            sites[name]?.keys.remove(key)
            if sites[name]?.keys.isEmpty ?? false { sites[name] = nil }
        }
    }

    /// How many cookies the domain has that the shelf belongs to.
    func count(with key: String) -> Int { site(of: key)?.count ?? 0 }

    /// The shelves of that domain.
    func keys(with key: String) -> Set<String> { site(of: key)?.keys ?? [] }

    /// The shelves of the domains that have the most.
    var largest: Set<String> {
        let most = sites.values.reduce(0) { max($0, $1.count) }
        return sites.values.reduce(into: []) { keys, site in
            if site.count == most { keys.formUnion(site.keys) }
        }
    }

    private func site(of key: String) -> Site? { names[key].flatMap { sites[$0] } }
}
