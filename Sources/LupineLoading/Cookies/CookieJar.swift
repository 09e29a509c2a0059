// SPDX-License-Identifier: MIT

internal import Foundation

/// The cookies of one storage: what is kept, what is dropped, what goes where (RFC 6265 §5.3, §5.4; U-13.10, U-13.11).
///
/// A value without clock, lock or file: `HTTPCookieStorage` puts it behind a lock and tells it the time.
struct CookieJar: Sendable {
    /// One stored cookie.
    struct Entry: Sendable {
        let cookie: HTTPCookie
        /// When a cookie of this identity was first stored.
        let created: Date
        /// Tells which of two was stored first, also within one tick of the clock.
        let order: UInt64
        var lastUse: UInt64
    }

    /// How many cookies are kept.
    struct Limits: Sendable {
        var perDomain = 180
        var total = 3_000
    }

    private let limits: Limits
    /// By domain, without its dot.
    private var shelves: [String: [Entry]] = [:]
    private(set) var count = 0
    private var clock: UInt64 = 0

    /// No cookies yet.
    init(limits: Limits = Limits()) { self.limits = limits }

    /// All cookies that have not ended, the oldest first.
    func entries(at now: Date) -> [Entry] {
        shelves.values.joined().filter { !$0.isOver(at: now) }.sorted { $0.order < $1.order }
    }

    /// Keeps a cookie in place of the one of its name, domain and path; a cookie that has ended only removes that one.
    ///
    /// - Parameters:
    ///   - isSecure: False when the cookie came over a way that is not secure: it then leaves secure cookies alone.
    ///   - created: When it was first stored, if that is known from before.
    /// - Returns: Whether anything changed.
    @discardableResult
    mutating func store(_ cookie: HTTPCookie, isSecure: Bool = true, at now: Date, created: Date? = nil)
        -> Bool
    {
        let key = Self.key(of: cookie)
        if !isSecure, !cookie.isSecure, wouldCoverSecureCookie(cookie) { return false }
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
            count -= 1
            shelves[key] = shelf.isEmpty ? nil : shelf
            return true
        }
        if let index {
            shelf[index] = entry
        } else {
            shelf.append(entry)
            count += 1
        }
        shelves[key] = shelf
        makeRoom(on: key, at: now)
        return old?.cookie != cookie
    }

    /// Removes the cookie of that name, domain and path. Returns whether there was one.
    mutating func remove(_ cookie: HTTPCookie) -> Bool {
        removeAll { Self.isSame($0.cookie, cookie) }
    }

    /// Removes the cookies that were first stored at that time or later. Returns whether there were any.
    mutating func remove(since date: Date) -> Bool { removeAll { $0.created >= date } }

    /// The cookies for a request there, as they are to be sent: longer paths first, then older cookies.
    mutating func cookies(
        for origin: CookieOrigin, at now: Date, where isWanted: (HTTPCookie) -> Bool = { _ in true }
    )
        -> [HTTPCookie]
    {
        clock += 1
        var found: [Entry] = []
        var domain = origin.host[...]
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
            guard let dot = domain.firstIndex(of: "."), !HostName.isAddress(origin.host) else { break }
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

    private static func isSame(_ left: HTTPCookie, _ right: HTTPCookie) -> Bool {
        left.name == right.name && left.domain == right.domain && left.path == right.path
    }

    /// Whether a secure cookie of the name would be hidden by this one (RFC 6265bis §5.7): of a domain above or below,
    /// and of a path at or above this one's.
    private func wouldCoverSecureCookie(_ cookie: HTTPCookie) -> Bool {
        let key = Self.key(of: cookie)
        return shelves.contains { domain, shelf in
            (HostName.isSame(domain, orBelow: key) || HostName.isSame(key, orBelow: domain))
                && shelf.contains { entry in
                    entry.cookie.isSecure && entry.cookie.name == cookie.name
                        && (cookie.path == entry.cookie.path
                            || cookie.path.hasPrefix(
                                entry.cookie.path.hasSuffix("/") ? entry.cookie.path : entry.cookie.path + "/"
                            ))
                }
        }
    }

    // MARK: dropping

    private mutating func removeAll(where isUnwanted: (Entry) -> Bool) -> Bool {
        let before = count
        shelves = shelves.compactMapValues { shelf in
            let rest = shelf.filter { !isUnwanted($0) }
            return rest.isEmpty ? nil : rest
        }
        count = shelves.values.reduce(0) { $0 + $1.count }
        return count < before
    }

    /// Over a limit, cookies go that have ended, then those that were not used for longest.
    private mutating func makeRoom(on key: String, at now: Date) {
        let isCrowded = (shelves[key]?.count ?? 0) > limits.perDomain
        guard isCrowded || count > limits.total else { return }
        _ = removeAll { $0.isOver(at: now) }
        if let shelf = shelves[key], shelf.count > limits.perDomain,
            let oldest = shelf.min(by: { $0.lastUse < $1.lastUse })
        {
            _ = removeAll { $0.order == oldest.order }
        }
        if count > limits.total, let oldest = shelves.values.joined().min(by: { $0.lastUse < $1.lastUse }) {
            _ = removeAll { $0.order == oldest.order }
        }
    }
}

extension CookieJar.Entry {
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
