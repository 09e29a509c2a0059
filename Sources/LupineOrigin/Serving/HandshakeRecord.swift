// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// How the handshakes of one origin ended, kept for the newest connections. Any thread.
final class HandshakeRecord: Sendable {
    private struct State {
        var outcomes: [Int: [OriginHandshake]] = [:]
        var waiting: [Int: [Int: Gate]] = [:]
    }

    /// Of so many connections something is known; the memory of an origin does not grow with those that it has seen.
    private static let connections = 1_024

    private let counts: OriginCounts
    private let state = Lock(State())

    init(_ counts: OriginCounts) { self.counts = counts }

    /// One more handshake of that connection is over.
    func add(_ outcome: OriginHandshake, of connection: Int) {
        switch outcome.outcome {
        case .success(let info): counts.established(isResumed: info.isResumed)
        case .failure: counts.refused()
        }
        let gate = state.withLock { state -> Gate? in
            let index = state.outcomes[connection, default: []].count
            state.outcomes[connection, default: []].append(outcome)
            state.outcomes[connection - Self.connections] = nil
            // Connections need not end in the order in which they came.
            if state.outcomes.count > Self.connections, let oldest = state.outcomes.keys.min() {
                state.outcomes[oldest] = nil
            }
            let gate = state.waiting[connection]?.removeValue(forKey: index)
            if state.waiting[connection]?.isEmpty == true { state.waiting[connection] = nil }
            return gate
        }
        gate?.open()
    }

    /// Those of that connection that are over.
    func outcomes(of connection: Int) -> [OriginHandshake] {
        state.withLock { $0.outcomes[connection] ?? [] }
    }

    /// Opens when handshake number `index` of that connection is over.
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
