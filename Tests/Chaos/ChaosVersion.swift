// SPDX-License-Identifier: MIT

/// The HTTP version of a round.
package enum ChaosVersion: String, Hashable, Sendable, CaseIterable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2: negotiated with TLS, by prior knowledge without it.
    case http2

    /// Chooses the version for a seed if the arguments do not: HTTP/2 for four of the first ten seeds, with and without TLS, with
    /// either retrier.
    package init(seed: UInt64) { self = seed / 4 % 2 == 1 ? .http2 : .http1 }

    /// Returns whether a session of that seed also offers HTTP/1.1 where the origin can choose.
    package func offersBoth(seed: UInt64) -> Bool { self == .http2 && seed / 2 % 2 == 1 }
}
