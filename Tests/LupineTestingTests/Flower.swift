// SPDX-License-Identifier: MIT

/// What the servers of these tests speak of.
struct Flower: Codable, Hashable, Sendable {
    var name: String
    var petals: Int
}
