// SPDX-License-Identifier: MIT

package import LupineTLS

/// What judging a certificate may use to learn whether it was revoked: who fetches answers, where they are kept, how long
/// all of it may take for one connection.
package struct RevocationSupport: Sendable {
    /// Who fetches; nil for nobody.
    package var fetcher: (any RevocationFetcher)?
    /// Where answers are kept.
    package var cache: (any RevocationCaching)?
    /// How long one evaluation may fetch, in all.
    package var timeout: Duration

    /// The support given.
    package init(
        fetcher: (any RevocationFetcher)? = nil, cache: (any RevocationCaching)? = nil,
        timeout: Duration = .seconds(15)
    ) {
        self.fetcher = fetcher
        self.cache = cache
        self.timeout = timeout
    }

    /// No network and no memory.
    package static let none = RevocationSupport()

    /// What an evaluation that begins now may use.
    var access: RevocationAccess {
        RevocationAccess(fetcher: fetcher, deadline: .now.advanced(by: timeout), cache: cache)
    }

    /// What an evaluation on the calling thread may use: on a loop's thread nothing is fetched, whoever asks.
    package func access(mayFetch: Bool) -> RevocationAccess {
        mayFetch && !NativeThread.isLoop ? access : .cached(cache)
    }

    /// For evaluations that belong to no client: one fetcher and one memory for the process, on the loops that everybody
    /// shares, through the proxies of the environment. Made by the first that asks.
    package static let shared: RevocationSupport = {
        let memory = RevocationMemory()
        guard let group = try? EventLoopGroup.shared() else { return RevocationSupport(cache: memory) }
        let proxies = try? ProxyRule(environment: { Environment.value(of: $0) })
        let fetcher = RevocationClient(
            group: group, resolver: Resolver(configuration: Resolver.Configuration()),
            proxies: proxies ?? .direct)
        return RevocationSupport(fetcher: fetcher, cache: memory)
    }()
}

/// Answers about revocation, kept for all evaluations of a client.
package final class RevocationMemory: RevocationCaching {
    private let cache = Lock(RevocationCache())

    /// An empty memory.
    package init() {}

    package func answer(for key: RevocationKey, at time: UnixTime) -> RevocationAnswer? {
        cache.withLock { $0.answer(for: key, at: time) }
    }

    package func keep(_ answer: RevocationAnswer, for key: RevocationKey, at time: UnixTime) {
        cache.withLock { $0.keep(answer, for: key, at: time) }
    }
}
