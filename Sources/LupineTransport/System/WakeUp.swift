// SPDX-License-Identifier: MIT

/// An eventfd that ends the wait of a loop or of another thread. Any thread may signal it.
///
/// The descriptor is closed when the last reference is released, so that no thread writes to a descriptor that has been closed
/// and reused.
final class WakeUp: Sendable {
    /// The eventfd, which the waiting thread watches.
    let descriptor: Descriptor

    init() throws(Errno) { descriptor = Descriptor(adopting: try Syscalls.eventfd()) }

    /// Ends the loop's current wait, or its next one.
    func signal() {
        // The error is ignored: the call fails only if the counter is full, and an earlier signal then wakes the waiting thread.
        _ = try? Syscalls.signal(eventfd: descriptor.rawValue)
    }
}
