// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A gate opens once and stays open. Connections and tests wait for a gate instead of estimating a delay.
///
/// Any thread may use a gate.
package final class Gate: Sendable {
    private enum State {
        /// The closures to call when the gate opens.
        case closed(waiters: [@Sendable () -> Void])
        case open
    }

    private let state = Lock(State.closed(waiters: []))

    /// Creates a closed gate.
    package init() {}

    /// Opens the gate and wakes all waiters. Later calls have no effect.
    package func open() {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard case .closed(let waiters) = state else { return [] }
            state = .open
            return waiters
        }
        // Called without the lock, because a closure may use the gate.
        for wake in waiters { wake() }
    }

    /// Calls `wake` once. If the gate is open, the call happens at once; otherwise it happens when the gate opens, on the thread
    /// that opens the gate.
    package func whenOpen(_ wake: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state -> Bool in
            guard case .closed(var waiters) = state else { return true }
            // The placeholder `open` releases the enum's reference to the array, so that `append` does not copy the array.
            state = .open
            waiters.append(wake)
            state = .closed(waiters: waiters)
            return false
        }
        if isOpen { wake() }
    }

    /// Returns when the gate is open.
    package func wait() async {
        await withCheckedContinuation { continuation in
            whenOpen { continuation.resume() }
        }
    }
}
