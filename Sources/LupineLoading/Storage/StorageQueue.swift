// SPDX-License-Identifier: MIT

internal import Dispatch

/// The queues on which the loading system reads and writes files, so that no delegate queue and no event loop waits for a disk.
enum StorageQueue {
    /// The concurrent queue, for work that may run in any order.
    static let files = DispatchQueue(label: "lupine.files", attributes: .concurrent)

    /// The serial queue, for work that must run in the order in which it is submitted, such as writes. All sessions share the
    /// queue, so that they use one thread while there is work, and no thread otherwise.
    private static let serialQueue: DispatchQueue = {
        let queue = DispatchQueue(label: "lupine.storage")
        queue.setSpecific(key: specificKey, value: ())
        return queue
    }()
    /// The key of a value that only the serial queue has.
    private static let specificKey = DispatchSpecificKey<Void>()

    /// Whether the caller runs on the serial queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: specificKey) != nil }

    /// Runs `work` on the serial queue, after all work that was submitted earlier.
    static func run(_ work: @escaping @Sendable () -> Void) { serialQueue.async(execute: work) }
}
