// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport

/// Runs the callbacks of a session on its delegate queue.
///
/// A task adds one job for all of its calls. One block on the queue runs the ready jobs of all tasks. Jobs that are added during
/// a turn of an event loop are submitted when the turn ends, or when there are `batchLimit` of them: the queue's thread is woken
/// once for all of them, and does not compete with the loop for the processor and the locks.
///
/// A queue that runs one operation at a time calls one task after the other, even if its underlying dispatch queue is concurrent.
/// If an operation queue has an underlying dispatch queue, the blocks are dispatched to that directly, without operations; the
/// operation queue's `isSuspended` then has no effect.
final class DelegateQueue: Sendable {
    /// A job to run. A struct, because a bare closure in an array costs another reabstraction thunk.
    private struct Job {
        let run: @Sendable () -> Void
    }

    private struct State {
        var ready: [Job] = []
        /// Whether a block that runs the ready jobs is on the queue, or will be submitted at the end of a turn.
        var isScheduled = false
        /// Whether the jobs wait for the end of an event loop's turn before they are submitted.
        var isHeld = false

        /// Ends the wait for the end of the turn. Returns whether the jobs have waited, so that the caller has to submit them.
        mutating func release() -> Bool {
            defer { isHeld = false }
            return isHeld
        }
    }

    /// The number of held jobs at which they are submitted without waiting for the end of the turn.
    private static let batchLimit = 8

    /// The number of jobs that run in one block. After that, other work on the queue runs first.
    private static let maxJobsPerBlock = 64

    /// The queue as the program sees it.
    let operations: OperationQueue
    /// The underlying queue of `operations`; nil if it has none.
    private let dispatch: DispatchQueue?
    /// The queue on which the methods of an `OperationQueue` subclass are called, because they may block and must not run on an
    /// event loop. Nil for other queues.
    private let submissionQueue: DispatchQueue?
    private let isSerial: Bool
    private let state = Lock(State())

    /// Uses `queue`, or a new serial queue if that is nil.
    init(_ queue: OperationQueue?) {
        if let queue {
            operations = queue
            unsafe dispatch = queue.underlyingQueue
            let isPlain = type(of: queue) == OperationQueue.self
            submissionQueue = isPlain || dispatch != nil ? nil : DispatchQueue(label: "lupine.session.asking")
            isSerial = queue.maxConcurrentOperationCount == 1
        } else {
            let serialQueue = DispatchQueue(label: "lupine.session.delegate")
            operations = OperationQueue()
            operations.maxConcurrentOperationCount = 1
            unsafe operations.underlyingQueue = serialQueue
            dispatch = serialQueue
            submissionQueue = nil
            isSerial = true
        }
    }

    /// Runs the job on the queue, after the jobs that the same thread has added before.
    func add(_ job: @escaping @Sendable () -> Void) {
        guard isSerial else { return send(job) }
        let (isFirst, mustSubmit) = state.withLock { state in
            state.ready.append(Job(run: job))
            defer { state.isScheduled = true }
            return (!state.isScheduled, state.ready.count >= Self.batchLimit && state.release())
        }
        if mustSubmit { return send { self.run() } }
        guard isFirst else { return }
        guard let loop = EventLoop.current else { return send { self.run() } }
        state.withLock { $0.isHeld = true }
        loop.atTurnEnd(self)
    }

    /// Runs ready jobs, and submits another block if there are more than `maxJobsPerBlock`.
    private func run() {
        var count = 0
        var jobs: [Job] = []
        while count < Self.maxJobsPerBlock {
            // Takes the ready jobs, and leaves the emptied array for later jobs.
            state.withLock { state in
                if state.ready.isEmpty { state.isScheduled = false }
                swap(&jobs, &state.ready)
            }
            if jobs.isEmpty { return }
            assertNoLockIsHeld()
            assertNotOnLoop()
            for job in jobs { job.run() }
            count += jobs.count
            jobs.removeAll(keepingCapacity: jobs.count <= Self.maxJobsPerBlock)
        }
        send { self.run() }
    }

    /// Submits `job` to the queue at once.
    private func send(_ job: @escaping @Sendable () -> Void) {
        if let dispatch {
            dispatch.async(execute: job)
        } else if let submissionQueue {
            submissionQueue.async { [operations] in operations.addOperation(job) }
        } else {
            operations.addOperation(job)
        }
    }
}

extension DelegateQueue: TurnEndListener {
    func turnEnded() {
        if state.withLock({ $0.release() }) { send { self.run() } }
    }
}
