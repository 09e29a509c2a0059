// SPDX-License-Identifier: MIT

/// The addresses whose entries a cache has replaced or removed while it was not the writer of its folder. When the cache becomes
/// the writer, it removes the folder's entries for these addresses, so that they do not reappear.
///
/// A value type of bounded size: when more than `maxAddressCount` addresses are inserted, it contains all possible addresses.
struct PendingRemovals: Hashable, Sendable {
    static let maxAddressCount = 4_096

    private var addresses: Set<String> = []
    private var containsAll = false

    var isEmpty: Bool { addresses.isEmpty && !containsAll }

    func contains(_ address: String) -> Bool { containsAll || addresses.contains(address) }

    mutating func insert(_ address: String) {
        if containsAll { return }
        addresses.insert(address)
        if addresses.count > Self.maxAddressCount { insertAll() }
    }

    mutating func insertAll() {
        containsAll = true
        addresses = []
    }
}
