// SPDX-License-Identifier: MIT

internal import Dispatch

/// The queues on which the loading system reads and writes files: no delegate queue and no loop thread ever waits for a disk.
enum StorageQueue {
    /// For work that needs no order.
    static let files = DispatchQueue(label: "lupine.files", attributes: .concurrent)

    /// Serial: writes reach the disk in the order in which they were requested. All sessions share it, so that they use one
    /// thread while there is work, and none otherwise.
    private static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "lupine.storage")
        queue.setSpecific(key: mark, value: ())
        return queue
    }()
    private static let mark = DispatchSpecificKey<Void>()

    /// Whether the caller runs on the serial queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Runs `work` after everything that was submitted before.
    static func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
