// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The errands that a chaos origin received, and the POSTs that it received again after it had accepted them. Any thread.
final class ErrandBook: Sendable {
    private struct State {
        /// Received and disclaimed.
        var disclaimed: Set<ChaosErrand> = []
        /// POSTs that were accepted.
        var taken: Set<ChaosErrand> = []
        var repeated: [UInt64: [String]] = [:]
    }

    private let state = Lock(State())

    /// Records an errand. Returns whether the origin must disclaim it, because it is the first time.
    func note(_ errand: ChaosErrand) -> Bool {
        state.withLock { state in
            if errand.misbehaviour.isDisclaimed, state.disclaimed.insert(errand).inserted { return true }
            // A POST that is refused each time is never accepted.
            guard !errand.form.isIdempotent, errand.misbehaviour != .streamRefused else { return false }
            if !state.taken.insert(errand).inserted {
                state.repeated[errand.seed, default: []].append("\(errand.name), \(errand.misbehaviour)")
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
