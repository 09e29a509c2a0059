// SPDX-License-Identifier: MIT

import CLupineHeap
import Foundation

/// What this process has in memory, as the kernel tells it, in KiB.
enum ProcessMemory {
    static func resident() throws -> Int { try status("VmRSS:") }

    /// The most that it ever was.
    static func peak() throws -> Int { try status("VmHWM:") }

    /// A sanitizer's heap says nothing of itself and keeps what was freed: then the kernel's figures say nothing either.
    static var isTold: Bool { mallinfo2().uordblks != 0 }

    private static func status(_ name: String) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name) }), let amount = Int(line.filter(\.isNumber))
        else { throw CocoaError(.fileReadCorruptFile) }
        return amount
    }
}
