// SPDX-License-Identifier: MIT

package import LupineTLS

/// The means of a trust evaluation to check whether certificates are revoked: a fetcher, a cache, and a time limit.
package struct RevocationSupport: Sendable {
    /// Fetches OCSP responses and CRLs; nil to fetch none.
    package var fetcher: (any RevocationFetcher)?
    /// Caches answers about certificates; nil for no cache.
    package var cache: (any RevocationCaching)?
    /// The limit of the total time that the fetches of one evaluation take.
    package var timeout: Duration

    /// Creates support with this fetcher, cache and time limit.
    package init(
        fetcher: (any RevocationFetcher)? = nil, cache: (any RevocationCaching)? = nil,
        timeout: Duration = .seconds(15)
    ) {
        self.fetcher = fetcher
        self.cache = cache
        self.timeout = timeout
    }

    /// Support without fetcher and cache: an evaluation uses only what the peer itself has sent.
    package static let none = RevocationSupport()

    /// The access to fetcher and cache for an evaluation that begins now. Each use sets a new deadline.
    var access: RevocationAccess {
        RevocationAccess(fetcher: fetcher, deadline: .now.advanced(by: timeout), cache: cache)
    }

    /// Returns the access for an evaluation on the calling thread. It allows only the cache if `mayFetch` is false, or on a
    /// loop's thread, because fetching blocks.
    package func access(mayFetch: Bool) -> RevocationAccess {
        mayFetch && !NativeThread.isLoop ? access : .cached(cache)
    }
}

/// A cache of revocation answers, shared by all evaluations of a client.
package final class SharedRevocationCache: RevocationCaching {
    private let cache = Lock(RevocationCache())

    /// Creates an empty cache.
    package init() {}

    package func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        cache.withLock { $0.answer(for: key, at: time) }
    }

    package func store(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        cache.withLock { $0.store(answer, for: key, at: time) }
    }
}
