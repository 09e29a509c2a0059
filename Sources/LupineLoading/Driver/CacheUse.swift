// SPDX-License-Identifier: MIT

internal import Foundation

/// The use of the cache in one hop of a load (a request with its response). A hop may revalidate an entry, or collect content to
/// store it. An entry that answers the request is delivered by `CachedDelivery`.
///
/// The members are stored behind two references, because the value is copied with the driver's state and most hops do not use the
/// cache.
struct CacheUse: Sendable {
    /// A response whose content is collected, so that response and content can be stored in the cache.
    private struct Collection: Sendable {
        let response: HTTPURLResponse
        let policy: URLCache.StoragePolicy
        /// When the response arrived.
        let arrival: Date
        /// The greatest number of bytes that the cache stores for one response.
        let limit: Int
        /// From which server, and over which kind of connection, the content came.
        let provenance: CacheProvenance
        /// The content that has arrived.
        var data = Data()

        /// Adds a piece of the content; returns false if there is now more than the limit.
        mutating func add(_ piece: Data) -> Bool {
            // The first piece from the network is shared with the client. A piece of a program's `URLProtocol` is copied, because
            // the release of its storage may run the program's code.
            let isFromProgram = if case .program = provenance.source { true } else { false }
            if data.isEmpty, !isFromProgram { data = piece } else { data.append(piece) }
            return data.count <= limit
        }
    }

    /// The members, which the initializer and the properties below describe.
    private struct Members: Sendable {
        let storageRequest: URLRequest?
        let requester: CacheRequester?
        var revalidatedEntry: CacheEntry?
        let supersededURL: URL?
        let storageKey: CacheKey?
    }

    /// Nil if the hop does not use the cache.
    private var members: CopyOnWriteBox<Members>?
    /// Nil while no content is collected. Separate from `members`, which are not copied when a collection begins.
    private var collection: CopyOnWriteBox<Collection>?

    /// Creates the value for a hop that does not use the cache.
    init() {}

    /// - Parameters:
    ///   - storageRequest: The request under which a response may be stored, with all its fields; nil stores nothing.
    ///   - supersededURL: The URL of an entry that the hop's response supersedes, if one is stored.
    ///   - revalidatedEntry: The entry that the hop revalidates.
    ///   - requester: The cache requester; nil only if nothing is looked up and nothing stored.
    ///   - storageKey: The `URLCache.defaultKey` of `storageRequest`, if it is known.
    init(
        storageRequest: URLRequest? = nil, supersededURL: URL? = nil, revalidatedEntry: CacheEntry? = nil,
        requester: CacheRequester? = nil, storageKey: CacheKey? = nil
    ) {
        members = CopyOnWriteBox(
            Members(
                storageRequest: storageRequest, requester: requester, revalidatedEntry: revalidatedEntry,
                supersededURL: supersededURL, storageKey: storageKey))
    }

    /// The request under which a response may be stored; nil stores nothing.
    var storageRequest: URLRequest? { members?.value.storageRequest }
    /// The cache requester; nil only if nothing is looked up and nothing stored.
    var requester: CacheRequester? { members?.value.requester }

    /// Removes and returns the entry that the hop revalidates.
    mutating func takeRevalidatedEntry() -> CacheEntry? {
        // The comparison avoids a copy: `take` would copy the members if they are shared, even without an entry.
        members?.value.revalidatedEntry == nil ? nil : members?.value.revalidatedEntry.take()
    }

    /// Starts to collect the content of a response if the response may be stored and is not known to be too long (U-12.3,
    /// U-12.4).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - policy: Where the source of the response allows it to be stored.
    ///   - cache: The cache, which limits the size.
    ///   - now: The time at which the response has arrived.
    ///   - provenance: Returns the provenance of the content. Called only if content is collected.
    /// - Returns: Whether content is collected.
    mutating func beginCollecting(
        _ response: HTTPURLResponse, _ policy: URLCache.StoragePolicy, for cache: URLCache, at now: Date,
        from provenance: () -> CacheProvenance
    ) -> Bool {
        // Before the checks, because content of an earlier response must not be stored with this response.
        stopCollecting()
        guard let request = storageRequest, policy != .notAllowed,
            CacheRule.isStorable(response, for: request)
        else { return false }
        let limit = policy == .allowed ? cache.largestEntry : cache.largestEntryInMemory
        // An unknown length, which is -1, passes.
        guard limit > 0, response.expectedContentLength <= Int64(limit) else { return false }
        collection = CopyOnWriteBox(
            Collection(
                response: response, policy: policy, arrival: now, limit: limit, provenance: provenance()))
        return true
    }

    /// Adds a piece of the content. Once the limit is exceeded, discards the collected content.
    ///
    /// - Returns: False if this piece has exceeded the limit; true otherwise, also if no content is collected.
    mutating func collect(_ piece: Data) -> Bool {
        guard isCollecting, collection?.value.add(piece) == false else { return true }
        stopCollecting()
        return false
    }

    /// Stops collecting, because the content will not be complete.
    mutating func stopCollecting() { collection = nil }

    /// The URL whose entry has to be removed, because the hop's response supersedes the entry but is not stored in its place
    /// (U-12.13). Nil if the response supersedes no entry, or while content is collected to replace the entry.
    var invalidatedURL: URL? { isCollecting ? nil : members?.value.supersededURL }

    /// Whether content is collected.
    var isCollecting: Bool { collection != nil }

    /// The response that is proposed for storage; nil if no content is collected.
    var proposal: CachedURLResponse? {
        (collection?.value).map { collection in
            CachedURLResponse(
                response: collection.response, data: collection.data, userInfo: nil,
                storagePolicy: collection.policy)
        }
    }

    /// Stores the response with which the client has replied to the proposal.
    ///
    /// - Parameters:
    ///   - response: The response to store.
    ///   - requestTime: When the request was sent.
    ///   - context: The context of the session, whose cache stores the response.
    func store(_ response: CachedURLResponse, requestTime: Date, _ context: SessionContext) {
        guard let collection = collection?.value, let members = members?.value,
            let request = members.storageRequest
        else { return }
        // `identifying` names the fields of the request that tell users apart. `writtenInfo` is nil if the `userInfo` cannot be
        // written to disk.
        let entry = CacheEntry(
            response: response, for: request, requestTime: requestTime, responseTime: collection.arrival,
            provenance: collection.provenance, identifying: context.settings.identifyingFields,
            writtenInfo: response.userInfo.flatMap { StorableValue($0) }, at: context.clock.date())
        context.settings.cache?.store(entry, for: request, key: members.storageKey)
    }
}
