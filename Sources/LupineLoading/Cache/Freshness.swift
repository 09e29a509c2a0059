// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// How long a stored response may be used without asking, and how old it is (RFC 9111 §4.2; U-12.9, U-12.10).
///
/// Made once from a response and the two moments of its exchange; pure, the time is an argument. A clock that is set
/// back makes nothing fresh: what seems to come from the future counts as stale.
struct Freshness: Hashable, Sendable {
    /// For how many seconds the response is fresh.
    let lifetime: TimeInterval
    /// How old it was when it arrived.
    let initialAge: TimeInterval
    /// When it arrived.
    let arrival: Date
    /// What it says about itself.
    let control: CacheControl

    /// Without better knowledge a response is fresh for a tenth of the time that it has not changed for, up to this.
    private static let longestGuess: TimeInterval = 86_400

    /// - Parameters:
    ///   - response: The response as it arrived, or as it was updated since.
    ///   - asked: When its request was sent.
    ///   - arrival: When its head arrived.
    init(_ response: HTTPURLResponse, asked: Date, arrival: Date) {
        let field = { response.value(of: $0) }
        let control = CacheControl(of: response)
        let date = field(.date).flatMap(HTTPDate.moment) ?? arrival
        let apparentAge = max(0, arrival.timeIntervalSince(date))
        let delay = max(0, arrival.timeIntervalSince(asked))
        initialAge = max(apparentAge, Self.age(field(.age)) + delay)
        self.arrival = arrival
        self.control = control
        if let maxAge = control.maxAge {
            lifetime = TimeInterval(maxAge)
        } else if let expires = field(.expires) {
            lifetime = max(0, HTTPDate.moment(of: expires)?.timeIntervalSince(date) ?? 0)
        } else if !control.noCache, !control.noStore,
            let changed = field(.lastModified).flatMap(HTTPDate.moment)
        {
            lifetime = min(max(0, date.timeIntervalSince(changed) / 10), Self.longestGuess)
        } else {
            lifetime = 0
        }
    }

    /// The first number of an `Age`; what is none says nothing.
    private static func age(_ field: String?) -> TimeInterval {
        guard let first = field?.prefix(while: { $0 != "," }) else { return 0 }
        let digits = first.trimmingCharacters(in: .whitespaces)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return 0 }
        return TimeInterval(min(Int(digits) ?? .max, Int(Int32.max)))
    }

    /// How old the response is; nil when the clock was set back behind its arrival.
    func age(at now: Date) -> TimeInterval? {
        let resident = now.timeIntervalSince(arrival)
        return resident < 0 ? nil : initialAge + resident
    }

    /// Whether a request may have the response without the server being asked.
    func isUsable(at now: Date, for request: CacheControl = CacheControl()) -> Bool {
        guard !control.noCache, !request.noCache, let age = age(at: now) else { return false }
        if let maxAge = request.maxAge, age > TimeInterval(maxAge) { return false }
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
