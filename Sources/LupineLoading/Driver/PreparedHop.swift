// SPDX-License-Identifier: MIT

internal import Foundation

/// A hop that is ready to start, with what its driver has to know when the response arrives.
struct PreparedHop: ~Copyable, Sendable {
    /// Carries out the hop; nil once the hop has ended.
    var load: (any HopLoad)?
    /// Whether the hop uses the network, so that the driver handles its redirects, challenges and cookies.
    var usesNetwork = true
    /// The request with all fields that the driver has added.
    let sentRequest: URLRequest
    /// The request as the program sees it: `sentRequest` without answers to challenges and conditional fields of the cache.
    let visibleRequest: URLRequest
    /// The answer to the server's challenge that the hop sends: the value of `Authorization`. Nil if it sends none.
    var authorization: String?
    /// Whether the hop sends an answer to a challenge, of the server or of a proxy.
    var hasSentAnswer = false
    /// The judge decides whether the server of the hop's connection is trusted. Nil if storing cookies and responses does not
    /// depend on the judge.
    var judge: TrustJudge?
    /// When the hop was created.
    var fetchStart = Date.distantPast
    /// How the hop uses the cache.
    var cacheUse = CacheUse()
}
