// SPDX-License-Identifier: MIT

internal import Foundation

/// What a process has at the moment that it would have to give back.
package struct ProcessInventory: Hashable, Sendable {
    /// What the descriptors lead to; sockets are all called the same.
    package var descriptors: [String]
    /// The names of threads that the library has named.
    package var ownThreads: [String]
    /// All threads, those of the system's libraries too.
    package var threads: Int
    /// The names in the temporary folder and below it.
    package var temporary: [String]
    /// Resident memory in KiB: told, not judged.
    package var resident = 0

    /// An inventory as it could be.
    package init(descriptors: [String], ownThreads: [String], threads: Int, temporary: [String]) {
        self.descriptors = descriptors
        self.ownThreads = ownThreads
        self.threads = threads
        self.temporary = temporary
    }

    /// What there is now.
    package static func now() -> ProcessInventory {
        let tasks = entries("/proc/self/task")
        var inventory = ProcessInventory(
            descriptors: entries("/proc/self/fd").compactMap { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(number)")
                // The kernel numbers sockets and pipes; the listing itself is the folder.
                return target.flatMap { name in
                    name.hasSuffix("/fd") ? nil : String(name.prefix { $0 != "[" })
                }
            }.sorted(),
            ownThreads: tasks.compactMap {
                try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
            }.filter { $0.hasPrefix("lupine") }.sorted(),
            threads: tasks.count,
            temporary: temporaryNames())
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        inventory.resident = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        return inventory
    }

    /// What there is when nothing has gone away for a second any more: what is closing is closed.
    package static func settled() async -> ProcessInventory {
        var least = now()
        var since = ContinuousClock.now
        while since.duration(to: .now) < .seconds(1) {
            await Task.yield()
            let present = now()
            guard
                present.descriptors.count < least.descriptors.count
                    || present.ownThreads.count < least.ownThreads.count
            else { continue }
            least = present
            since = .now
        }
        return least
    }

    private static func temporaryNames() -> [String] {
        let folder = FileManager.default.temporaryDirectory
        return ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private static func entries(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// What is here and was not there before, in words; empty if that is nothing. Threads without a name of the library's
    /// come and go with the system's queues and are not counted here.
    package func leftovers(since before: ProcessInventory) -> [String] {
        var found: [String] = []
        if descriptors.count > before.descriptors.count {
            found.append("descriptors \(before.descriptors.count) -> \(descriptors.count): \(descriptors)")
        }
        if ownThreads.count > before.ownThreads.count {
            found.append("threads \(before.ownThreads) -> \(ownThreads)")
        }
        if !temporary.isEmpty { found.append("temporary files: \(temporary.prefix(8))") }
        return found
    }
}
