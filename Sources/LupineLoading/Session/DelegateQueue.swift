// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport

/// Where a session calls back.
///
/// Tasks hand in themselves, not single calls: each turn on the queue runs everything that is ready, of all tasks that are. What a turn of an
/// event loop brings comes when that turn ends, or when it is as much as `company`: the queue's thread is woken for all of it, and
/// does not take the processor from the loop, and its locks, before.
/// A queue that runs one operation at a time calls one task after the other even when the dispatch queue under it is
/// concurrent. An operation queue with an underlying dispatch queue is served by that directly, without operations; its
/// `isSuspended` then does not count.
final class DelegateQueue: Sendable {
    /// Something to be run. A struct: a bare closure in an array is wrapped once more.
    private struct Job {
        let run: @Sendable () -> Void
    }

    private struct State {
        var ready: [Job] = []
        var isScheduled = false
        /// Whether it is not on the queue yet, because a loop has its turn.
        var isHeld = false

        /// Whether what is held goes to the queue now. Once.
        mutating func release() -> Bool {
            defer { isHeld = false }
            return isHeld
        }
    }

    /// So many jobs are not held.
    private static let company = 8

    /// So many jobs run in one turn before others on the queue have theirs.
    private static let turn = 64

    /// The queue as the program sees it.
    let operations: OperationQueue
    private let dispatch: DispatchQueue?
    /// From where a queue of the program's own class is asked, whose methods may do anything: no loop does that.
    private let asking: DispatchQueue?
    private let isSerial: Bool
    private let state = Lock(State())

    /// Serves that queue, or one of its own that calls one after the other.
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
            return (!state.isScheduled, state.ready.count >= Self.company && state.release())
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
            // What was ready, and its place for what comes from here on.
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
