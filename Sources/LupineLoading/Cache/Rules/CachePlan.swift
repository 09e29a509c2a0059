// SPDX-License-Identifier: MIT

internal import Foundation

/// What a task does about the cache before it uses the network (the table of U-12.11, U-12.12, U-12.14). Pure.
enum CachePlan: Hashable, Sendable {
    /// Load, and store the response.
    case load
    /// Load with `Cache-Control: no-cache` and `Pragma: no-cache`, so that no cache on the way answers.
    case loadFromOrigin
    /// Load without reading or storing: the caller does its own caching.
    case bypass
    /// Deliver the stored response.
    case useStored
    /// Ask the server whether the stored response is still valid.
    case revalidate
    /// Neither stored nor allowed to be loaded: fail with `URLError.resourceUnavailable`.
    case fail

    /// What is stored for a request.
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

    /// The fields that show that the caller does its own caching.
    static let callerConditions = [
        "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range",
    ]

    /// Whether any of the fields affects the plan of a request.
    static func isAffected(by headers: HeaderList) -> Bool {
        (callerConditions + ["Cache-Control", "Pragma"]).contains { headers[$0] != nil }
    }

    /// Returns the effective policy: the request's own, unless that is the protocol's default; then the configuration's.
    static func policy(of request: URLRequest, configuration: URLRequest.CachePolicy)
        -> URLRequest.CachePolicy
    {
        request.cachePolicy == .useProtocolCachePolicy ? configuration : request.cachePolicy
    }

    /// Returns the plan for a request under a policy.
    static func plan(
        for request: URLRequest, policy: URLRequest.CachePolicy, stored: Stored
    ) -> CachePlan {
        if callerConditions.contains(where: { request.value(forHTTPHeaderField: $0) != nil }) {
            return .bypass
        }
        let plan = plan(policy, stored)
        switch plan {
        case .useStored, .fail, .bypass: return plan
        case .load, .loadFromOrigin, .revalidate:
            return control(of: request).onlyIfCached ? .fail : plan
        }
    }

    /// Returns the request's own cache directives.
    static func control(of request: URLRequest) -> CacheControl {
        CacheControl(
            field: request.value(forHTTPHeaderField: "Cache-Control"),
            pragma: request.value(forHTTPHeaderField: "Pragma"))
    }

    private static func plan(_ policy: URLRequest.CachePolicy, _ stored: Stored) -> CachePlan {
        switch (policy, stored) {
        case (.reloadIgnoringLocalCacheData, _): .load
        case (.reloadIgnoringLocalAndRemoteCacheData, _): .loadFromOrigin
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
