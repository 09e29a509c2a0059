// SPDX-License-Identifier: MIT

/// What is spoken in a round.
package enum ChaosSpeech: String, Hashable, Sendable, CaseIterable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2: over TLS as chosen there, without it by prior knowledge.
    case http2

    /// What a seed's round speaks when nobody says it: four of ten HTTP/2, with and without TLS, with either retrier.
    package init(seed: UInt64) { self = seed / 4 % 2 == 1 ? .http2 : .http1 }

    /// Whether a session of that seed offers HTTP/1.1 as well where the origin may choose.
    package func offersBoth(seed: UInt64) -> Bool { self == .http2 && seed / 2 % 2 == 1 }
}
