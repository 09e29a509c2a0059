// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The freshness lifetime and the age of a stored response (RFC 9111 §4.2; U-12.9, U-12.10).
///
/// Computed once from a response and the times of its request and its arrival. It has no side effects; the time is an argument. A
/// response that has arrived in the future, because the clock was set back, counts as stale.
struct Freshness: Hashable, Sendable {
    /// For how many seconds the response is fresh, counted from its creation at the server.
    let lifetime: TimeInterval
    /// The age of the response, in seconds, when it arrived (`corrected_initial_age`, RFC 9111 §4.2.3).
    let initialAge: TimeInterval
    /// When the response arrived.
    let arrival: Date
    /// The response's cache directives.
    let control: CacheControl

    /// The largest heuristic lifetime, in seconds: one day. A response without an explicit lifetime is fresh for a tenth of the
    /// time since its last modification (RFC 9111 §4.2.2).
    private static let maxHeuristicLifetime: TimeInterval = 86_400

    /// Computes the lifetime and the initial age of a response.
    ///
    /// - Parameters:
    ///   - response: The response, with the fields of a later 304 if there was one.
    ///   - requestTime: When its request was sent.
    ///   - arrival: When its head arrived.
    init(_ response: HTTPURLResponse, requestTime: Date, arrival: Date) {
        let field = { response.value(of: $0) }
        let control = CacheControl(of: response)
        let date = field(.date).flatMap(HTTPDate.date(from:)) ?? arrival
        let apparentAge = max(0, arrival.timeIntervalSince(date))
        let delay = max(0, arrival.timeIntervalSince(requestTime))
        initialAge = max(apparentAge, Self.age(field(.age)) + delay)
        self.arrival = arrival
        self.control = control
        if let maxAge = control.maxAge {
            lifetime = TimeInterval(maxAge)
        } else if let expires = field(.expires) {
            // An invalid date means that the response has expired already (RFC 9111 §5.3).
            lifetime = max(0, HTTPDate.date(from: expires)?.timeIntervalSince(date) ?? 0)
        } else if !control.noCache, !control.noStore,
            let lastModified = field(.lastModified).flatMap(HTTPDate.date(from:))
        {
            lifetime = min(max(0, date.timeIntervalSince(lastModified) / 10), Self.maxHeuristicLifetime)
        } else {
            lifetime = 0
        }
    }

    /// Returns the first number of an `Age` field, in seconds; 0 if it is invalid or absent. Digits are ASCII (0x30...0x39).
    private static func age(_ field: String?) -> TimeInterval {
        guard let first = field?.prefix(while: { $0 != "," }) else { return 0 }
        let digits = first.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return 0 }
        return TimeInterval(min(Int(digits) ?? .max, Int(Int32.max)))
    }

    /// Returns the age of the response in seconds; nil if the clock was set back to a time before its arrival.
    func age(at now: Date) -> TimeInterval? {
        let residentTime = now.timeIntervalSince(arrival)
        return residentTime < 0 ? nil : initialAge + residentTime
    }

    /// Whether the response may answer a request with these cache directives without being validated.
    func isUsable(at now: Date, for request: CacheControl = CacheControl()) -> Bool {
        guard !control.noCache, !request.noCache, let age = age(at: now) else { return false }
        if let maxAge = request.maxAge, age > TimeInterval(maxAge) { return false }
        // A response that must remain fresh may not be stale, so `max-stale` does not matter then.
        if let minFresh = request.minFresh { return lifetime - age >= TimeInterval(minFresh) }
        if lifetime > age { return true }
        if control.mustRevalidate { return false }
        switch request.maxStale {
        case .none: return false
        case .any: return true
        case .upTo(let seconds): return age - lifetime <= TimeInterval(seconds)
        }
    }
}
