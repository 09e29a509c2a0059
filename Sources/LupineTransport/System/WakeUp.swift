// SPDX-License-Identifier: MIT

/// An eventfd that ends a loop's wait. Any thread may signal it.
///
/// The descriptor is closed when the last reference is released, so that no thread writes to a descriptor that has been closed
/// and reused.
final class WakeUp: Sendable {
    /// Watched by the loop's poller.
    let descriptor: Descriptor

    init() throws(Errno) { descriptor = Descriptor(adopting: try Syscalls.eventfd()) }

    /// Ends the loop's current wait, or its next one.
    func signal() {
        // Fails only if the counter is full; then the loop is being woken anyway.
        _ = try? Syscalls.signal(eventfd: descriptor.rawValue)
    }
}
