// SPDX-License-Identifier: MIT

/// The results of the attempts by misbehaviour, for the final table.
package struct ChaosTally: Sendable {
    /// The attempts at one misbehaviour, by result.
    package struct Row: Hashable, Sendable {
        package var attempts = 0
        package var whole = 0
        package var retried = 0
        package var failed = 0
        package var cancelled = 0
    }

    package private(set) var rows: [Misbehaviour: Row] = [:]
    /// The number of errors by kind.
    package private(set) var failures: [ChaosFailure: Int] = [:]
    package private(set) var requests = 0
    package private(set) var whole = 0
    package private(set) var retries = 0

    /// Creates an empty tally.
    package init() {}

    /// Adds one request that has ended.
    package mutating func add(_ plan: ChaosPlan, _ seen: ChaosObservation) {
        requests += 1
        retries += max(seen.attempts - 1, 0)
        for (attempt, kinds) in seen.failures where attempt < seen.attempts - 1 {
            rows[plan.misbehaviour(attempt), default: Row()].retried += 1
            for kind in kinds { failures[kind, default: 0] += 1 }
        }
        for attempt in 0..<seen.attempts { rows[plan.misbehaviour(attempt), default: Row()].attempts += 1 }
        let last = plan.misbehaviour(max(seen.attempts - 1, 0))
        switch seen.outcome {
        case .whole:
            whole += 1
            rows[last, default: Row()].whole += 1
        case .failure(.cancelled, _):
            failures[.cancelled, default: 0] += 1
            if seen.attempts > 0 { rows[last, default: Row()].cancelled += 1 }
        case .failure(let failure, _):
            failures[failure, default: 0] += 1
            rows[last, default: Row()].failed += 1
        case .wrong: rows[last, default: Row()].failed += 1
        }
    }

    /// Adds the tally of another run.
    package mutating func add(_ other: ChaosTally) {
        requests += other.requests
        whole += other.whole
        retries += other.retries
        failures.merge(other.failures, uniquingKeysWith: +)
        rows.merge(other.rows) { one, two in
            Row(
                attempts: one.attempts + two.attempts, whole: one.whole + two.whole,
                retried: one.retried + two.retried, failed: one.failed + two.failed,
                cancelled: one.cancelled + two.cancelled)
        }
    }

    /// The table: a line for each misbehaviour that was met.
    package var table: String {
        let head = Self.line("misbehaviour", ["attempts", "whole", "retried", "failed", "cancelled"])
        let lines = Misbehaviour.allCases.compactMap { misbehaviour in
            rows[misbehaviour].map { row in
                let counts = [row.attempts, row.whole, row.retried, row.failed, row.cancelled]
                return Self.line(misbehaviour.rawValue, counts.map(String.init))
            }
        }
        let errors = failures.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
        return ([head] + lines + ["errors: " + errors.joined(separator: ", ")]).joined(separator: "\n")
    }

    private static func line(_ name: String, _ columns: [String]) -> String {
        pad(name, 24, left: false) + columns.map { pad($0, 11, left: true) }.joined()
    }

    private static func pad(_ text: String, _ width: Int, left: Bool) -> String {
        let blanks = String(repeating: " ", count: max(1, width - text.count))
        return left ? blanks + text : text + blanks
    }
}
