// SPDX-License-Identifier: MIT

/// A set of origins that share one property, such as that they chose HTTP/1.1 over HTTP/2.
///
/// The set still contains an origin after its connections have closed. It stores a fixed number of fingerprints: of two origins
/// with the same index, the one inserted last replaces the other, which is then no longer in the set. Origins with equal
/// fingerprints count as one.
struct OriginMemory {
    /// A power of two, so that `index(of:)` can mask the fingerprint.
    static let capacity = 256
    /// The fingerprints of the origins, at the index that `index(of:)` returns. Empty until the first origin is inserted.
    private var fingerprints: [Int?] = []

    /// Whether the origin is in the set.
    func contains(_ origin: Origin) -> Bool {
        !fingerprints.isEmpty && fingerprints[index(of: origin)] == origin.fingerprint
    }

    mutating func insert(_ origin: Origin) {
        if fingerprints.isEmpty { fingerprints = Array(repeating: nil, count: Self.capacity) }
        fingerprints[index(of: origin)] = origin.fingerprint
    }

    mutating func remove(_ origin: Origin) {
        if contains(origin) { fingerprints[index(of: origin)] = nil }
    }

    private func index(of origin: Origin) -> Int { origin.fingerprint & (Self.capacity - 1) }
}
