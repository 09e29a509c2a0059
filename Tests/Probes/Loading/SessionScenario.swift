// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// Many sessions in one process: their threads while they exist, and the descriptors that they leave.
struct SessionScenario {
    /// The URL that each session loads.
    let url: URL
    let count: Int

    /// Returns whether many sessions use as many threads of the library as one, and leave no more descriptors than before.
    func leavesNothing() async throws -> Bool {
        try await load(1, invalidating: true)
        let before = Self.descriptors
        let session = Self.session()
        _ = try await session.data(from: url)
        let threads = Self.threads
        session.invalidateAndCancel()
        let many = try await load(count, invalidating: false)
        print("threads with one session \(threads), with \(count) sessions \(many)")
        // The system's threads come and go by the dozen on a loaded machine, but there is not one for each session.
        guard many.named == threads.named, many.all < threads.all + count / 4 else { return false }
        // Connections close on their loops, shortly after their sessions are gone.
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if Self.descriptors.count <= before.count { return true }
            await Task.yield()
        }
        print("descriptors before \(before), afterwards \(Self.descriptors)")
        return false
    }

    /// Creates sessions, loads with each, and drops them all. Returns the number of threads while all existed.
    @discardableResult
    private func load(_ count: Int, invalidating: Bool) async throws -> (named: Int, all: Int) {
        var sessions: [URLSession] = []
        for index in 0..<count {
            let session = Self.session()
            _ = try await session.data(from: url)
            sessions.append(session)
            if invalidating || index.isMultiple(of: 2) { session.finishTasksAndInvalidate() }
        }
        return Self.threads
    }

    private static func session() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        return URLSession(configuration: configuration)
    }

    private static func entries(_ folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")) ?? []
    }

    /// Sockets, pipes and files, without the descriptors with which system libraries wake their threads, which are created on
    /// demand.
    private static var descriptors: [String] {
        entries("fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix("anon_inode:") == false ? target : nil
        }
    }

    /// The number of different names of the library's threads, and the number of all threads; the rest are the system's, whose
    /// number depends on the load. Names are counted, not threads, because a new thread has the name of its creator at first.
    private static var threads: (named: Int, all: Int) {
        let tasks = entries("task")
        let names = tasks.compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }
        return (Set(names.filter { $0.hasPrefix("lupine") }).count, tasks.count)
    }
}
