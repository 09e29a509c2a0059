// SPDX-License-Identifier: MIT

/// The key of an entry: its address, and its partition unless that is the default one. Immutable.
///
/// A class whose hash is computed once, because each stored entry is looked up in several tables.
package final class CacheKey: PartyKey {
    /// The address without its fragment (`CacheRule.key`).
    let address: String
    let party: CacheParty?
    private let ownHash: Int

    init(address: String, party: CacheParty?) {
        self.address = address
        self.party = party
        var hasher = Hasher()
        hasher.combine(address)
        hasher.combine(party)
        ownHash = hasher.finalize()
    }

    var isPlain: Bool { party == nil }

    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        left === right
            || left.ownHash == right.ownHash && left.address == right.address && left.party == right.party
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ownHash) }
}
