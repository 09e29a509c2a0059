// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

/// Many sessions in one process: what they cost while they are there, and whether they leave anything behind.
struct SessionScenario {
    /// What each session loads.
    let url: URL
    let count: Int

    /// Whether many sessions have as many threads of the house's as one, and as few descriptors afterwards as before.
    func leavesNothing() async throws -> Bool {
        try await load(1, invalidating: true)
        let before = Self.descriptors
        let session = Self.session()
        _ = try await session.data(from: url)
        let threads = Self.threads
        session.invalidateAndCancel()
        let many = try await load(count, invalidating: false)
        print("threads with one session \(threads), with \(count) sessions \(many)")
        // The system's come and go by the dozen on a machine that has much to do; one for each session they are not.
        guard many.named == threads.named, many.all < threads.all + count / 4 else { return false }
        // Connections close on their loops, a moment after their sessions are gone.
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if Self.descriptors.count <= before.count { return true }
            await Task.yield()
        }
        print("descriptors before \(before), afterwards \(Self.descriptors)")
        return false
    }

    /// Makes sessions, has each load, and drops them all. Returns how many threads there were when all were there.
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

    /// Sockets, pipes and files. What the system's libraries wake their own threads with comes when it is first needed.
    private static var descriptors: [String] {
        entries("fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasPrefix("anon_inode:") == false ? target : nil
        }
    }

    /// The names that the house has given, and how many threads there are; the rest are the system's, which come and go with its
    /// load. A thread that has just begun still has the name of the one that began it, so names are told apart, not threads.
    private static var threads: (named: Int, all: Int) {
        let tasks = entries("task")
        let names = tasks.compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }
        return (Set(names.filter { $0.hasPrefix("lupine") }).count, tasks.count)
    }
}
