// SPDX-License-Identifier: MIT

internal import Dispatch

/// Where the loading system reads and writes files: no delegate queue and no loop thread ever waits for a disk.
enum StorageQueue {
    /// For work that needs no order among itself.
    static let files = DispatchQueue(label: "lupine.files", attributes: .concurrent)

    /// Serial: what is asked for first is on the disk first, and however many sessions there are, they cost one thread here
    /// while there is work and none when there is not.
    private static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "lupine.storage")
        queue.setSpecific(key: mark, value: ())
        return queue
    }()
    private static let mark = DispatchSpecificKey<Void>()

    /// Whether the caller runs there.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Does `work` after everything that was asked for before.
    static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
