// SPDX-License-Identifier: MIT

/// Gets the bytes of an answer about revocation. `LupineTransport` has the one that speaks HTTP.
public protocol RevocationFetcher: Sendable {
    /// The body of a successful answer. Blocks: it is called on a worker, never on a loop's thread.
    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8]
}

/// What is to be fetched.
public struct RevocationQuery: Sendable, Hashable {
    /// Where; an `http` URL as the certificate names it.
    public let url: String
    /// The OCSP request to POST as `application/ocsp-request`; nil for the GET of a revocation list.
    public let body: [UInt8]?
    /// How many bytes the answer may have.
    public let limit: Int

    /// A query.
    public init(url: String, body: [UInt8]?, limit: Int) {
        self.url = url
        self.body = body
        self.limit = limit
    }
}

/// Why nothing could be fetched.
public enum RevocationFetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The deadline has passed.
    case timedOut
    /// The answer is longer than this.
    case tooLarge(limit: Int)
    /// The server answered with this status.
    case status(Int)
    /// Another reason, in words.
    case failed(String)

    public var description: String {
        switch self {
        case .timedOut: "timed out"
        case .tooLarge(let limit): "the answer is longer than \(limit) bytes"
        case .status(let status): "HTTP status \(status)"
        case .failed(let reason): reason
        }
    }
}

/// What an evaluation may use to learn about revocation beyond what the peer has stapled.
package struct RevocationAccess: Sendable {
    /// Who fetches; nil for nobody.
    package var fetcher: (any RevocationFetcher)?
    /// Until when it may take, in all.
    package var deadline: ContinuousClock.Instant
    /// Where answers are kept.
    package var cache: (any RevocationCaching)?

    /// Access through these.
    package init(
        fetcher: (any RevocationFetcher)?, deadline: ContinuousClock.Instant,
        cache: (any RevocationCaching)? = nil
    ) {
        self.fetcher = fetcher
        self.deadline = deadline
        self.cache = cache
    }

    /// None.
    package static var none: RevocationAccess { RevocationAccess(fetcher: nil, deadline: .now) }

    /// Kept answers and no network.
    package static func cached(_ cache: (any RevocationCaching)?) -> RevocationAccess {
        RevocationAccess(fetcher: nil, deadline: .now, cache: cache)
    }
}
