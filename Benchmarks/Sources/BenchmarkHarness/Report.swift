// SPDX-License-Identifier: MIT

/// One run of the benchmarks, written by `--json` and read by `--compare`.
package struct Report: Codable, Sendable, Equatable {
    /// A description of the machine; figures of different machines are comparable only by their ratios.
    package var machine: String
    package var entries: [EntryResult]

    package init(machine: String, entries: [EntryResult]) {
        self.machine = machine
        self.entries = entries
    }

    /// The groups that ran, in order.
    var groups: [String] {
        entries.reduce(into: []) { groups, result in
            if groups.last != result.group { groups.append(result.group) }
        }
    }
}
