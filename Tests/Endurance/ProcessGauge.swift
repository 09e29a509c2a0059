// SPDX-License-Identifier: MIT

import CLupineHeap
import Foundation
import Glibc

/// The resources of this process at one moment.
struct ProcessGauge {
    /// Resident memory in bytes, from the kernel.
    let resident: Int
    /// Heap in use in bytes, from the C library: blocks of every size.
    let heap: Int
    let descriptors: Int
    /// The number of descriptors that are sockets.
    let sockets: Int
    let threads: Int
    /// The number of threads with a name of the library.
    let ownThreads: Int

    /// Reads the current values.
    static func read() throws -> ProcessGauge {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { throw CocoaError(.fileReadCorruptFile) }
        let tasks = try entries("task")
        let own = tasks.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8))?.hasPrefix("lupine")
                == true
        }
        let heap = mallinfo2()
        let descriptors = try entries("fd").compactMap {
            // The descriptor of the listing itself is closed by now.
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return ProcessGauge(
            resident: pages * Int(getpagesize()), heap: Int(heap.uordblks) + Int(heap.hblkhd),
            descriptors: descriptors.count, sockets: descriptors.count { $0.hasPrefix("socket:") },
            threads: tasks.count, ownThreads: own)
    }

    /// Reads until `holds` is true, at most for `limit`; returns the last reading.
    static func settled(
        within limit: Duration, _ holds: (ProcessGauge) -> Bool
    ) async throws -> ProcessGauge {
        let deadline = ContinuousClock.now + limit
        while true {
            let gauge = try read()
            if holds(gauge) || ContinuousClock.now > deadline { return gauge }
            await Pause.of(.milliseconds(100))
        }
    }

    /// Reads until descriptors and threads are unchanged for a second, at most for 20 seconds.
    static func atRest() async throws -> ProcessGauge {
        var last = try read()
        var quiet = 0
        for _ in 0..<200 where quiet < 10 {
            await Pause.of(.milliseconds(100))
            let now = try read()
            quiet = now.descriptors == last.descriptors && now.threads == last.threads ? quiet + 1 : 0
            last = now
        }
        return last
    }

    private static func entries(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")
    }
}

/// The process's limit of descriptors.
enum DescriptorLimit {
    /// Raises the soft limit as far as the hard one allows; returns it.
    static func raise() throws -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { throw Endurance.Failure("getrlimit: \(errno)") }
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(resource, &limit) == 0 else { throw Endurance.Failure("setrlimit: \(errno)") }
        return Int(clamping: limit.rlim_cur)
    }
}
