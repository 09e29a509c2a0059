// SPDX-License-Identifier: MIT

internal import LupineTransport

/// An event that happens once: connections and tests wait for it instead of estimating delays.
///
/// Any thread may use it.
package final class Gate: Sendable {
    private enum State {
        case closed([@Sendable () -> Void])
        case open
    }

    private let state = Lock(State.closed([]))

    /// Creates a closed gate.
    package init() {}

    /// Opens the gate and wakes all waiters. Later calls have no effect.
    package func open() {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard case .closed(let waiting) = state else { return [] }
            state = .open
            return waiting
        }
        for wake in waiting { wake() }
    }

    /// Calls `wake` once the gate is open: at once if it is, otherwise on the thread that opens it.
    package func whenOpen(_ wake: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state -> Bool in
            guard case .closed(var waiting) = state else { return true }
            // Releases the enum's reference to the list, so that appending does not copy it.
            state = .open
            waiting.append(wake)
            state = .closed(waiting)
            return false
        }
        if isOpen { wake() }
    }

    /// Returns once the gate is open.
    package func wait() async {
        await withCheckedContinuation { continuation in
            whenOpen { continuation.resume() }
        }
    }
}
