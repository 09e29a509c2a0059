// SPDX-License-Identifier: MIT

import LupineTLS

extension RevocationSupport {
    /// The support for trust evaluations that belong to no client: one fetcher and one cache for the process. The fetcher uses
    /// the shared loops and the proxies of the environment. Created on first use.
    package static let shared: RevocationSupport = {
        let cache = SharedRevocationCache()
        guard let group = try? EventLoopGroup.shared() else { return RevocationSupport(cache: cache) }
        let proxies = try? ProxyRule(environment: { Environment.value(of: $0) })
        let fetcher = RevocationClient(
            group: group, resolver: Resolver(configuration: Resolver.Configuration()),
            proxies: proxies ?? .direct)
        return RevocationSupport(fetcher: fetcher, cache: cache)
    }()
}
