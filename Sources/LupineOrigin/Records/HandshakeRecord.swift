// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Records the outcomes of an origin's handshakes, for the newest connections. Any thread may use it.
final class HandshakeRecord: Sendable {
    private struct State {
        /// The outcomes of ended handshakes, by connection.
        var outcomes: [Int: [OriginHandshake]] = [:]
        /// Gates that open when a handshake ends, by connection and by the index of the handshake.
        var waiting: [Int: [Int: Gate]] = [:]
    }

    /// The number of connections that are recorded, so that memory does not grow with the number of accepted ones.
    private static let capacity = 1_024

    private let counts: OriginCounts
    private let state = Lock(State())

    init(_ counts: OriginCounts) { self.counts = counts }

    /// Records the outcome of a connection's next handshake.
    func add(_ outcome: OriginHandshake, of connection: Int) {
        switch outcome.outcome {
        case .success(let info): counts.countHandshake(isResumed: info.isResumed)
        case .failure: counts.countFailedHandshake()
        }
        let gate = state.withLock { state -> Gate? in
            let index = state.outcomes[connection, default: []].count
            state.outcomes[connection, default: []].append(outcome)
            state.outcomes[connection - Self.capacity] = nil
            // Handshakes need not end in the order in which their connections were accepted.
            if state.outcomes.count > Self.capacity, let oldest = state.outcomes.keys.min() {
                state.outcomes[oldest] = nil
            }
            let gate = state.waiting[connection]?.removeValue(forKey: index)
            if state.waiting[connection]?.isEmpty == true { state.waiting[connection] = nil }
            return gate
        }
        gate?.open()
    }

    /// Returns the outcomes of a connection's handshakes that have ended.
    func outcomes(of connection: Int) -> [OriginHandshake] {
        state.withLock { $0.outcomes[connection] ?? [] }
    }

    /// Returns a gate that opens when the connection's handshake with number `index` has ended.
    func gate(of connection: Int, _ index: Int) -> Gate {
        let gate = state.withLock { state -> Gate? in
            if state.outcomes[connection, default: []].count > index { return nil }
            if let gate = state.waiting[connection]?[index] { return gate }
            let gate = Gate()
            state.waiting[connection, default: [:]][index] = gate
            return gate
        }
        if let gate { return gate }
        let open = Gate()
        open.open()
        return open
    }
}
