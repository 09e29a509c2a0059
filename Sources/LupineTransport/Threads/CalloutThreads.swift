// SPDX-License-Identifier: MIT

/// The threads on which a group of loops calls code of the program that may block, such as `TrustEvaluator.custom`. They are few,
/// started when first needed, and end with the group.
///
/// Each call occupies one thread. While all threads are occupied, further calls wait in order: the callers' time-outs run on the
/// loops meanwhile, and a call that is withdrawn before it begins is never made. Unlike the threads of `WorkerPool` these are
/// joined: the group's shutdown waits for calls that have begun, so that no code of the program runs for a group that has ended.
/// The pools are also separate because a program that blocks here must not delay look-ups or fetches for certificates. Any thread
/// may call.
final class CalloutThreads: Sendable {
    typealias Ticket = WorkQueue.Ticket

    private struct State {
        var nextTicket: Ticket = 0
        var queue = WorkQueue()
        /// The number of threads that run or are being started.
        var threads = 0
        /// The number of calls in progress.
        var running = 0
        var hasEnded = false
        /// Called when all threads have returned.
        var onEnd: [@Sendable () -> Void] = []
    }

    private struct Handles {
        /// The threads that have not been joined.
        var started: [NativeThread.Handle] = []
        /// Whether the threads have been joined; no further one may start.
        var isJoined = false
    }

    /// The maximum number of threads.
    let limit: Int
    private let name: String
    private let state = Lock(State())
    /// Held while starting and joining, so that no thread is started after the join.
    private let handles = Lock(Handles())
    /// Signalled once for each piece of work, and at the end once for each thread.
    private let semaphore = Semaphore()

    /// Creates a pool of at most `limit` threads called `name`; none is started yet.
    init(limit: Int, name: String) {
        precondition(limit > 0, "there is at least one thread")
        self.limit = limit
        self.name = name
    }

    /// The number of waiting and of running calls.
    var load: (waiting: Int, running: Int) { state.withLock { ($0.queue.count, $0.running) } }

    /// Returns a ticket for `submit`.
    func newTicket() -> Ticket {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Runs `work` on one of the threads when one is free. Drops it after the shutdown began. Throws if no thread is running and
    /// none can be started.
    func submit(_ ticket: Ticket, _ work: @escaping @Sendable () -> Void) throws(Errno) {
        let needsThread = state.withLock { [limit] state in
            // The work is dropped; a thread that the signal below wakes finds nothing, and ends.
            if state.hasEnded { return false }
            state.queue.append(ticket, work)
            // Threads that wait for a signal, or are being started for work in the queue.
            let free = state.threads - state.running
            guard state.queue.count > free, state.threads < limit else { return false }
            state.threads += 1
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

    /// Starts a thread that `submit` has counted. If that fails and no other thread is running, drops the work and throws.
    private func startThread() throws(Errno) {
        do throws(Errno) {
            try handles.withLock { [name] handles throws(Errno) in
                // If the group has ended meanwhile, the work was dropped.
                if handles.isJoined { return }
                handles.started.append(try NativeThread.start(name: name) { self.run() })
            }
        } catch {
            // The other threads will run the work, if there are any.
            let dropped = state.withLock { state -> WorkQueue? in
                state.threads -= 1
                return state.threads == 0 ? Self.removeQueue(from: &state) : nil
            }
            if dropped != nil { throw error }
        }
    }

    /// Removes all waiting work; the caller releases it outside the lock.
    private static func removeQueue(from state: inout State) -> WorkQueue {
        var queue = WorkQueue()
        swap(&queue, &state.queue)
        return queue
    }

    /// The result of one signal.
    private enum SignalOutcome {
        /// A call was made.
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
            case .called: state.withLock { $0.running -= 1 }
            case .nothing: break
            case .end(let callbacks):
                for callback in callbacks { callback() }
                return
            }
        }
    }

    /// Makes the next call. A separate function, so that the work's captured values are released when it returns: the program may
    /// wait for their `deinit`.
    private func callNext() -> SignalOutcome {
        let (next, outcome) = state.withLock { state -> (WorkQueue.Work?, SignalOutcome) in
            if let next = state.queue.popFirst() {
                state.running += 1
                return (next.work, .called)
            }
            guard state.hasEnded else { return (nil, .nothing) }
            state.threads -= 1
            return (nil, .end(state.threads == 0 ? state.onEnd : []))
        }
        next?()
        return outcome
    }

    // MARK: Shutdown

    /// Drops the waiting work and lets the threads end as soon as the program's code returns. Does not wait.
    func beginShutdown() {
        let (threads, _) = state.withLock { state -> (Int, WorkQueue) in
            if state.hasEnded { return (0, WorkQueue()) }
            state.hasEnded = true
            return (state.threads, Self.removeQueue(from: &state))
        }
        for _ in 0..<threads { semaphore.signal() }
    }

    /// Ends the threads; returns when they are gone, and so after the program's code on them has returned.
    func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let haveThreadsEnded = state.withLock { state in
                if state.threads > 0 { state.onEnd.append { continuation.resume() } }
                return state.threads == 0
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

    private func join() {
        handles.withLock { handles in
            handles.isJoined = true
            for handle in handles.started { NativeThread.join(handle) }
            handles.started = []
        }
    }
}
