// SPDX-License-Identifier: MIT

internal import Foundation

/// What a task does with the cache before it uses the network (U-12.11, U-12.12, U-12.14). Has no side effects.
enum CachePlan: Hashable, Sendable {
    /// Load from the network, and store the response.
    case load
    /// Load with `Cache-Control: no-cache` and `Pragma: no-cache`, so that no intermediary answers from its cache.
    case loadFromOrigin
    /// Load without using the cache, because the program does its own caching.
    case bypass
    /// Deliver the stored response.
    case useStored
    /// Validate the stored response with the server.
    case revalidate
    /// Fail with `URLError.resourceUnavailable`: nothing is stored, and loading is not allowed.
    case fail

    /// What the cache has for a request.
    enum StoredResponse: Hashable, Sendable {
        /// No response.
        case nothing
        /// A response that may be used without validation.
        case fresh(hasValidator: Bool)
        /// A response that must be validated before use.
        case stale(hasValidator: Bool)

        /// Whether the response has an entity tag or a date, with which it can be validated.
        fileprivate var hasValidator: Bool {
            switch self {
            case .nothing: false
            case .fresh(let hasValidator), .stale(let hasValidator): hasValidator
            }
        }
    }

    /// The request fields that show that the program does its own caching: conditions and a range.
    static let callerConditions = [
        "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Range",
    ]

    /// Whether the fields of a request affect its plan.
    static func isAffected(by headers: HeaderList) -> Bool { headers.contains(anyOf: affectingNames) }

    private static let affectingNames = callerConditions + ["Cache-Control", "Pragma"]

    /// Returns the effective policy: the request's own, unless that is the protocol's default; then the configuration's.
    static func policy(of request: URLRequest, configuration: URLRequest.CachePolicy)
        -> URLRequest.CachePolicy
    {
        request.cachePolicy == .useProtocolCachePolicy ? configuration : request.cachePolicy
    }

    /// Returns the plan for a request under a policy.
    static func plan(
        for request: URLRequest, policy: URLRequest.CachePolicy, stored: StoredResponse
    ) -> CachePlan {
        if request.headerList.contains(anyOf: callerConditions) { return .bypass }
        let plan = plan(policy, stored)
        switch plan {
        // `only-if-cached` forbids only plans that use the network. `bypass` does not occur here.
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

    /// Returns the plan without regard to the request's fields.
    private static func plan(_ policy: URLRequest.CachePolicy, _ stored: StoredResponse) -> CachePlan {
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
