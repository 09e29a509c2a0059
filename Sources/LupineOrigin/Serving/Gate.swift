// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A gate that a test opens once and that connections and tests wait for, instead of waiting for a guessed time.
///
/// Any thread.
package final class Gate: Sendable {
    private enum State {
        case closed([@Sendable () -> Void])
        case open
    }

    private let state = Lock(State.closed([]))

    /// A closed gate.
    package init() {}

    /// Opens the gate and resumes all waiters. A second call has no effect.
    package func open() {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard case .closed(let waiting) = state else { return [] }
            state = .open
            return waiting
        }
        for wake in waiting { wake() }
    }

    /// Calls `wake` once the gate is open, which may be immediately, on the caller's thread.
    package func whenOpen(_ wake: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state -> Bool in
            guard case .closed(var waiting) = state else { return true }
            // The state is replaced during the append, so that the array is uniquely referenced and grows in place.
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
