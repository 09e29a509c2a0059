// SPDX-License-Identifier: MIT

internal import Foundation

/// What a task does about the cache before it goes to the network (U-12.11's table, U-12.12, U-12.14). Pure.
enum CachePlan: Hashable, Sendable {
    /// Load, and store what comes.
    case load
    /// Load past all caches on the way: with `Cache-Control: no-cache` and `Pragma: no-cache`.
    case loadPastCaches
    /// Load, and neither read nor store: the caller does the caching.
    case bypass
    /// Take what is stored.
    case useStored
    /// Ask the server whether what is stored is still good.
    case revalidate
    /// Neither stored nor to be loaded: `URLError.resourceUnavailable`.
    case fail

    /// What the cache has for a request.
    enum Stored: Hashable, Sendable {
        case nothing
        case fresh(hasValidator: Bool)
        case stale(hasValidator: Bool)

        fileprivate var hasValidator: Bool {
            switch self {
            case .nothing: false
            case .fresh(let hasValidator), .stale(let hasValidator): hasValidator
            }
        }
    }

    /// The fields by which a caller does its own caching.
    static let callerConditions = [
        "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range",
    ]

    /// Whether any of the fields counts for the plan of a request.
    static func isConcerned(_ headers: HeaderList) -> Bool {
        (callerConditions + ["Cache-Control", "Pragma"]).contains { headers[$0] != nil }
    }

    /// The policy that counts: the request's own, unless it leaves it to the configuration.
    static func policy(of request: URLRequest, configuration: URLRequest.CachePolicy)
        -> URLRequest.CachePolicy
    {
        request.cachePolicy == .useProtocolCachePolicy ? configuration : request.cachePolicy
    }

    /// The plan for a request under a policy.
    static func plan(
        for request: URLRequest, policy: URLRequest.CachePolicy, stored: Stored
    ) -> CachePlan {
        if callerConditions.contains(where: { request.value(forHTTPHeaderField: $0) != nil }) {
            return .bypass
        }
        let plan = plan(policy, stored)
        switch plan {
        case .useStored, .fail, .bypass: return plan
        case .load, .loadPastCaches, .revalidate:
            return control(of: request).onlyIfCached ? .fail : plan
        }
    }

    /// What a request's own fields say about the cache.
    static func control(of request: URLRequest) -> CacheControl {
        CacheControl(
            field: request.value(forHTTPHeaderField: "Cache-Control"),
            pragma: request.value(forHTTPHeaderField: "Pragma"))
    }

    private static func plan(_ policy: URLRequest.CachePolicy, _ stored: Stored) -> CachePlan {
        switch (policy, stored) {
        case (.reloadIgnoringLocalCacheData, _): .load
        case (.reloadIgnoringLocalAndRemoteCacheData, _): .loadPastCaches
        case (.returnCacheDataDontLoad, .nothing): .fail
        case (.useProtocolCachePolicy, .nothing), (.returnCacheDataElseLoad, .nothing),
            (.reloadRevalidatingCacheData, .nothing):
            .load
        case (.returnCacheDataElseLoad, .fresh), (.returnCacheDataElseLoad, .stale),
            (.returnCacheDataDontLoad, .fresh), (.returnCacheDataDontLoad, .stale),
            (.useProtocolCachePolicy, .fresh):
            .useStored
        case (.useProtocolCachePolicy, .stale), (.reloadRevalidatingCacheData, .fresh),
            (.reloadRevalidatingCacheData, .stale):
            stored.hasValidator ? .revalidate : .load
        }
    }
}
