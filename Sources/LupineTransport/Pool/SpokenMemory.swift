// SPDX-License-Identifier: MIT

/// Which origins were last found to speak HTTP/1.1 where they could have chosen HTTP/2.
///
/// It outlives an origin's connections, and holds fingerprints alone, a fixed number: of two origins that share a place the
/// later one is remembered. What is not known, or no longer right, costs a moment: one handshake that is waited for, or a few
/// more than were needed.
struct SpokenMemory {
    private static let places = 256
    /// Empty until there is something to remember.
    private var fingerprints: [Int?] = []

    /// Whether the origin chose HTTP/1.1 when it was last asked, as far as that is remembered.
    func knowsHTTP11(of origin: Origin) -> Bool {
        !fingerprints.isEmpty && fingerprints[place(of: origin)] == origin.fingerprint
    }

    /// Takes down what a connection to the origin speaks.
    mutating func note(_ origin: Origin, speaksHTTP2: Bool) {
        if speaksHTTP2 {
            if knowsHTTP11(of: origin) { fingerprints[place(of: origin)] = nil }
        } else {
            if fingerprints.isEmpty { fingerprints = Array(repeating: nil, count: Self.places) }
            fingerprints[place(of: origin)] = origin.fingerprint
        }
    }

    private func place(of origin: Origin) -> Int { origin.fingerprint & (Self.places - 1) }
}
