// SPDX-License-Identifier: MIT

/// The bell of a loop: an eventfd that ends its wait. Rung from any thread.
///
/// The descriptor closes with the last reference, so that a thread about to ring never rings one that has
/// been closed and opened as something else.
final class WakeUp: Sendable {
    /// Watched by the loop's poller.
    let descriptor: Descriptor

    init() throws(Errno) { descriptor = Descriptor(adopting: try Syscalls.eventfd()) }

    /// Ends the wait, the present one or the next.
    func ring() {
        // Refused only when the counter is full; then the bell is ringing anyway.
        _ = try? Syscalls.ring(descriptor.rawValue)
    }
}
