// SPDX-License-Identifier: MIT

internal import Synchronization

/// One thread that waits for descriptors, timers and submitted work and runs their callbacks, as well as jobs of Swift tasks, see
/// `EventLoop+TaskExecutor`.
///
/// A connection stays on one loop for life and is used only there. `execute`, `executeInline`, `isOnLoop` and the shutdown may be
/// called from any thread; everything else only on the loop's own thread, and traps elsewhere. Nothing on a loop may block: a
/// callback that sleeps delays every connection of the loop.
///
/// The end of a loop is definite. Work that `execute` accepted runs, perhaps during the shutdown; afterwards `execute` returns
/// false. Every channel gets `loopWillClose`, every timer `loopClosing`.
package final class EventLoop: Sendable {
    let identity: LoopIdentity
    /// The name of the loop's thread.
    let name: String
    /// The index of the loop in its group; 0 without a group.
    let number: Int
    /// The threads for the program's code that may block: the group's.
    let callouts: CalloutThreads
    /// Whether `callouts` are the loop's own, because it has no group.
    private let ownsCallouts: Bool
    private let inbox: LoopInbox
    private let core: LoopBound<LoopCore>
    private let end = Lock<End>(.running([]))
    /// Held while joining, so that all who wait for the end also wait for the thread.
    private let thread = Lock<NativeThread.Handle?>(nil)
    private let registrations = Atomic<Int>(0)
    private let activity: LoopActivity

    private enum End: Sendable {
        case running([@Sendable () -> Void])
        case ended
    }

    /// Starts a loop without a group on a thread called `name`.
    package static func start(
        name: String, clock: any TransportClock = MonotonicClock()
    ) throws(Errno) -> EventLoop {
        try start(name: name, clock: clock, callouts: nil)
    }

    /// Starts a loop of a group, which runs the program's blocking code on `callouts`.
    ///
    /// - Parameters:
    ///   - number: The index in the group.
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
                wakeUp: wakeUp, inbox: inbox, activity: activity, clock: clock, diagnose: diagnose),
            to: identity)
    }

    private func run() {
        identity.adoptCurrentThread(of: self)
        let core = core.value
        while core.turn(of: self) {}
        identity.abandon()
        let waiting = end.withLock { end -> [@Sendable () -> Void] in
            guard case .running(let waiting) = end else { return [] }
            end = .ended
            return waiting
        }
        for wake in waiting { wake() }
    }

    // MARK: From any thread

    /// The loop that the calling thread runs, or nil.
    package static var current: EventLoop? { NativeThread.loop as? EventLoop }

    /// The loop whose Swift job the calling thread runs: the program's own code, which asked to run on this loop. Nil elsewhere,
    /// and while a loop works for its connections.
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
        inbox.submit(work, fromLoop: isOnLoop)
    }

    /// Runs `work` at once when already on the loop, and submits it otherwise.
    package func executeInline(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard isOnLoop else { return inbox.submit(work) }
        core.value.runOutsideJobs(work)
        return true
    }

    /// Submits a job of a Swift task. Returns false if the loop is ending; the job must then run elsewhere.
    func submit(_ job: UnownedJob) -> Bool { inbox.submit(job) }

    /// Makes the loop read its clock again: for clocks that are moved by hand.
    package func wake() { inbox.wake(closing: false) }

    /// The number of channels on this loop, for choosing among loops.
    package var load: Int { registrations.load(ordering: .relaxed) }

    /// Whether the loop works for more than half of its time, for the same purpose.
    func isBusy(at now: Instant) -> Bool { activity.isBusy(at: now) }

    // MARK: On the loop

    /// The time at which this turn of the loop, or the running job, began.
    package var now: Instant { core.value.now }

    /// Whether this turn has lasted for 5 ms or more: work that can be deferred should then wait for the next one, for the sake
    /// of other connections.
    package var isLate: Bool { core.value.isLate }

    /// Takes a job that was enqueued on this thread. Returns false if the loop is ending; the job must then run elsewhere.
    func keep(_ job: UnownedJob) -> Bool { core.value.keep(job) }

    /// Runs `work` at the end of this turn, after the callbacks of the current event.
    package func executeOnLoop(_ work: @escaping () -> Void) { core.value.deferWork(work) }

    /// Calls `listener` when this turn ends. Threads are woken there, so that they wake once and find all results of the turn,
    /// rather than once for each.
    package func atTurnEnd(_ listener: any TurnEndListener) { core.value.listeners.append(listener) }

    /// Watches a non-blocking descriptor for `channel`, which is retained until it is deregistered.
    package func register(
        _ descriptor: borrowing Descriptor, _ channel: any LoopChannel
    ) throws(Errno) -> Registration {
        let registration = try core.value.register(descriptor.rawValue, channel)
        registrations.add(1, ordering: .relaxed)
        return registration
    }

    /// Ends a registration: its channel is not called again, not even for events already fetched.
    ///
    /// `closing` is true if the descriptor is closed next; the kernel then forgets it without a system call.
    package func deregister(_ registration: Registration, closing: Bool = true) {
        if core.value.deregister(registration, closing: closing) {
            registrations.subtract(1, ordering: .relaxed)
        }
    }

    /// Gives a registration another channel, without a system call: readiness reported to the old channel is not reported again.
    package func reassign(_ registration: Registration, to channel: any LoopChannel) {
        core.value.replaceChannel(of: registration, with: channel)
    }

    /// Identifies a timer until it ends or is cancelled.
    package struct TimerToken: Hashable, Sendable {
        fileprivate let token: TimerHeap<LoopCore.TimerAction>.Token
    }

    /// Sets a timer that calls `target` with `tag`; no allocation.
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

    /// Lends the loop's one read buffer, so that an idle connection owns none. It must be returned before the callback that
    /// borrowed it returns; a second borrower in the meantime gets a new buffer.
    package func borrowReadBuffer() -> [UInt8] {
        Self.lend(&core.value.readBuffer, Self.readBufferSize)
    }

    /// Returns the read buffer.
    package func giveBack(readBuffer: consuming [UInt8]) { core.value.readBuffer = readBuffer }

    /// Lends a buffer for bytes that are read to be written to a file, under the rules of the read buffer.
    func borrowFileBuffer() -> [UInt8] {
        Self.lend(&core.value.fileBuffer, Self.fileBufferSize)
    }

    /// Returns the file buffer.
    func giveBack(fileBuffer: consuming [UInt8]) { core.value.fileBuffer = fileBuffer }

    /// Lends a buffer for one TLS record, under the rules of the read buffer.
    package func borrowRecordBuffer() -> [UInt8] {
        Self.lend(&core.value.recordBuffer, Self.recordBufferSize)
    }

    /// Returns the record buffer.
    package func giveBack(recordBuffer: consuming [UInt8]) { core.value.recordBuffer = recordBuffer }

    private static func lend(_ buffer: inout [UInt8], _ size: Int) -> [UInt8] {
        if buffer.isEmpty { return [UInt8](repeating: 0, count: size) }
        var lent: [UInt8] = []
        swap(&lent, &buffer)
        return lent
    }

    /// The maximum plaintext of one record (RFC 8446 §5.1).
    package static let recordBufferSize = 16 * 1024

    /// The usual size of a socket's buffer: a larger one saves few calls, a smaller one costs some.
    package static let readBufferSize = 64 * 1024

    /// Large enough that a write call costs little in comparison to its bytes, small enough that these are still in the
    /// processor's cache.
    static let fileBufferSize = 256 * 1024

    // MARK: The end

    /// Starts the shutdown and returns at once. Any thread may call, any number of times.
    package func beginShutdown() { inbox.wake(closing: true) }

    /// Ends the loop and returns when its thread is gone.
    package func shutdown() async {
        beginShutdown()
        await withCheckedContinuation { continuation in
            let ended = end.withLock { end -> Bool in
                switch end {
                case .running(let waiting):
                    end = .running(waiting + [{ continuation.resume() }])
                    return false
                case .ended:
                    return true
                }
            }
            if ended { continuation.resume() }
        }
        // The thread only has to return, so this hardly blocks.
        join()
        if ownsCallouts { await callouts.shutdown() }
    }

    /// Ends the loop and blocks until its thread is gone. Not to be called on a loop.
    package func shutdownAndWait() {
        precondition(!isOnLoop, "a loop cannot wait for its own end")
        beginShutdown()
        join()
        if ownsCallouts { callouts.shutdownAndWait() }
    }

    private func join() {
        thread.withLock { handle in
            if let running = handle { NativeThread.join(running) }
            handle = nil
        }
    }
}
