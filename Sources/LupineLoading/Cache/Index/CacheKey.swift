// SPDX-License-Identifier: MIT

/// The key of a stored response in the cache: its address and its partition. Immutable.
///
/// It is a class that computes its hash once, because each key is looked up in several dictionaries.
package final class CacheKey: PartitionedKey {
    /// The URL without its fragment and user information (`CacheRule.key`).
    let address: String
    /// The partition; nil for the default one.
    let partition: CachePartition?
    private let precomputedHash: Int

    init(address: String, partition: CachePartition?) {
        self.address = address
        self.partition = partition
        var hasher = Hasher()
        hasher.combine(address)
        hasher.combine(partition)
        precomputedHash = hasher.finalize()
    }

    var isInDefaultPartition: Bool { partition == nil }

    /// Returns the key of the same address in another partition; itself if it is in that partition.
    func key(in partition: CachePartition?) -> CacheKey {
        partition == self.partition ? self : CacheKey(address: address, partition: partition)
    }

    package static func == (left: CacheKey, right: CacheKey) -> Bool {
        if left === right { return true }
        return left.precomputedHash == right.precomputedHash && left.address == right.address
            && left.partition == right.partition
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(precomputedHash) }
}
