// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of when `DelegateQueue` passes jobs to the operation queue.
struct DelegateQueueTests {
    private let dispatch = DispatchQueue(label: "delegate")
    private let completed = CompletedJobs()

    /// The numbers of the jobs that have run.
    private final class CompletedJobs: Sendable {
        private let list = Lock<[Int]>([])

        var numbers: [Int] { list.withLock { $0 } }

        func add(_ number: Int) { list.withLock { $0.append(number) } }
    }

    private func queue() -> DelegateQueue {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        unsafe operations.underlyingQueue = dispatch
        return DelegateQueue(operations)
    }

    /// Adds this many jobs in one turn of a loop. Returns the jobs that ran before the end of the block that added them, and the
    /// jobs that ran in all.
    private func run(_ count: Int) async throws -> (duringTurn: [Int], all: [Int]) {
        let group = try EventLoopGroup(count: 1, name: "delegate")
        let queue = queue()
        let duringTurn = await withCheckedContinuation { done in
            _ = group.loops[0].execute { [dispatch, completed] in
                for number in 0..<count {
                    queue.add { completed.add(number) }
                }
                // Returns when the jobs that are on the queue have run.
                dispatch.sync {}
                done.resume(returning: completed.numbers)
            }
        }
        await group.shutdown()
        dispatch.sync {}
        return (duringTurn, completed.numbers)
    }

    @Test("jobs added in a turn of a loop run when the turn ends", arguments: [1, 7])
    func turn(_ count: Int) async throws {
        let (duringTurn, all) = try await run(count)
        #expect(duringTurn.isEmpty)
        #expect(all == Array(0..<count))
    }

    @Test("many jobs run before the turn ends", arguments: [8, 200])
    func much(_ count: Int) async throws {
        let (duringTurn, all) = try await run(count)
        #expect(duringTurn.count >= 8)
        #expect(all == Array(0..<count))
    }

    @Test("outside of a loop a job runs at once")
    func elsewhere() {
        let queue = queue()
        queue.add { [completed] in completed.add(1) }
        dispatch.sync {}
        #expect(completed.numbers == [1])
    }
}
