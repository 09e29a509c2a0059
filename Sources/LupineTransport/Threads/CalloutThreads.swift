// SPDX-License-Identifier: MIT

/// The threads of a group of loops for the program's code that may block, such as `TrustEvaluator.custom`. They are few, started
/// when first needed, and end with the group.
///
/// Each call takes one thread while it lasts. When all threads are taken, further calls wait in order: the callers' time-outs run
/// on the loops meanwhile, and a call that is withdrawn before it began is never made. Unlike those of `WorkerPool` the threads
/// are joined, so that none of the program's code runs for a group that has ended: the group's shutdown waits for calls that have
/// begun. The pools are separate also because a program that blocks here must not delay look-ups or fetches for certificates. Any
/// thread may call.
final class CalloutThreads: Sendable {
    typealias Ticket = WorkQueue.Ticket

    private struct State {
        var nextTicket: Ticket = 0
        var queue = WorkQueue()
        /// Threads that run or are being started.
        var threads = 0
        var running = 0
        var isEnded = false
        /// Called when all threads have returned.
        var ends: [@Sendable () -> Void] = []
    }

    private struct Handles {
        var started: [NativeThread.Handle] = []
        var isJoined = false
    }

    /// The maximum number of threads.
    let limit: Int
    private let name: String
    private let state = Lock(State())
    /// Held while starting and joining, so that no thread is started after the join.
    private let handles = Lock(Handles())
    /// Signalled once for each piece of work, and once for each thread at the end.
    private let semaphore = Semaphore()

    /// At most `limit` threads called `name`; none is started yet.
    init(limit: Int, name: String) {
        precondition(limit > 0, "there is at least one thread")
        self.limit = limit
        self.name = name
    }

    /// The number of waiting and of running calls.
    var load: (waiting: Int, running: Int) { state.withLock { ($0.queue.count, $0.running) } }

    /// A ticket for `submit`.
    func newTicket() -> Ticket {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Runs `work` on one of the threads when one is free. Drops it after the end, and throws if no thread can be started and
    /// none is running.
    func submit(_ ticket: Ticket, _ work: @escaping @Sendable () -> Void) throws(Errno) {
        let needsThread = state.withLock { [limit] state in
            if state.isEnded { return false }
            state.queue.append(ticket, work)
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
        // The captured values are released outside of the lock.
        _ = state.withLock { $0.queue.remove(ticket) }
    }

    private func startThread() throws(Errno) {
        do throws(Errno) {
            try handles.withLock { [name] handles throws(Errno) in
                // The group has ended meanwhile, and the work was dropped.
                if handles.isJoined { return }
                handles.started.append(try NativeThread.start(name: name) { self.run() })
            }
        } catch {
            // The other threads will run the work, if there are any.
            let stranded = state.withLock { state -> WorkQueue? in
                state.threads -= 1
                return state.threads == 0 ? Self.clear(&state) : nil
            }
            if stranded != nil { throw error }
        }
    }

    private static func clear(_ state: inout State) -> WorkQueue {
        var queue = WorkQueue()
        swap(&queue, &state.queue)
        return queue
    }

    /// The result of one signal.
    private enum Turn {
        case called
        /// The work of the signal has been withdrawn.
        case nothing
        case end([@Sendable () -> Void])
    }

    /// The function of each thread.
    private func run() {
        while true {
            semaphore.wait()
            switch callNext() {
            case .called: state.withLock { $0.running -= 1 }
            case .nothing: break
            case .end(let ends):
                for end in ends { end() }
                return
            }
        }
    }

    /// A separate function, so that the work and its captured values are released when it returns: the program may wait for that.
    private func callNext() -> Turn {
        let (next, turn) = state.withLock { state -> (WorkQueue.Work?, Turn) in
            if let next = state.queue.next() {
                state.running += 1
                return (next.work, .called)
            }
            guard state.isEnded else { return (nil, .nothing) }
            state.threads -= 1
            return (nil, .end(state.threads == 0 ? state.ends : []))
        }
        next?()
        return turn
    }

    // MARK: The end

    /// Drops the waiting work and lets the threads end as soon as the program's code returns. Does not wait.
    func beginShutdown() {
        let (threads, _) = state.withLock { state -> (Int, WorkQueue) in
            if state.isEnded { return (0, WorkQueue()) }
            state.isEnded = true
            return (state.threads, Self.clear(&state))
        }
        for _ in 0..<threads { semaphore.signal() }
    }

    /// Ends the threads and returns when they are gone, that is, when the program's code on them has returned.
    func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threads > 0 { state.ends.append { continuation.resume() } }
                return state.threads == 0
            }
            if isOver { continuation.resume() }
        }
        // The threads only have to return, so this hardly blocks.
        join()
    }

    /// Like `shutdown()`, but blocking; not to be called on a loop or on one of the threads.
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
