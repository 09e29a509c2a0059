// SPDX-License-Identifier: MIT

internal import LupineTransport

/// What a chaos origin was asked for, and which POST came again that it had taken. Any thread.
final class ErrandBook: Sendable {
    private struct State {
        /// Asked for and disclaimed.
        var disclaimed: Set<ChaosErrand> = []
        /// POST that was taken.
        var taken: Set<ChaosErrand> = []
        var repeated: [UInt64: [String]] = [:]
    }

    private let state = Lock(State())

    /// An errand has come. Whether it is the first time, as far as that matters to it.
    func note(_ errand: ChaosErrand) -> Bool {
        state.withLock { state in
            if errand.misbehaviour.isDisclaimed, state.disclaimed.insert(errand).inserted { return true }
            // One that is refused each time is never taken.
            guard !errand.form.isIdempotent, errand.misbehaviour != .streamRefused else { return false }
            if !state.taken.insert(errand).inserted {
                state.repeated[errand.seed, default: []].append("\(errand.name), \(errand.misbehaviour)")
            }
            return false
        }
    }

    /// The names of what came again in a round, whose book is closed with that.
    func takeRepeated(seed: UInt64) -> [String] {
        state.withLock { state in
            state.disclaimed = state.disclaimed.filter { $0.seed != seed }
            state.taken = state.taken.filter { $0.seed != seed }
            return state.repeated.removeValue(forKey: seed) ?? []
        }
    }
}
