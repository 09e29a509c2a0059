// SPDX-License-Identifier: MIT

internal import Dispatch

/// The queues on which the loading system reads and writes files: no delegate queue and no loop thread ever waits for a disk.
enum StorageQueue {
    /// The concurrent queue, for work that may run in any order.
    static let files = DispatchQueue(label: "lupine.files", attributes: .concurrent)

    /// The serial queue: writes reach the disk in the order in which they were requested. All sessions share it, so that they
    /// use one thread while there is work, and none otherwise.
    private static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "lupine.storage")
        queue.setSpecific(key: specificKey, value: ())
        return queue
    }()
    private static let specificKey = DispatchSpecificKey<Void>()

    /// Whether the caller runs on the serial queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: specificKey) != nil }

    /// Runs `work` on the serial queue, after all work that was submitted earlier.
    static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
