// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Records the outcomes of an origin's handshakes, for the newest connections. Any thread may use it.
final class HandshakeRecord: Sendable {
    private struct State {
        /// The handshakes that have ended, by connection, each list in the order in which they ended.
        var handshakes: [Int: [OriginHandshake]] = [:]
        /// Gates that open when a handshake ends, by connection and by the index of the handshake.
        var gates: [Int: [Int: Gate]] = [:]
    }

    /// The maximum number of connections with recorded handshakes. It bounds the memory of an origin that accepts many
    /// connections.
    private static let capacity = 1_024

    private let counts: OriginCounts
    private let state = Lock(State())

    /// Creates a record that also counts the handshakes in `counts`.
    init(_ counts: OriginCounts) { self.counts = counts }

    /// Records and counts a handshake that has ended, the next one of its connection. Opens the gate for this handshake.
    func add(_ handshake: OriginHandshake, of connection: Int) {
        switch handshake.outcome {
        case .success(let info): counts.countHandshake(isResumed: info.isResumed)
        case .failure: counts.countFailedHandshake()
        }
        let gate = state.withLock { state -> Gate? in
            let index = state.handshakes[connection, default: []].count
            state.handshakes[connection, default: []].append(handshake)
            // Connections are numbered, so this one replaces the connection that was accepted `capacity` connections earlier.
            state.handshakes[connection - Self.capacity] = nil
            // Handshakes need not end in the order in which their connections were accepted.
            if state.handshakes.count > Self.capacity, let oldest = state.handshakes.keys.min() {
                state.handshakes[oldest] = nil
            }
            let gate = state.gates[connection]?.removeValue(forKey: index)
            if state.gates[connection]?.isEmpty == true { state.gates[connection] = nil }
            return gate
        }
        gate?.open()
    }

    /// Returns the recorded handshakes of a connection, which have ended.
    func handshakes(of connection: Int) -> [OriginHandshake] {
        state.withLock { $0.handshakes[connection] ?? [] }
    }

    /// Returns a gate that opens when the connection's handshake with number `index` has ended.
    func gate(forHandshake index: Int, of connection: Int) -> Gate {
        let gate = state.withLock { state -> Gate? in
            // The handshake has already ended.
            if state.handshakes[connection, default: []].count > index { return nil }
            if let gate = state.gates[connection]?[index] { return gate }
            let gate = Gate()
            state.gates[connection, default: [:]][index] = gate
            return gate
        }
        if let gate { return gate }
        let openGate = Gate()
        openGate.open()
        return openGate
    }
}
