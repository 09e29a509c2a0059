// SPDX-License-Identifier: MIT

/// One run of the benchmarks, as `--json` writes it and `--compare` reads it.
package struct Report: Codable, Sendable, Equatable {
    /// The machine, for the reader; figures of two machines are compared by their ratios alone.
    package var machine: String
    package var entries: [EntryResult]

    package init(machine: String, entries: [EntryResult]) {
        self.machine = machine
        self.entries = entries
    }

    /// The groups that ran, in their order.
    var groups: [String] {
        entries.reduce(into: []) { groups, result in
            if groups.last != result.group { groups.append(result.group) }
        }
    }
}
