// SPDX-License-Identifier: MIT

/// The addresses whose entries a cache has replaced or removed while another process was the folder's writer. When the cache
/// becomes the writer, it ignores the folder's entries for these addresses, so that removed entries do not reappear.
///
/// A value of bounded size: with too many addresses, all count as contained.
struct PendingRemovals: Hashable, Sendable {
    static let mostAddresses = 4_096

    private var addresses: Set<String> = []
    private var isAll = false

    var isEmpty: Bool { addresses.isEmpty && !isAll }

    func contains(_ address: String) -> Bool { isAll || addresses.contains(address) }

    mutating func insert(_ address: String) {
        if isAll { return }
        addresses.insert(address)
        if addresses.count > Self.mostAddresses { insertAll() }
    }

    mutating func insertAll() {
        isAll = true
        addresses = []
    }
}
