// SPDX-License-Identifier: MIT

internal import Foundation

/// The use of the cache in one transaction: the entry that is revalidated, the response that is collected for it, the entry
/// that is delivered. Most transactions do not use it, and it is copied with the state of the driver, so it is one reference.
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

    private struct Members: Sendable {
        let storesFor: URLRequest?
        let reader: CacheRequester?
        var revalidates: CacheEntry?
        let answer: CacheEntry?
        let supersedes: URL?
        var collection: Collection?
    }

    /// Nil if the transaction does not use the cache.
    private var members: Shared<Members>?

    /// The transaction does not use the cache.
    init() {}

    /// - Parameters:
    ///   - storesFor: The request that a response may be stored for, with all its fields; nil stores nothing.
    ///   - supersedes: A URL for which an entry may be stored that the transaction's response supersedes.
    ///   - revalidates: The entry that the transaction revalidates.
    ///   - answer: The entry that is delivered as the load's response.
    ///   - reader: The cache reader; nil only if nothing is looked up and nothing stored.
    init(
        storesFor: URLRequest? = nil, supersedes: URL? = nil, revalidates: CacheEntry? = nil,
        answer: CacheEntry? = nil, reader: CacheRequester? = nil
    ) {
        members = Shared(
            Members(
                storesFor: storesFor, reader: reader, revalidates: revalidates, answer: answer,
                supersedes: supersedes))
    }

    /// The request that a response may be stored for; nil stores nothing.
    var storesFor: URLRequest? { members?.value.storesFor }
    /// The cache reader; nil only if nothing is looked up and nothing stored.
    var reader: CacheRequester? { members?.value.reader }
    /// The entry that is delivered as the load's response.
    var answer: CacheEntry? { members?.value.answer }

    /// Removes and returns the entry that the transaction revalidates.
    mutating func takeRevalidated() -> CacheEntry? {
        members?.value.revalidates == nil ? nil : members?.value.revalidates.take()
    }

    /// Starts to collect the content of a response, if it may be stored and is not known to be too long (U-12.3, U-12.4).
    ///
    /// - Parameter provenance: Called only if content is collected.
    /// - Returns: Whether content is collected.
    mutating func collect(
        _ response: HTTPURLResponse, _ policy: URLCache.StoragePolicy, for cache: URLCache, at now: Date,
        from provenance: () -> CacheProvenance
    ) -> Bool {
        giveUp()
        guard let request = storesFor, policy != .notAllowed,
            CacheRule.isStorable(response, for: request)
        else { return false }
        let limit = policy == .allowed ? cache.largestEntry : cache.largestEntryInMemory
        guard limit > 0, response.expectedContentLength <= Int64(limit) else { return false }
        members?.value.collection = Collection(
            response: response, policy: policy, arrival: now, limit: limit, provenance: provenance())
        return true
    }

    /// Adds a piece of the content. Nothing is kept once the limit is exceeded.
    ///
    /// - Returns: False if this piece has exceeded the limit.
    mutating func take(_ piece: Data) -> Bool {
        guard isCollecting else { return true }
        members?.value.collection?.data.append(piece)
        guard let collection = members?.value.collection, collection.data.count > collection.limit else {
            return true
        }
        giveUp()
        return false
    }

    /// Stops collecting, because the content will not be complete.
    mutating func giveUp() {
        if isCollecting { members?.value.collection = nil }
    }

    /// The URL whose stored response has been superseded by one that cannot be stored (U-12.13).
    var voided: URL? { isCollecting ? nil : members?.value.supersedes }

    /// Whether content is being collected.
    var isCollecting: Bool { members?.value.collection != nil }

    /// The response that is proposed for storing, with its time of arrival and its provenance.
    var proposal: (response: CachedURLResponse, arrival: Date, provenance: CacheProvenance)? {
        members?.value.collection.map {
            (
                CachedURLResponse(
                    response: $0.response, data: $0.data, userInfo: nil, storagePolicy: $0.policy),
                $0.arrival, $0.provenance
            )
        }
    }
}
