// SPDX-License-Identifier: MIT

import CLupineHeap
import Foundation

/// The memory of this process in KiB, from the kernel.
enum ProcessMemory {
    static func resident() throws -> Int { try status("VmRSS:") }

    /// The peak of resident memory.
    static func peak() throws -> Int { try status("VmHWM:") }

    /// Whether the figures are meaningful: a sanitizer's allocator reports no statistics and keeps freed memory.
    static var isMeasured: Bool { mallinfo2().uordblks != 0 }

    private static func status(_ name: String) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name) }), let amount = Int(line.filter(\.isNumber))
        else { throw CocoaError(.fileReadCorruptFile) }
        return amount
    }
}
