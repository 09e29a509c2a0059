// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport

/// Runs the callbacks of a session on its delegate queue.
///
/// A task submits itself, not each of its calls: a turn on the queue runs everything that is ready, of all submitted tasks.
/// Jobs added during a turn of an event loop are submitted when that turn ends, or when there are `batchLimit` of them. The
/// queue's thread is not woken before, so that it is woken once for all of them and does not compete with the loop for the
/// processor and the locks.
///
/// A queue that runs one operation at a time calls one task after the other even when the dispatch queue under it is
/// concurrent. An operation queue with an underlying dispatch queue is served by that directly, without operations; its
/// `isSuspended` then has no effect.
final class DelegateQueue: Sendable {
    /// A job to be run. A struct, since a bare closure in an array is wrapped once more.
    private struct Job {
        let run: @Sendable () -> Void
    }

    private struct State {
        var ready: [Job] = []
        var isScheduled = false
        /// Whether the jobs are not on the queue yet, because an event loop is in its turn.
        var isHeld = false

        /// Ends the holding of jobs. Returns whether they were held, and so have to be submitted now.
        mutating func release() -> Bool {
            defer { isHeld = false }
            return isHeld
        }
    }

    /// The number of jobs at which they are no longer held.
    private static let batchLimit = 8

    /// The number of jobs that run in one turn, before other work on the queue gets its turn.
    private static let turn = 64

    /// The queue as the program sees it.
    let operations: OperationQueue
    private let dispatch: DispatchQueue?
    /// The queue from which a subclass of `OperationQueue` is called: its methods may do anything, so no loop calls them. Nil
    /// for other queues.
    private let asking: DispatchQueue?
    private let isSerial: Bool
    private let state = Lock(State())

    /// Serves `queue`, or a serial queue of its own.
    init(_ queue: OperationQueue?) {
        if let queue {
            operations = queue
            unsafe dispatch = queue.underlyingQueue
            let isPlain = type(of: queue) == OperationQueue.self
            asking = isPlain || dispatch != nil ? nil : DispatchQueue(label: "lupine.session.asking")
            isSerial = queue.maxConcurrentOperationCount == 1
        } else {
            let own = DispatchQueue(label: "lupine.session.delegate")
            operations = OperationQueue()
            operations.maxConcurrentOperationCount = 1
            unsafe operations.underlyingQueue = own
            dispatch = own
            asking = nil
            isSerial = true
        }
    }

    /// Runs the job on the queue, after those that were added before by the same thread.
    func add(_ job: @escaping @Sendable () -> Void) {
        guard isSerial else { return send(job) }
        let (isFirst, isEnough) = state.withLock { state in
            state.ready.append(Job(run: job))
            defer { state.isScheduled = true }
            return (!state.isScheduled, state.ready.count >= Self.batchLimit && state.release())
        }
        if isEnough { return send { self.run() } }
        guard isFirst else { return }
        guard let loop = EventLoop.current else { return send { self.run() } }
        state.withLock { $0.isHeld = true }
        loop.atTurnEnd(self)
    }

    private func run() {
        var count = 0
        var jobs: [Job] = []
        while count < Self.turn {
            // Takes the ready jobs and leaves the emptied array for the next ones.
            state.withLock { state in
                if state.ready.isEmpty { state.isScheduled = false }
                swap(&jobs, &state.ready)
            }
            if jobs.isEmpty { return }
            assertNoLockIsHeld()
            assertNotOnLoop()
            for job in jobs { job.run() }
            count += jobs.count
            jobs.removeAll(keepingCapacity: jobs.count <= Self.turn)
        }
        send { self.run() }
    }

    private func send(_ job: @escaping @Sendable () -> Void) {
        if let dispatch {
            dispatch.async(execute: job)
        } else if let asking {
            asking.async { [operations] in operations.addOperation(job) }
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
