// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The trials that a chaos origin received, and the POSTs that it received again after it had accepted them. Any thread.
final class TrialLog: Sendable {
    private struct State {
        /// Received and disclaimed.
        var disclaimed: Set<ChaosTrial> = []
        /// POSTs that were accepted.
        var taken: Set<ChaosTrial> = []
        var repeated: [UInt64: [String]] = [:]
    }

    private let state = Lock(State())

    /// Records a trial. Returns whether the origin must disclaim it, because it is the first time.
    func record(_ trial: ChaosTrial) -> Bool {
        state.withLock { state in
            if trial.misbehaviour.isDisclaimed, state.disclaimed.insert(trial).inserted { return true }
            // A POST that is refused each time is never accepted.
            guard !trial.form.isIdempotent, trial.misbehaviour != .streamRefused else { return false }
            if !state.taken.insert(trial).inserted {
                state.repeated[trial.seed, default: []].append("\(trial.name), \(trial.misbehaviour)")
            }
            return false
        }
    }

    /// Returns the repeated POSTs of a round, and forgets the round.
    func takeRepeated(seed: UInt64) -> [String] {
        state.withLock { state in
            state.disclaimed = state.disclaimed.filter { $0.seed != seed }
            state.taken = state.taken.filter { $0.seed != seed }
            return state.repeated.removeValue(forKey: seed) ?? []
        }
    }
}
