// SPDX-License-Identifier: MIT

/// The threads of a group of loops for code of the program's that may block, such as `TrustEvaluator.custom`: a few, started
/// when first needed, ended with the group.
///
/// Each call of the program's takes one thread while it lasts. When all are taken, others wait, in order and for as long as
/// whoever asked has time: time-outs run on the loops meanwhile, and what is withdrawn before it began is never called.
/// Unlike those of `WorkerPool` the threads are joined, so that no code of the program's runs for a group that has ended: its
/// shutdown waits for calls that have begun. They are apart from that pool also because a program that blocks here must hold
/// up neither look-ups nor what is fetched about certificates. Any thread.
final class CalloutThreads: Sendable {
    typealias Ticket = WorkQueue.Ticket

    private struct State {
        var nextTicket: Ticket = 0
        var queue = WorkQueue()
        /// Threads that run, or are being started.
        var threads = 0
        var running = 0
        var isEnded = false
        /// Who waits until all threads have returned.
        var ends: [@Sendable () -> Void] = []
    }

    private struct Handles {
        var started: [NativeThread.Handle] = []
        var isJoined = false
    }

    /// The most threads there may be.
    let limit: Int
    private let name: String
    private let state = Lock(State())
    /// Held while starting and joining, so that none is started behind the join.
    private let handles = Lock(Handles())
    /// One signal for each piece of work, and one for each thread at the end.
    private let bell = Semaphore()

    /// At most `limit` threads called `name`; none yet.
    init(limit: Int, name: String) {
        precondition(limit > 0, "there is at least one thread")
        self.limit = limit
        self.name = name
    }

    /// Work that waits for a thread, and work that has one.
    var load: (waiting: Int, running: Int) { state.withLock { ($0.queue.count, $0.running) } }

    /// A ticket for `submit`.
    func newTicket() -> Ticket {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Runs `work` on one of the threads when one is free. What cannot run is dropped: after the end, and, with an error, where
    /// there is no thread at all.
    func submit(_ ticket: Ticket, _ work: @escaping @Sendable () -> Void) throws(Errno) {
        let needsThread = state.withLock { [limit] state in
            if state.isEnded { return false }
            state.queue.append(ticket, work)
            let free = state.threads - state.running
            guard state.queue.count > free, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        bell.signal()
        if needsThread { try startThread() }
    }

    /// Takes back work that has not begun; what has begun goes on and is nobody's business any more.
    func withdraw(_ ticket: Ticket) {
        // What the work holds goes away outside of the lock.
        _ = state.withLock { $0.queue.remove(ticket) }
    }

    private func startThread() throws(Errno) {
        do throws(Errno) {
            try handles.withLock { [name] handles throws(Errno) in
                // Ended meanwhile: the work was dropped.
                if handles.isJoined { return }
                handles.started.append(try NativeThread.start(name: name) { self.run() })
            }
        } catch {
            // The other threads will do it, if there are any.
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

    /// What a signal has brought one of the threads.
    private enum Turn {
        case called
        /// What it was for has been withdrawn.
        case nothing
        case end([@Sendable () -> Void])
    }

    /// One of the threads.
    private func run() {
        while true {
            bell.wait()
            switch callNext() {
            case .called: state.withLock { $0.running -= 1 }
            case .nothing: break
            case .end(let ends):
                for end in ends { end() }
                return
            }
        }
    }

    /// Apart from the loop, so that what the work holds is gone when it returns: somebody may wait for just that.
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

    /// Drops what waits and lets the threads end as soon as the program's code returns; returns at once.
    func beginShutdown() {
        let (threads, _) = state.withLock { state -> (Int, WorkQueue) in
            if state.isEnded { return (0, WorkQueue()) }
            state.isEnded = true
            return (state.threads, Self.clear(&state))
        }
        for _ in 0..<threads { bell.signal() }
    }

    /// Ends the threads and returns when they are gone: when the program's code that runs on them has returned.
    func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threads > 0 { state.ends.append { continuation.resume() } }
                return state.threads == 0
            }
            if isOver { continuation.resume() }
        }
        // They have nothing left but to return.
        join()
    }

    /// The same, blocking; neither on a loop nor on one of the threads.
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
