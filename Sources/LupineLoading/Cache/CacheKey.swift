// SPDX-License-Identifier: MIT

/// Under which an entry is kept: its address, and its party unless that is the plain one.
package struct CacheKey: PartyKey {
    /// The address without its fragment (`CacheRule.key`).
    let address: String
    let party: CacheParty?

    var isPlain: Bool { party == nil }
}
