// SPDX-License-Identifier: MIT

/// A set of origins for which one fact was found last, such as that they chose HTTP/1.1 over HTTP/2.
///
/// It outlives an origin's connections. It stores only fingerprints, and a fixed number of them: of two origins with the same
/// place the later one is kept. A lost entry only costs finding out again.
struct OriginMemory {
    private static let places = 256
    /// Empty until the first origin is stored.
    private var fingerprints: [Int?] = []

    /// Whether the origin is in the set.
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
