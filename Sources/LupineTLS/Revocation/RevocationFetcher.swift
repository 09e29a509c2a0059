// SPDX-License-Identifier: MIT

/// Fetches revocation answers. `LupineTransport` implements it with HTTP.
public protocol RevocationFetcher: Sendable {
    /// Returns the body of a successful response. Blocks: the library calls it on a worker thread, never on an event loop's
    /// thread.
    ///
    /// - Parameters:
    ///   - query: The URL to query, and the request to send.
    ///   - deadline: The time at which the fetcher has to give up and throw `timedOut`.
    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8]
}

/// A query for a revocation answer.
public struct RevocationQuery: Sendable, Hashable {
    /// An `http` URL from the certificate.
    public let url: String
    /// The OCSP request to POST as `application/ocsp-request`; nil for a GET request for a revocation list.
    public let body: [UInt8]?
    /// The most bytes that the response may have.
    public let limit: Int

    /// Creates a query with these properties.
    public init(url: String, body: [UInt8]?, limit: Int) {
        self.url = url
        self.body = body
        self.limit = limit
    }
}

/// The reason why a revocation answer could not be fetched.
public enum RevocationFetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The deadline has passed.
    case timedOut
    /// The response is longer than this limit.
    case tooLarge(limit: Int)
    /// The server responded with this status.
    case status(Int)
    /// Another reason, as text.
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

/// The sources of revocation answers in addition to a stapled response: a cache and the network.
package struct RevocationAccess: Sendable {
    /// Fetches answers; nil for no network access.
    package var fetcher: (any RevocationFetcher)?
    /// The deadline for all queries together.
    package var deadline: ContinuousClock.Instant
    /// The cache of answers.
    package var cache: (any RevocationCaching)?

    /// Creates the access to these sources.
    package init(
        fetcher: (any RevocationFetcher)?, deadline: ContinuousClock.Instant,
        cache: (any RevocationCaching)? = nil
    ) {
        self.fetcher = fetcher
        self.deadline = deadline
        self.cache = cache
    }

    /// Access to neither a cache nor the network. Without a fetcher, the deadline has no meaning.
    package static var none: RevocationAccess { RevocationAccess(fetcher: nil, deadline: .now) }

    /// Access to cached answers only, without the network.
    package static func cached(_ cache: (any RevocationCaching)?) -> RevocationAccess {
        RevocationAccess(fetcher: nil, deadline: .now, cache: cache)
    }
}
