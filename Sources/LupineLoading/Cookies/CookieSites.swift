// SPDX-License-Identifier: MIT

/// For each registrable domain, the number of its cookies, and the keys of its shelves in a `CookieJar`. A shelf is the list of
/// the cookies of one domain, such as `www.a.example`; its key is that domain, without a leading dot.
///
/// A trailing dot makes another host but not another domain: `a.example` and `a.example.` count together.
struct CookieSites: Sendable {
    private struct Site: Sendable {
        var keys: Set<String> = []
        var count = 0
    }

    private let suffixes: PublicSuffixList
    /// The registrable domain of each shelf, by the shelf's key.
    private var names: [String: String] = [:]
    private var sites: [String: Site] = [:]
    /// The domains by their number of cookies, so that those with the most are found without a search.
    private var ranks: [Int: Set<String>] = [:]
    private var most = 0

    /// Creates the sites of a jar from the number of cookies on each of its shelves.
    init(_ shelves: [String: Int], _ suffixes: PublicSuffixList) {
        self.suffixes = suffixes
        for (key, count) in shelves { changed(key, from: 0, to: count) }
    }

    /// Records that the number of cookies on the shelf with this key has changed.
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

    /// Returns the number of cookies of the registrable domain that the shelf with this key belongs to.
    func count(with key: String) -> Int { site(of: key)?.count ?? 0 }

    /// Returns the keys of all shelves of the registrable domain that the shelf with this key belongs to.
    func keys(with key: String) -> Set<String> { site(of: key)?.keys ?? [] }

    /// Returns the keys of the shelves of the registrable domain that a host belongs to; the host need not have a shelf. Returns
    /// nil for a public suffix, which has many domains below it.
    func keys(ofDomainOf host: String) -> Set<String>? {
        if suffixes.contains(host) { return nil }
        return sites[suffixes.registrableDomain(of: host)]?.keys ?? []
    }

    /// The domains with the most cookies, each as the keys of its shelves.
    var largest: [Set<String>] { (ranks[most] ?? []).compactMap { sites[$0]?.keys } }

    private func site(of key: String) -> Site? { names[key].flatMap { sites[$0] } }
}
