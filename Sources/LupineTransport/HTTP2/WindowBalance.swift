// SPDX-License-Identifier: MIT

/// Counts the HTTP/2 connections that are gone, and those of them whose windows did not add up: octets that came and were
/// neither consumed nor dropped, or room that a stream took along. For tests; told once for each connection. Any thread.
package final class WindowBalance: Sendable {
    private struct State {
        var connections = 0
        var misses = 0
    }

    /// Of all connections of the process.
    package static let shared = WindowBalance()

    private let state = Lock(State())

    /// Connections that are gone.
    package var connections: Int { state.withLock { $0.connections } }
    /// Those whose windows did not add up.
    package var misses: Int { state.withLock { $0.misses } }

    /// A connection is gone.
    func note(isRight: Bool) {
        state.withLock { state in
            state.connections += 1
            if !isRight { state.misses += 1 }
        }
    }
}
