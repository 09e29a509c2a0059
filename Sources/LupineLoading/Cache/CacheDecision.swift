// SPDX-License-Identifier: MIT

internal import Foundation

/// What a task does with a request, given the entry that the cache has for it. Combines `CachePlan`, which depends on the policy,
/// and `Freshness`, which depends on the response (U-12.9 to U-12.14). It has no side effects; the time is an argument.
enum CacheDecision: Sendable {
    /// Deliver the stored response.
    case use(CacheEntry)
    /// Send the request with these fields added, which make it conditional. A 304 confirms the stored response.
    case revalidate(CacheEntry, adding: [HeaderList.Field])
    /// Send the request with these fields set, and store the response if that is allowed.
    case load(setting: [HeaderList.Field])
    /// Send the request unchanged, do not store the response, and deliver even a 304, because the program does its own caching.
    case bypass
    /// Do not send the request; fail with `URLError.resourceUnavailable`.
    case fail

    /// The fields that make intermediaries not answer from their caches (RFC 9111 §5.2.1.4).
    static let noCacheFields = [
        HeaderList.Field(name: "Cache-Control", value: "no-cache"),
        HeaderList.Field(name: "Pragma", value: "no-cache"),
    ]

    /// Decides what to do with a request.
    ///
    /// - Parameters:
    ///   - request: The request with all its fields merged.
    ///   - configuration: The policy of the session, for a request without a policy (U-12.12).
    ///   - entry: The result of the look-up; nil if there is no entry or no cache.
    ///   - now: The current time.
    init(
        for request: URLRequest, configuration: URLRequest.CachePolicy, entry: CacheEntry?, at now: Date
    ) {
        let policy = CachePlan.policy(of: request, configuration: configuration)
        let stored = Self.stored(entry, for: request, at: now)
        switch (CachePlan.plan(for: request, policy: policy, stored: stored), entry) {
        case (.useStored, let entry?): self = .use(entry)
        case (.revalidate, let entry?):
            // Only an HTTP response has a validator, so there always is an `httpResponse`.
            self = .revalidate(entry, adding: entry.httpResponse.map(CacheRule.conditions) ?? [])
        // Without an entry the plan is neither `useStored` nor `revalidate`.
        case (.load, _), (.useStored, nil), (.revalidate, nil): self = .load(setting: [])
        case (.loadFromOrigin, _): self = .load(setting: Self.noCacheFields)
        case (.bypass, _): self = .bypass
        case (.fail, _): self = .fail
        }
    }

    /// Whether the decision depends on the stored entry, so that a look-up is needed.
    static func needsEntry(for request: URLRequest, configuration: URLRequest.CachePolicy) -> Bool {
        guard CacheRule.hasKey(request) else { return false }
        let policy = CachePlan.policy(of: request, configuration: configuration)
        // Tries the plan with the best possible entry, a fresh one with a validator: a policy that uses any stored entry uses it.
        switch CachePlan.plan(for: request, policy: policy, stored: .fresh(hasValidator: true)) {
        case .useStored, .revalidate: return true
        case .load, .loadFromOrigin, .bypass, .fail: return false
        }
    }

    /// Classifies the entry for `CachePlan`.
    private static func stored(_ entry: CacheEntry?, for request: URLRequest, at now: Date)
        -> CachePlan.StoredResponse
    {
        guard let entry else { return .nothing }
        // A response without freshness information is never fresh.
        guard let response = entry.httpResponse, let freshness = entry.freshness else {
            return .stale(hasValidator: false)
        }
        let hasValidator = CacheRule.hasValidator(response)
        return freshness.isUsable(at: now, for: CachePlan.control(of: request))
            ? .fresh(hasValidator: hasValidator) : .stale(hasValidator: hasValidator)
    }
}
