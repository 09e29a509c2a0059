// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport

/// Runs the callbacks of a session on its delegate queue.
///
/// A task adds one job, which makes all calls of the task that are ready. One block on the queue runs the ready jobs of all
/// tasks. Jobs that are added during a turn of an event loop are submitted when the turn ends, or when there are `maxWaitingJobs`
/// of them. The queue's thread is then woken once for all of them, and does not compete with the loop for the processor and the
/// locks.
///
/// If the operation queue runs one operation at a time, the jobs run one after the other, even if the underlying dispatch queue
/// is concurrent. If an operation queue has an underlying dispatch queue, the blocks are dispatched to that queue directly,
/// without operations. The operation queue's `isSuspended` then has no effect.
final class DelegateQueue: Sendable {
    /// A job to run. A struct, because the compiler wraps bare closures in an array in another function (a reabstraction thunk).
    private struct Job {
        let run: @Sendable () -> Void
    }

    private struct State {
        /// The jobs that no block has begun to run.
        var readyJobs: [Job] = []
        /// Whether a block that runs the ready jobs is on the queue or running, or will be submitted at the end of a turn.
        var isScheduled = false
        /// Whether the jobs wait for the end of an event loop's turn before they are submitted.
        var waitsForTurnEnd = false

        /// Ends the wait for the end of the turn. Returns whether the jobs have waited; the caller then has to submit them.
        mutating func endWait() -> Bool {
            defer { waitsForTurnEnd = false }
            return waitsForTurnEnd
        }
    }

    /// The number of ready jobs at which they are submitted without waiting for the end of the turn.
    private static let maxWaitingJobs = 8

    /// The number of jobs that run in one block. After that, other work on the queue runs first.
    private static let maxJobsPerBlock = 64

    /// The queue as the program sees it.
    let operationQueue: OperationQueue
    /// The underlying queue of `operationQueue`; nil if it has none.
    private let underlyingQueue: DispatchQueue?
    /// The queue on which the methods of an `OperationQueue` subclass are called, because a program's subclass may block, which
    /// an event loop must not. Nil for other queues.
    private let submissionQueue: DispatchQueue?
    /// Whether the operation queue runs one operation at a time.
    private let isSerial: Bool
    private let state = Lock(State())

    /// Runs callbacks on `queue`, or on a new serial queue if `queue` is nil.
    init(_ queue: OperationQueue?) {
        if let queue {
            operationQueue = queue
            unsafe underlyingQueue = queue.underlyingQueue
            let isPlain = type(of: queue) == OperationQueue.self
            submissionQueue =
                isPlain || underlyingQueue != nil ? nil : DispatchQueue(label: "lupine.session.asking")
            isSerial = queue.maxConcurrentOperationCount == 1
        } else {
            let serialQueue = DispatchQueue(label: "lupine.session.delegate")
            operationQueue = OperationQueue()
            operationQueue.maxConcurrentOperationCount = 1
            unsafe operationQueue.underlyingQueue = serialQueue
            underlyingQueue = serialQueue
            submissionQueue = nil
            isSerial = true
        }
    }

    /// Runs the job on the queue, after the jobs that the same thread has added before.
    func add(_ job: @escaping @Sendable () -> Void) {
        guard isSerial else { return submit(job) }
        let (needsBlock, mustSubmit) = state.withLock { state in
            state.readyJobs.append(Job(run: job))
            // The result is evaluated before `isScheduled` is set. The wait is ended only if there are enough jobs.
            defer { state.isScheduled = true }
            return (!state.isScheduled, state.readyJobs.count >= Self.maxWaitingJobs && state.endWait())
        }
        if mustSubmit { return submit { self.run() } }
        guard needsBlock else { return }
        guard let loop = EventLoop.current else { return submit { self.run() } }
        state.withLock { $0.waitsForTurnEnd = true }
        loop.atTurnEnd(self)
    }

    /// Runs ready jobs, and submits another block if there are more than `maxJobsPerBlock`.
    private func run() {
        var count = 0
        var jobs: [Job] = []
        while count < Self.maxJobsPerBlock {
            // Takes the ready jobs, and leaves the empty array with its memory for later jobs.
            state.withLock { state in
                if state.readyJobs.isEmpty { state.isScheduled = false }
                swap(&jobs, &state.readyJobs)
            }
            if jobs.isEmpty { return }
            assertNoLockIsHeld()
            assertNotOnLoop()
            for job in jobs { job.run() }
            count += jobs.count
            // Many jobs at once are rare: their memory is released.
            jobs.removeAll(keepingCapacity: jobs.count <= Self.maxJobsPerBlock)
        }
        submit { self.run() }
    }

    /// Submits `job` to the queue at once.
    private func submit(_ job: @escaping @Sendable () -> Void) {
        if let underlyingQueue {
            underlyingQueue.async(execute: job)
        } else if let submissionQueue {
            submissionQueue.async { [operationQueue] in operationQueue.addOperation(job) }
        } else {
            operationQueue.addOperation(job)
        }
    }
}

extension DelegateQueue: TurnEndListener {
    func turnEnded() {
        // False if `add` has submitted the jobs during the turn.
        let mustSubmit = state.withLock { $0.endWait() }
        if mustSubmit { submit { self.run() } }
    }
}
