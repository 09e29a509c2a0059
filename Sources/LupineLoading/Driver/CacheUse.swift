// SPDX-License-Identifier: MIT

internal import Foundation

/// The use of the cache in one transaction: the entry that is revalidated, the response that is collected for it, the entry
/// that is delivered.
struct CacheUse: Sendable {
    /// A response that is collected for the cache.
    private struct Collection: Sendable {
        let response: HTTPURLResponse
        let policy: URLCache.StoragePolicy
        let arrival: Date
        let limit: Int
        let provenance: CacheProvenance
        var data = Data()
    }

    /// The request that a response may be stored for, with all its fields; nil stores nothing.
    var storesFor: URLRequest?
    /// The cache reader; nil only if nothing is looked up and nothing stored.
    let reader: CacheRequester?
    /// The entry that the transaction revalidates.
    var revalidates: CacheEntry?
    /// The entry that is delivered as the load's response.
    var answer: CacheEntry?
    /// A URL for which an entry may be stored that the transaction's response supersedes.
    private var supersedes: URL?
    private var collection: Collection?

    init(
        storesFor: URLRequest? = nil, supersedes: URL? = nil, revalidates: CacheEntry? = nil,
        answer: CacheEntry? = nil, reader: CacheRequester? = nil
    ) {
        self.reader = reader
        self.storesFor = storesFor
        self.supersedes = supersedes
        self.revalidates = revalidates
        self.answer = answer
    }

    /// Starts to collect the content of a response, if it may be stored and is not known to be too long (U-12.3, U-12.4).
    ///
    /// - Parameter provenance: Called only if content is collected.
    /// - Returns: Whether content is collected.
    mutating func collect(
        _ response: HTTPURLResponse, _ policy: URLCache.StoragePolicy, for cache: URLCache, at now: Date,
        from provenance: () -> CacheProvenance
    ) -> Bool {
        collection = nil
        guard let request = storesFor, policy != .notAllowed,
            CacheRule.isStorable(response, for: request)
        else { return false }
        let limit = policy == .allowed ? cache.largestEntry : cache.largestEntryInMemory
        guard limit > 0, response.expectedContentLength <= Int64(limit) else { return false }
        collection = Collection(
            response: response, policy: policy, arrival: now, limit: limit, provenance: provenance())
        return true
    }

    /// Adds a piece of the content. Nothing is kept once the limit is exceeded.
    ///
    /// - Returns: False if this piece has exceeded the limit.
    mutating func take(_ piece: Data) -> Bool {
        guard collection != nil else { return true }
        collection?.data.append(piece)
        guard let collection, collection.data.count > collection.limit else { return true }
        self.collection = nil
        return false
    }

    /// Stops collecting, because the content will not be complete.
    mutating func giveUp() { collection = nil }

    /// The URL whose stored response has been superseded by one that cannot be stored (U-12.13).
    var voided: URL? { isCollecting ? nil : supersedes }

    /// Whether content is being collected.
    var isCollecting: Bool { collection != nil }

    /// The response that is proposed for storing, with its time of arrival and its provenance.
    var proposal: (response: CachedURLResponse, arrival: Date, provenance: CacheProvenance)? {
        collection.map {
            (
                CachedURLResponse(
                    response: $0.response, data: $0.data, userInfo: nil, storagePolicy: $0.policy),
                $0.arrival, $0.provenance
            )
        }
    }
}
