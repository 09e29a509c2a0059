// SPDX-License-Identifier: MIT

/// The content of requests and responses in these tests.
struct Flower: Codable, Hashable, Sendable {
    var name: String
    var petals: Int
}
