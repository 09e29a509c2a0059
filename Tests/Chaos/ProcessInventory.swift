// SPDX-License-Identifier: MIT

internal import Foundation

/// The resources of a process at one moment.
package struct ProcessInventory: Hashable, Sendable {
    /// The targets of the descriptors; all sockets have the same name.
    package var descriptors: [String]
    /// The names of the library's threads.
    package var ownThreads: [String]
    /// The number of all threads, including those of the system's libraries.
    package var threads: Int
    /// The names in the temporary folder and its subfolders.
    package var temporary: [String]
    /// Resident memory in KiB, which is reported, not checked.
    package var resident = 0

    /// Creates an inventory.
    package init(descriptors: [String], ownThreads: [String], threads: Int, temporary: [String]) {
        self.descriptors = descriptors
        self.ownThreads = ownThreads
        self.threads = threads
        self.temporary = temporary
    }

    /// Returns the current inventory.
    package static func now() -> ProcessInventory {
        let tasks = entries("/proc/self/task")
        var inventory = ProcessInventory(
            descriptors: entries("/proc/self/fd").compactMap { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/self/fd/\(number)")
                // Omits the numbers of sockets and pipes, and the descriptor of the listing itself.
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

    /// Returns the inventory once nothing has been released for a second, so that everything that was closing is closed.
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

    /// Returns descriptions of what was added since `before`; empty if nothing was. Threads without a name of the library's come
    /// and go with the system's queues and are not counted.
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
