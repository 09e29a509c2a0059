// SPDX-License-Identifier: MIT

/// Counts closed HTTP/2 connections, and those of them whose windows were out of balance. Tests read the counts.
///
/// A window is out of balance if received octets were neither consumed nor dropped, or if its growth was not subtracted from
/// the connection's total when its stream ended. Each connection reports once, from any thread.
package final class WindowBalance: Sendable {
    private struct State {
        var connections = 0
        var imbalances = 0
    }

    /// The counter of all connections of the process.
    package static let shared = WindowBalance()

    private let state = Lock(State())

    /// The number of closed connections.
    package var connections: Int { state.withLock { $0.connections } }
    /// The number of closed connections whose windows did not add up.
    package var imbalances: Int { state.withLock { $0.imbalances } }

    /// Records a closed connection.
    func recordClosed(isBalanced: Bool) {
        state.withLock { state in
            state.connections += 1
            if !isBalanced { state.imbalances += 1 }
        }
    }
}
