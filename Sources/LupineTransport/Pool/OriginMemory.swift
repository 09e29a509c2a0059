// SPDX-License-Identifier: MIT

/// Origins of which one thing was found out last, such as that they chose HTTP/1.1 where they could have chosen HTTP/2.
///
/// It outlives an origin's connections, and holds fingerprints alone, a fixed number: of two origins that share a place the
/// later one is remembered. What is forgotten is found out once more.
struct OriginMemory {
    private static let places = 256
    /// Empty until there is something to remember.
    private var fingerprints: [Int?] = []

    /// Whether the origin is remembered.
    func contains(_ origin: Origin) -> Bool {
        !fingerprints.isEmpty && fingerprints[place(of: origin)] == origin.fingerprint
    }

    mutating func insert(_ origin: Origin) {
        if fingerprints.isEmpty { fingerprints = Array(repeating: nil, count: Self.places) }
        fingerprints[place(of: origin)] = origin.fingerprint
    }

    mutating func remove(_ origin: Origin) {
        if contains(origin) { fingerprints[place(of: origin)] = nil }
    }

    private func place(of origin: Origin) -> Int { origin.fingerprint & (Self.places - 1) }
}
