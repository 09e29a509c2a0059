// SPDX-License-Identifier: MIT

/// The threads on which a group of loops calls code of the program that may block, such as `TrustEvaluator.custom`. They are few,
/// start when they are first needed, and end with the group.
///
/// Each call occupies one thread. While all threads are occupied, further calls wait in order. The time-outs of the callers run
/// on the loops meanwhile; a call that is withdrawn before it begins is never made.
///
/// Unlike the threads of `WorkerPool`, these are joined: the group's shutdown waits for calls that have begun, so that no code of
/// the program runs for a group that has ended. Another reason for separate threads is that a program that blocks here must not
/// delay name look-ups or fetches for certificates. Any thread may call.
final class CalloutThreads: Sendable {
    typealias Ticket = WorkQueue.Ticket

    private struct State {
        var nextTicket: Ticket = 0
        var queue = WorkQueue()
        /// The number of threads that run or are being started.
        var threadCount = 0
        /// The number of calls in progress.
        var runningCount = 0
        /// Whether the shutdown has begun.
        var hasEnded = false
        /// Called when all threads have returned.
        var onEnd: [@Sendable () -> Void] = []
    }

    private struct Handles {
        /// The threads that have not been joined.
        var unjoined: [NativeThread.Handle] = []
        /// Whether the threads have been joined; no further thread may start then.
        var isJoined = false
    }

    /// The maximum number of threads.
    let limit: Int
    private let name: String
    private let state = Lock(State())
    /// The lock is held while a thread is started and while the threads are joined, so that none is started after the join.
    private let handles = Lock(Handles())
    /// The threads wait for it. It is signalled once for each submitted closure, and at the shutdown once for each thread.
    private let semaphore = Semaphore()

    /// Creates a pool of at most `limit` threads called `name`; none is started yet.
    init(limit: Int, name: String) {
        precondition(limit > 0, "there is at least one thread")
        self.limit = limit
        self.name = name
    }

    /// The number of waiting and of running calls.
    var load: (waiting: Int, running: Int) { state.withLock { ($0.queue.count, $0.runningCount) } }

    /// Returns a ticket for `submit`.
    func newTicket() -> Ticket {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Runs `work` on one of the threads once one is free. If the shutdown has begun, drops `work` without an error. Throws if no
    /// thread is running and none can be started.
    func submit(_ ticket: Ticket, _ work: @escaping @Sendable () -> Void) throws(Errno) {
        let needsThread = state.withLock { [limit] state in
            // The work is dropped. A thread that the signal below wakes finds no work, and ends.
            if state.hasEnded { return false }
            state.queue.append(ticket, work)
            // The threads that wait for a signal, or are being started for work in the queue.
            let freeCount = state.threadCount - state.runningCount
            guard state.queue.count > freeCount, state.threadCount < limit else { return false }
            state.threadCount += 1
            return true
        }
        semaphore.signal()
        if needsThread { try startThread() }
    }

    /// Withdraws work that has not begun; work that has begun continues.
    func withdraw(_ ticket: Ticket) {
        // The work is returned from the closure, so that its captured values are released outside the lock.
        _ = state.withLock { $0.queue.remove(ticket) }
    }

    /// Starts a thread, which `submit` has counted in `threadCount`. If that fails and there is no other thread, drops the
    /// waiting work and throws.
    private func startThread() throws(Errno) {
        do throws(Errno) {
            try handles.withLock { [name] handles throws(Errno) in
                // If the group has ended meanwhile, the shutdown has dropped the work.
                if handles.isJoined { return }
                handles.unjoined.append(try NativeThread.start(name: name) { self.run() })
            }
        } catch {
            // If there are other threads, they will run the work. The dropped work is released outside the lock.
            let droppedWork = state.withLock { state -> WorkQueue? in
                state.threadCount -= 1
                return state.threadCount == 0 ? Self.removeQueue(from: &state) : nil
            }
            if droppedWork != nil { throw error }
        }
    }

    /// Removes all waiting work; the caller releases it outside the lock.
    private static func removeQueue(from state: inout State) -> WorkQueue {
        var queue = WorkQueue()
        swap(&queue, &state.queue)
        return queue
    }

    /// What a thread has done after one signal.
    private enum SignalOutcome {
        /// It has made a call.
        case called
        /// The queue is empty: the work that the signal was for has been withdrawn.
        case nothing
        /// The thread must end, and call these closures.
        case end([@Sendable () -> Void])
    }

    /// The function of each thread.
    private func run() {
        while true {
            semaphore.wait()
            switch callNext() {
            case .called: state.withLock { $0.runningCount -= 1 }
            case .nothing: break
            case .end(let callbacks):
                for callback in callbacks { callback() }
                return
            }
        }
    }

    /// Makes the next call, if there is one. This is a separate function so that the values that the work has captured are
    /// released when it returns: the program may wait for their `deinit`.
    private func callNext() -> SignalOutcome {
        let (next, outcome) = state.withLock { state -> (WorkQueue.Work?, SignalOutcome) in
            if let next = state.queue.popFirst() {
                state.runningCount += 1
                return (next.work, .called)
            }
            guard state.hasEnded else { return (nil, .nothing) }
            state.threadCount -= 1
            // Only the last thread calls the closures.
            return (nil, .end(state.threadCount == 0 ? state.onEnd : []))
        }
        next?()
        return outcome
    }

    // MARK: Shutdown

    /// Drops the waiting work and lets the threads end as soon as the program's code returns. Does not wait.
    func beginShutdown() {
        // The dropped work is returned from the closure, so that it is released outside the lock.
        let (threadCount, _) = state.withLock { state -> (Int, WorkQueue) in
            if state.hasEnded { return (0, WorkQueue()) }
            state.hasEnded = true
            return (state.threadCount, Self.removeQueue(from: &state))
        }
        for _ in 0..<threadCount { semaphore.signal() }
    }

    /// Ends the threads. Returns when they are gone, and so after the program's code on them has returned.
    func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let haveThreadsEnded = state.withLock { state in
                if state.threadCount > 0 { state.onEnd.append { continuation.resume() } }
                return state.threadCount == 0
            }
            if haveThreadsEnded { continuation.resume() }
        }
        // The threads only have to return, so this hardly blocks.
        join()
    }

    /// Like `shutdown()`, but blocks. Must not be called on a loop or on one of the threads.
    func shutdownAndWait() {
        beginShutdown()
        join()
    }

    /// Blocks until all threads have ended.
    private func join() {
        handles.withLock { handles in
            handles.isJoined = true
            for handle in handles.unjoined { NativeThread.join(handle) }
            handles.unjoined = []
        }
    }
}
