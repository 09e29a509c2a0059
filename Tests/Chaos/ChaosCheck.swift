// SPDX-License-Identifier: MIT

internal import Lupine
internal import LupineLoading

/// Compares the observation of a request with its plan: the invariants of a single request.
package enum ChaosCheck {
    /// Returns descriptions of the violations; empty if there are none.
    package static func violations(_ plan: ChaosPlan, _ seen: ChaosObservation) -> [String] {
        var found: [String] = []
        if seen.calls.count != plan.handlers || seen.calls.contains(where: { $0 != 1 }) {
            found.append("its \(plan.handlers) handlers were called \(seen.calls) times")
        }
        if let part = seen.wrongPart { found.append("what came of its body is wrong: \(part)") }
        let mayBeCancelled = plan.cancellation != .never
        if seen.attempts == 0, !mayBeCancelled { found.append("it was never begun") }
        if seen.attempts > plan.misbehaviours.count {
            found.append("it was sent \(seen.attempts) times, \(plan.misbehaviours.count) were planned")
        }
        found += attempts(plan, seen)
        found += end(plan, seen, mayBeCancelled)
        if let name = seen.name { found += checkName(name, plan, seen) }
        return found
    }

    /// Checks the errors that led to retries.
    private static func attempts(_ plan: ChaosPlan, _ seen: ChaosObservation) -> [String] {
        seen.failures.sorted { $0.key < $1.key }.flatMap { attempt, kinds in kinds.map { (attempt, $0) } }
            .compactMap { attempt, failure in
                let misbehaviour = plan.misbehaviour(attempt)
                if misbehaviour.verdict.failures.contains(failure) { return nil }
                if failure == .cancelled, plan.cancellation != .never { return nil }
                return "attempt \(attempt), \(misbehaviour), failed with \(failure)"
            }
    }

    private static func end(
        _ plan: ChaosPlan, _ seen: ChaosObservation, _ mayBeCancelled: Bool
    ) -> [String] {
        let last = max(seen.attempts - 1, 0)
        let misbehaviour = plan.misbehaviour(last)
        switch seen.outcome {
        case .wrong(let reason): return ["it ended well with a wrong body: \(reason)"]
        case .whole:
            var found: [String] = []
            if !misbehaviour.verdict.allowsSuccess {
                found.append("attempt \(last), \(misbehaviour), ended well")
            }
            if seen.name == nil { found.append("it ended well without a response that names it") }
            return found
        case .failure(.cancelled, _):
            return mayBeCancelled ? [] : ["it was cancelled, and nobody had asked for that"]
        case .failure(let failure, let words):
            guard misbehaviour.verdict.failures.contains(failure) else {
                return ["attempt \(last), \(misbehaviour), ended with \(failure): \(words)"]
            }
            guard !mayBeCancelled, seen.attempts < plan.misbehaviours.count,
                isRetried(failure, plan)
            else { return [] }
            return ["it gave up behind attempt \(last), \(misbehaviour): \(words)"]
        }
    }

    /// Returns whether the plan's retrier retries after such an error.
    static func isRetried(_ failure: ChaosFailure, _ plan: ChaosPlan) -> Bool {
        switch plan.retrying {
        case .own: failure != .cancelled
        case .policy:
            switch failure {
            case .cannotConnect, .timedOut, .lost, .badResponse, .insecure, .refusedStatus:
                plan.form.method != "POST"
            case .tooLarge, .untrusted, .corrupt, .cutShort, .cancelled, .unexpected: false
            }
        }
    }

    /// Checks that the response's name is that of the request's last attempt; a request that is cancelled between two attempts
    /// still has the response of the previous one.
    private static func checkName(_ name: String, _ plan: ChaosPlan, _ seen: ChaosObservation) -> [String] {
        let expected = plan.trial(max(seen.attempts - 1, 0)).name
        if case .failure(.cancelled, _) = seen.outcome,
            (0..<seen.attempts).contains(where: { plan.trial($0).name == name })
        {
            return []
        }
        return name == expected ? [] : ["it got the response of \(name) instead of \(expected)"]
    }
}
