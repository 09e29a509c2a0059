// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of when jobs are passed on to a session's queue.
struct DelegateQueueTests {
    private let dispatch = DispatchQueue(label: "delegate")
    private let told = Told()

    /// The jobs that have run.
    private final class Told: Sendable {
        private let list = Lock<[Int]>([])

        var all: [Int] { list.withLock { $0 } }

        func add(_ number: Int) { list.withLock { $0.append(number) } }
    }

    private func queue() -> DelegateQueue {
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        unsafe operations.underlyingQueue = dispatch
        return DelegateQueue(operations)
    }

    /// Adds this many jobs in one turn of a loop; returns those that had run by the end of the block that added them, and all.
    private func run(_ count: Int) async throws -> (inTurn: [Int], after: [Int]) {
        let group = try EventLoopGroup(count: 1, name: "delegate")
        let queue = queue()
        let inTurn = await withCheckedContinuation { done in
            _ = group.loops[0].execute { [dispatch, told] in
                for number in 0..<count {
                    queue.add { told.add(number) }
                }
                // Waits for the jobs that are on the queue already.
                dispatch.sync {}
                done.resume(returning: told.all)
            }
        }
        await group.shutdown()
        dispatch.sync {}
        return (inTurn, told.all)
    }

    @Test("what a loop's turn brings comes when it ends", arguments: [1, 7])
    func turn(_ count: Int) async throws {
        let (inTurn, after) = try await run(count)
        #expect(inTurn.isEmpty)
        #expect(after == Array(0..<count))
    }

    @Test("much does not wait for the end of the turn", arguments: [8, 200])
    func much(_ count: Int) async throws {
        let (inTurn, after) = try await run(count)
        #expect(inTurn.count >= 8)
        #expect(after == Array(0..<count))
    }

    @Test("elsewhere than on a loop nothing waits")
    func elsewhere() {
        let queue = queue()
        queue.add { [told] in told.add(1) }
        dispatch.sync {}
        #expect(told.all == [1])
    }
}
