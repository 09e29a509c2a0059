// SPDX-License-Identifier: MIT

/// Under which an entry is kept: its address, and its party unless that is the plain one. Immutable.
///
/// An object, hashed when it is made: each entry that is stored is looked for in several tables.
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
