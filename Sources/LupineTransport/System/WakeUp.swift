// SPDX-License-Identifier: MIT

/// An eventfd that ends a loop's wait. May be signalled from any thread.
///
/// The descriptor is closed when the last reference is released, so that a thread about to write never writes to a descriptor
/// that has been closed and reused.
final class WakeUp: Sendable {
    /// Watched by the loop's poller.
    let descriptor: Descriptor

    init() throws(Errno) { descriptor = Descriptor(adopting: try Syscalls.eventfd()) }

    /// Ends the current wait, or the next one.
    func signal() {
        // Fails only if the counter is full; then the loop is being woken anyway.
        _ = try? Syscalls.signal(eventfd: descriptor.rawValue)
    }
}
