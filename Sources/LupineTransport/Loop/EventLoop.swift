// SPDX-License-Identifier: MIT

internal import Synchronization

/// One thread that waits for descriptors, timers and submitted work and runs their callbacks. It also runs jobs of Swift tasks
/// (`EventLoop+TaskExecutor`).
///
/// A connection stays on one loop for life and is used only there. `execute`, `executeInline`, `executeWhileIdle`, `isOnLoop`
/// and the shutdown may be called from any thread. Everything else may be called only by the thread that runs the loop, and
/// traps elsewhere: the loop's own thread or, while that sleeps, one that has borrowed the loop with `executeWhileIdle`.
/// Nothing on a loop may block: a callback that sleeps delays every connection of the loop.
///
/// A loop ends in order: it runs all work that `execute` accepted, calls every channel's `loopWillClose` and ends every timer
/// with `loopClosing`. Once it has ended, `execute` returns false.
package final class EventLoop: Sendable {
    let identity: LoopIdentity
    /// The name of the loop's thread.
    let name: String
    /// The index of the loop in its group; 0 without a group.
    let number: Int
    /// The threads on which the program's code that may block is called; those of the group, if there is one.
    let callouts: CalloutThreads
    /// Whether `callouts` are the loop's own, because it has no group.
    private let ownsCallouts: Bool
    /// The work that other threads have submitted.
    private let inbox: LoopInbox
    /// Decides which thread may use `core`.
    private let access = LoopAccess()
    private let core: LoopBound<LoopCore>
    private let state = Lock<State>(.running(onEnd: []))
    /// The loop's thread; nil once a shutdown has joined it. The joining thread holds the lock meanwhile, so that every caller of
    /// the shutdown returns only when the loop's thread is gone.
    private let thread = Lock<NativeThread.Handle?>(nil)
    /// The number of registered channels, which any thread may read (`load`).
    private let registrationCount = Atomic<Int>(0)
    /// Measures whether the loop is busy.
    private let activity: LoopActivity
    /// The number of exchanges that connections of the loop carry.
    private let exchangeCount = Atomic<Int>(0)

    private enum State: Sendable {
        /// The closures are called when the loop has ended.
        case running(onEnd: [@Sendable () -> Void])
        case ended
    }

    /// Starts a loop without a group on a thread called `name`.
    package static func start(
        name: String, clock: any TransportClock = MonotonicClock()
    ) throws(Errno) -> EventLoop {
        try start(name: name, clock: clock, callouts: nil)
    }

    /// Starts a loop of a group, or one without a group.
    ///
    /// - Parameters:
    ///   - name: The name of the loop's thread.
    ///   - number: The index of the loop in the group.
    ///   - clock: The loop's clock.
    ///   - callouts: The group's threads for the program's blocking code; nil for threads of the loop's own.
    ///   - diagnose: Called in debug builds with the first job that blocked the loop for too long.
    static func start(
        name: String, number: Int = 0, clock: any TransportClock, callouts: CalloutThreads?,
        diagnose: @escaping @Sendable (LongJob) -> Void = { Syscalls.writeToStandardError($0.warning) }
    ) throws(Errno) -> EventLoop {
        let loop = try EventLoop(
            name: name, number: number, clock: clock, diagnose: diagnose,
            callouts: callouts
                ?? CalloutThreads(limit: EventLoopGroup.calloutLimit, name: "\(name)-ask"),
            ownsCallouts: callouts == nil)
        let handle = try NativeThread.start(name: name) { loop.run() }
        loop.thread.withLock { $0 = handle }
        return loop
    }

    private init(
        name: String, number: Int, clock: any TransportClock, diagnose: @escaping @Sendable (LongJob) -> Void,
        callouts: CalloutThreads, ownsCallouts: Bool
    ) throws(Errno) {
        self.name = name
        self.number = number
        self.callouts = callouts
        self.ownsCallouts = ownsCallouts
        let wakeUp = try WakeUp()
        identity = LoopIdentity()
        inbox = LoopInbox(wakeUp: wakeUp)
        activity = LoopActivity(now: clock.now())
        core = LoopBound(
            sending: try LoopCore(
                wakeUp: wakeUp, inbox: inbox, access: access, activity: activity, clock: clock,
                diagnose: diagnose),
            to: identity)
    }

    /// The function of the loop's thread.
    private func run() {
        identity.adoptCurrentThread(of: self)
        let core = core.value
        // Each call runs one turn; the last one has closed the loop.
        while core.turn(of: self) {}
        identity.abandon()
        let callbacks = state.withLock { state -> [@Sendable () -> Void] in
            guard case .running(let callbacks) = state else { return [] }
            state = .ended
            return callbacks
        }
        for callback in callbacks { callback() }
    }

    // MARK: From any thread

    /// The loop that the calling thread runs, or nil.
    package static var current: EventLoop? { NativeThread.loop as? EventLoop }

    /// The loop whose Swift job (code of the program that was enqueued on the loop) the calling thread is running. Nil on other
    /// threads, and while a loop handles its connections.
    package static var ofRunningJob: EventLoop? {
        guard let loop = current, loop.core.value.isRunningJob else { return nil }
        return loop
    }

    /// Whether the caller is on this loop's thread.
    package var isOnLoop: Bool {
        @inline(__always) get { identity.isCurrent }
    }

    /// Traps when the caller is not on this loop's thread.
    @inline(__always)
    package func preconditionOnLoop() { identity.preconditionCurrent() }

    /// Submits work from any thread; it runs in the order of submission. Returns false if the loop has ended; `work` will then
    /// never run.
    package func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
        // With `fromLoop`, the loop is not woken: it is awake.
        inbox.submit(work, fromLoop: isOnLoop)
    }

    /// Runs `work` at once if the caller is on the loop, and submits it otherwise. Returns false if the loop has ended; `work`
    /// will then never run.
    package func executeInline(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard isOnLoop else { return inbox.submit(work) }
        // If a job of the program makes this call, `work` does not count as a part of the job (`ofRunningJob`).
        core.value.runOutsideJobs(work)
        return true
    }

    /// Borrows the loop and runs short work on the calling thread, if the loop sleeps and carries no exchange. This saves waking
    /// the loop's thread. Otherwise, or if the caller is a loop itself, returns false without running `work`.
    ///
    /// A loop that carries an exchange is not borrowed: it soon wakes for the exchange, and would have to wait for the caller.
    /// `work` must not block: if the loop wakes, its thread waits until `work` has returned.
    func executeWhileIdle(_ work: () -> Void) -> Bool {
        // `borrow` comes last: it succeeds only if the loop sleeps, and then makes this thread the holder.
        guard !NativeThread.isLoop, exchangeCount.load(ordering: .relaxed) == 0, access.borrow() else {
            return false
        }
        // `lend` makes this thread the one that runs the loop, and returns the number of the loop's own thread.
        let owner = identity.lend(self)
        core.value.runBorrowed(work)
        identity.giveBack(to: owner)
        access.giveBack()
        return true
    }

    /// Has `listener` called at the end of the loop's present turn, if the loop is awake. Otherwise returns false.
    func notifyAtTurnEndIfAwake(_ listener: any TurnEndListener & Sendable) -> Bool {
        access.isLoopAwake && inbox.submitIfAwake { self.atTurnEnd(listener) }
    }

    /// Submits a job of a Swift task. Returns false if the loop is ending; the caller must then run the job elsewhere.
    func submit(_ job: UnownedJob) -> Bool { inbox.submit(job) }

    /// Makes the loop read its clock again. A test calls it after it has advanced its clock.
    package func wake() { inbox.wake(closing: false) }

    /// The number of channels on this loop. A group puts a new connection on the loop with the lowest load.
    package var load: Int { registrationCount.load(ordering: .relaxed) }

    /// Called when a connection of the loop begins to carry an exchange.
    func exchangeBegan() { exchangeCount.add(1, ordering: .relaxed) }

    /// Called when an exchange has left its connection.
    func exchangeLeft() { exchangeCount.subtract(1, ordering: .relaxed) }

    /// Whether the loop works for more than half of its time. A group avoids busy loops for new connections.
    func isBusy(at now: Instant) -> Bool { activity.isBusy(at: now) }

    // MARK: On the loop

    /// The time at which this turn of the loop, or the running job, began.
    package var now: Instant { core.value.now }

    /// Whether this turn, or the running job, has lasted for 5 ms or more. A caller should then defer what it can to the next
    /// turn, so that other connections do not wait for it.
    package var isLate: Bool { core.value.isLate }

    /// Enqueues a job; only for the loop's own thread. Returns false if the loop is ending; the caller must then run it
    /// elsewhere.
    func enqueueOnLoop(_ job: UnownedJob) -> Bool { core.value.enqueue(job) }

    /// Runs `work` at the end of this turn, after the callbacks of the current event.
    package func executeOnLoop(_ work: @escaping () -> Void) { core.value.deferWork(work) }

    /// Calls `listener` when this turn ends. A listener that wakes another thread can then wake that thread once for all results
    /// of the turn, rather than once for each.
    package func atTurnEnd(_ listener: any TurnEndListener) { core.value.listeners.append(listener) }

    /// Watches a non-blocking descriptor, and reports its readiness to `channel`. The loop retains the channel until
    /// `deregister`.
    package func register(
        _ descriptor: borrowing Descriptor, _ channel: any LoopChannel
    ) throws(Errno) -> Registration {
        let registration = try core.value.register(descriptor.rawValue, channel)
        registrationCount.add(1, ordering: .relaxed)
        return registration
    }

    /// Ends a registration: its channel is not called again, not even for events that epoll has already returned.
    ///
    /// - Parameters:
    ///   - registration: The registration to end. If it has ended, the call has no effect.
    ///   - closing: Whether the caller closes the descriptor next. The kernel then removes it from epoll without a system call.
    package func deregister(_ registration: Registration, closing: Bool = true) {
        if core.value.deregister(registration, closing: closing) {
            registrationCount.subtract(1, ordering: .relaxed)
        }
    }

    /// Gives a registration another channel, without a system call. The loop does not report readiness again that it has reported
    /// to the old channel.
    package func reassign(_ registration: Registration, to channel: any LoopChannel) {
        core.value.replaceChannel(of: registration, with: channel)
    }

    /// Identifies a timer until it ends or is cancelled.
    package struct TimerToken: Hashable, Sendable {
        fileprivate let token: TimerHeap<LoopCore.TimerAction>.Token
    }

    /// Sets a timer that calls `target` with `tag`. Allocates no memory for the timer.
    package func schedule(at deadline: Instant, _ target: any TimerTarget, tag: Int) -> TimerToken {
        TimerToken(token: core.value.timers.insert(.target(target, tag: tag), at: deadline))
    }

    /// Sets a timer that calls `target` with `tag` once `delay` has passed since this turn began.
    package func schedule(after delay: Duration, _ target: any TimerTarget, tag: Int) -> TimerToken {
        schedule(at: now.advanced(by: delay), target, tag: tag)
    }

    /// Sets a timer that runs `body`.
    package func schedule(at deadline: Instant, _ body: @escaping (TimerReason) -> Void) -> TimerToken {
        TimerToken(token: core.value.timers.insert(.body(body), at: deadline))
    }

    /// Sets a timer that runs `body` once `delay` has passed since this turn began.
    package func schedule(after delay: Duration, _ body: @escaping (TimerReason) -> Void) -> TimerToken {
        schedule(at: now.advanced(by: delay), body)
    }

    /// Cancels a timer; returns false if it has ended or was cancelled before.
    @discardableResult
    package func cancel(_ timer: TimerToken) -> Bool {
        core.value.timers.remove(timer.token) != nil
    }

    /// The number of timers that are set and have not ended.
    package var timerCount: Int { core.value.timers.count }

    /// Returns the loop's one read buffer, so that idle connections need no buffer. The callback that borrows it must give it
    /// back before it returns. A caller that borrows while the buffer is lent gets a new one.
    package func borrowReadBuffer() -> [UInt8] {
        Self.lend(&core.value.readBuffer, Self.readBufferSize)
    }

    /// Gives back the read buffer, or the new one that `borrowReadBuffer` returned instead. It becomes the loop's buffer.
    package func giveBack(readBuffer: consuming [UInt8]) { core.value.readBuffer = readBuffer }

    /// Returns the loop's buffer for bytes that are written to a file; the rules are those of the read buffer.
    func borrowFileBuffer() -> [UInt8] {
        Self.lend(&core.value.fileBuffer, Self.fileBufferSize)
    }

    /// Gives back the file buffer.
    func giveBack(fileBuffer: consuming [UInt8]) { core.value.fileBuffer = fileBuffer }

    /// Returns the loop's buffer for one TLS record; the rules are those of the read buffer.
    package func borrowRecordBuffer() -> [UInt8] {
        Self.lend(&core.value.recordBuffer, Self.recordBufferSize)
    }

    /// Gives back the record buffer.
    package func giveBack(recordBuffer: consuming [UInt8]) { core.value.recordBuffer = recordBuffer }

    /// Returns an object that `keepSpare` has kept; nil if there is none. With it, what a connection needs only for an exchange
    /// takes no memory while the connection is idle, and an exchange allocates nothing for it.
    func takeSpare() -> AnyObject? { core.value.spares.popLast() }

    /// Keeps an object for a later call of `takeSpare`, unless there are enough. The object must hold nothing of its last use.
    func keepSpare(_ object: AnyObject) {
        Self.keep(object, in: &core.value.spares)
    }

    private static func keep(_ object: AnyObject, in spares: inout [AnyObject]) {
        if spares.count < spareLimit { spares.append(object) }
    }

    /// How many spare objects the loop keeps: as many as exchanges commonly run on it at the same time.
    private static let spareLimit = 64

    /// Moves a buffer out of the core, or creates one while the core's is lent. The arrays are swapped and not assigned: with a
    /// second reference to the array, the next write would copy the bytes.
    private static func lend(_ buffer: inout [UInt8], _ size: Int) -> [UInt8] {
        if buffer.isEmpty { return [UInt8](repeating: 0, count: size) }
        var lent: [UInt8] = []
        swap(&lent, &buffer)
        return lent
    }

    /// The maximum plaintext of one TLS record in bytes (RFC 8446 §5.1).
    package static let recordBufferSize = 16 * 1024

    /// The size of the read buffer: the usual size of a socket's buffer in the kernel. A larger one would save hardly any calls;
    /// a smaller one would need further calls.
    package static let readBufferSize = 64 * 1024

    /// The size of the file buffer: large enough that the write call costs little per byte, small enough that the bytes are still
    /// in the processor's cache when they are written.
    static let fileBufferSize = 256 * 1024

    // MARK: Shutdown

    /// Starts the shutdown and returns at once. Any thread may call, any number of times.
    package func beginShutdown() { inbox.wake(closing: true) }

    /// Shuts the loop down; returns when its thread is gone.
    package func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state -> Bool in
                switch state {
                case .running(let callbacks):
                    state = .running(onEnd: callbacks + [{ continuation.resume() }])
                    return false
                case .ended:
                    return true
                }
            }
            if hasEnded { continuation.resume() }
        }
        // The loop has ended and its thread only has to return, so this hardly blocks.
        join()
        if ownsCallouts { await callouts.shutdown() }
    }

    /// Shuts the loop down; blocks until its thread is gone. Must not be called on a loop.
    package func shutdownAndWait() {
        precondition(!isOnLoop, "a loop cannot wait for its own end")
        beginShutdown()
        join()
        if ownsCallouts { callouts.shutdownAndWait() }
    }

    /// Blocks until the loop's thread is gone.
    private func join() {
        thread.withLock { handle in
            if let handle { NativeThread.join(handle) }
            handle = nil
        }
    }
}
