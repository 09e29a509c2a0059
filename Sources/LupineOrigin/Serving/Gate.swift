// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Something that a test opens once, and that connections and tests wait for: the alternative to guessing times.
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

    /// Opens; everybody who waits goes on. A second time it means nothing.
    package func open() {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard case .closed(let waiting) = state else { return [] }
            state = .open
            return waiting
        }
        for wake in waiting { wake() }
    }

    /// Calls `wake` once the gate is open, perhaps at once and on the caller's thread.
    package func whenOpen(_ wake: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state -> Bool in
            guard case .closed(var waiting) = state else { return true }
            // The list is taken out meanwhile, so that it grows in place.
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
