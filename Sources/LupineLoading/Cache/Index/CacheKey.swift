// SPDX-License-Identifier: MIT

/// The key of an entry: its address and its partition. Immutable.
///
/// A class that computes its hash once, because each entry is looked up in several dictionaries.
package final class CacheKey: PartyKey {
    /// The URL without its fragment and user information (`CacheRule.key`).
    let address: String
    /// The partition; nil for the default one.
    let party: CacheParty?
    private let storedHash: Int

    init(address: String, party: CacheParty?) {
        self.address = address
        self.party = party
        var hasher = Hasher()
        hasher.combine(address)
        hasher.combine(party)
        storedHash = hasher.finalize()
    }

    var isInDefaultPartition: Bool { party == nil }

    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        if left === right { return true }
        return left.storedHash == right.storedHash && left.address == right.address
            && left.party == right.party
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(storedHash) }
}
