// SPDX-License-Identifier: MIT

/// The addresses whose entries a cache has replaced or removed while another one was the writer of its folder. When it becomes
/// the writer itself, what the folder has of them counts for nothing: what was taken away does not come back.
///
/// A value of bounded size: when there are too many addresses, all count as taken away.
struct CacheWithdrawals: Hashable, Sendable {
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
