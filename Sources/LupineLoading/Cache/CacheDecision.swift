// SPDX-License-Identifier: MIT

internal import Foundation

/// What becomes of a request, given what is stored for it: `CachePlan` and `Freshness` in one answer (U-12.9 to U-12.14).
/// Pure; the time is an argument.
enum CacheDecision: Sendable {
    /// Deliver what is stored.
    case use(CacheEntry)
    /// Send the request with these fields added; a 304 means that what is stored is still good.
    case revalidate(CacheEntry, adding: [HeaderList.Field])
    /// Send the request, with these fields set, and store what comes if it may be.
    case load(setting: [HeaderList.Field])
    /// Send the request as it is, and neither store what comes nor make anything of a 304: the caller does the caching.
    case bypass
    /// Do not send it: `URLError.resourceUnavailable`.
    case fail

    /// What tells the caches on the way not to answer from what they have.
    static let pastCaches = [
        HeaderList.Field(name: "Cache-Control", value: "no-cache"),
        HeaderList.Field(name: "Pragma", value: "no-cache"),
    ]

    /// - Parameters:
    ///   - request: The request, all its fields merged.
    ///   - configuration: The policy of the session, for a request that has none of its own (U-12.12).
    ///   - entry: What a look-up found; nil also where there is no cache.
    ///   - now: The time.
    init(
        for request: URLRequest, configuration: URLRequest.CachePolicy, entry: CacheEntry?, at now: Date
    ) {
        let policy = CachePlan.policy(of: request, configuration: configuration)
        let stored = Self.stored(entry, for: request, at: now)
        switch (CachePlan.plan(for: request, policy: policy, stored: stored), entry) {
        case (.useStored, let entry?): self = .use(entry)
        case (.revalidate, let entry?):
            self = .revalidate(entry, adding: entry.httpResponse.map(CacheRule.conditions) ?? [])
        case (.load, _), (.useStored, nil), (.revalidate, nil): self = .load(setting: [])
        case (.loadPastCaches, _): self = .load(setting: Self.pastCaches)
        case (.bypass, _): self = .bypass
        case (.fail, _): self = .fail
        }
    }

    /// Whether the decision depends on what is stored: else there is no need to look.
    static func needsEntry(for request: URLRequest, configuration: URLRequest.CachePolicy) -> Bool {
        guard CacheRule.hasKey(request) else { return false }
        let policy = CachePlan.policy(of: request, configuration: configuration)
        switch CachePlan.plan(for: request, policy: policy, stored: .fresh(hasValidator: true)) {
        case .useStored, .revalidate: return true
        case .load, .loadPastCaches, .bypass, .fail: return false
        }
    }

    private static func stored(_ entry: CacheEntry?, for request: URLRequest, at now: Date)
        -> CachePlan.Stored
    {
        guard let entry else { return .nothing }
        // What says nothing about itself is never fresh.
        guard let response = entry.httpResponse, let freshness = entry.freshness else {
            return .stale(hasValidator: false)
        }
        let hasValidator = !CacheRule.conditions(of: response).isEmpty
        return freshness.isUsable(at: now, for: CachePlan.control(of: request))
            ? .fresh(hasValidator: hasValidator) : .stale(hasValidator: hasValidator)
    }
}
