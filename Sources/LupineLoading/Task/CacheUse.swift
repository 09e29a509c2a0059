// SPDX-License-Identifier: MIT

internal import Foundation

/// What the cache has to do with one hop: what it is asked about, what is collected for it, what it answers.
struct CacheUse: Sendable {
    /// A response on its way into the cache.
    private struct Collection: Sendable {
        let response: HTTPURLResponse
        let policy: URLCache.StoragePolicy
        let arrival: Date
        let limit: Int
        let provenance: CacheProvenance
        var data = Data()
    }

    /// The request that a response may be stored for, all its fields merged; nil stores nothing.
    var storesFor: URLRequest?
    /// Who asks; nil only where nothing is asked and nothing stored.
    let reader: CacheReader?
    /// What the hop asks about: whether it is still good.
    var revalidates: CacheEntry?
    /// What is the load's answer.
    var answer: CacheEntry?
    /// An address for which something may be stored that the hop's answer takes the place of.
    private var supersedes: URL?
    private var collection: Collection?

    init(
        storesFor: URLRequest? = nil, supersedes: URL? = nil, revalidates: CacheEntry? = nil,
        answer: CacheEntry? = nil, reader: CacheReader? = nil
    ) {
        self.reader = reader
        self.storesFor = storesFor
        self.supersedes = supersedes
        self.revalidates = revalidates
        self.answer = answer
    }

    /// Begins to collect the content of a response, if it may be stored and is not known to be too long (U-12.3, U-12.4).
    ///
    /// - Parameter provenance: Asked for only if it does.
    /// - Returns: Whether it does.
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

    /// Keeps a piece of the content; beyond the limit nothing is kept any more.
    ///
    /// - Returns: False when this piece was too much.
    mutating func take(_ piece: Data) -> Bool {
        guard collection != nil else { return true }
        collection?.data.append(piece)
        guard let collection, collection.data.count > collection.limit else { return true }
        self.collection = nil
        return false
    }

    /// The content will not be whole.
    mutating func giveUp() { collection = nil }

    /// The address whose stored answer has been superseded by one that cannot be stored (U-12.13).
    var voided: URL? { isCollecting ? nil : supersedes }

    /// Whether all that has come could be stored.
    var isCollecting: Bool { collection != nil }

    /// What is proposed to be stored, with the moment of its arrival and where it came from.
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
