// SPDX-License-Identifier: MIT

internal import Synchronization

/// One thread that waits for descriptors, timers and submitted work, and runs what they ask for; jobs of Swift tasks too, see
/// `EventLoop+TaskExecutor`.
///
/// A connection lives on one loop for life and is touched by nothing else. From any thread: `execute`,
/// `executeInline`, `isOnLoop` and the shutdown. Everything else belongs to the loop's own thread and stops
/// the program elsewhere. Nothing that runs here may wait: a loop that sleeps in one callback delays every
/// connection it has.
///
/// The end of a loop is definite. Work that `execute` accepted runs, perhaps during the shutdown; after it
/// `execute` refuses. Every channel hears `loopWillClose`, every timer `loopClosing`.
package final class EventLoop: Sendable {
    let identity: LoopIdentity
    /// What its thread is called.
    let name: String
    /// Its place among the loops of its group; 0 without one.
    let number: Int
    /// Where code of the program's is called that may block: the group's.
    let callouts: CalloutThreads
    /// Whether they are the loop's own, which has no group.
    private let ownsCallouts: Bool
    private let inbox: LoopInbox
    private let core: LoopBound<LoopCore>
    private let end = Lock<End>(.running([]))
    /// Held while joining, so that everybody who waits for the end waits for the thread too.
    private let thread = Lock<NativeThread.Handle?>(nil)
    private let registrations = Atomic<Int>(0)
    private let activity: LoopActivity

    private enum End: Sendable {
        case running([@Sendable () -> Void])
        case ended
    }

    /// Starts a loop of no group on a thread called `name`.
    package static func start(
        name: String, clock: any TransportClock = MonotonicClock()
    ) throws(Errno) -> EventLoop {
        try start(name: name, clock: clock, callouts: nil)
    }

    /// Starts a loop of a group that has these threads for the program's code.
    ///
    /// - Parameters:
    ///   - number: Its place in the group.
    ///   - diagnose: Told, in debug builds, of the first job that held the loop up.
    static func start(
        name: String, number: Int = 0, clock: any TransportClock, callouts: CalloutThreads?,
        diagnose: @escaping @Sendable (LongJob) -> Void = { Syscalls.tellStandardError($0.warning) }
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

    /// The loop that the calling thread runs; nil elsewhere.
    package static var current: EventLoop? { NativeThread.loop as? EventLoop }

    /// The loop whose job the calling thread runs: there the program's own code runs on a loop, because it asked for that. Nil
    /// elsewhere, and where a loop works for its connections.
    package static var ofRunningJob: EventLoop? {
        guard let loop = current, loop.core.value.isRunningJob else { return nil }
        return loop
    }

    /// Whether the caller is on this loop's thread.
    package var isOnLoop: Bool {
        @inline(__always) get { identity.isCurrent }
    }

    /// Stops the program when the caller is not on this loop's thread.
    @inline(__always)
    package func preconditionOnLoop() { identity.preconditionCurrent() }

    /// Submits work, from any thread, in order of submission. False: the loop is gone and `work` will never
    /// run.
    package func execute(_ work: @escaping @Sendable () -> Void) -> Bool {
        inbox.submit(work, fromLoop: isOnLoop)
    }

    /// Runs `work` at once when already on the loop, and submits it otherwise.
    package func executeInline(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard isOnLoop else { return inbox.submit(work) }
        core.value.runOutsideJobs(work)
        return true
    }

    /// Submits a job of a Swift task. False: the loop ends, and somebody else has to run it.
    func submit(_ job: UnownedJob) -> Bool { inbox.submit(job) }

    /// Makes the loop look at its clock again: for clocks that are moved by hand.
    package func wake() { inbox.wake(closing: false) }

    /// Channels on this loop, for choosing among loops.
    package var load: Int { registrations.load(ordering: .relaxed) }

    /// Whether it works for more than half of its time, for the same choice.
    func isBusy(at now: Instant) -> Bool { activity.isBusy(at: now) }

    // MARK: On the loop

    /// The moment at which this turn of the loop began, or the job that runs.
    package var now: Instant { core.value.now }

    /// Whether this turn has gone on for 5 ms and more: what can wait for the next one should, since others do.
    package var isLate: Bool { core.value.isLate }

    /// Takes a job that was enqueued on this thread. False: the loop ends, and somebody else has to run it.
    func keep(_ job: UnownedJob) -> Bool { core.value.keep(job) }

    /// Runs `work` at the end of this turn, after what the present event still calls.
    package func executeOnLoop(_ work: @escaping () -> Void) { core.value.deferWork(work) }

    /// Tells `listener` when this turn ends: what is done for many things at once, or wakes threads, which wake once then and find all
    /// that the turn brought, rather than one thing each. Who asks while others are told that the turn ends is told after them.
    package func atTurnEnd(_ listener: any TurnEndListener) { core.value.listeners.append(listener) }

    /// Watches a non-blocking descriptor for `channel`, which is kept until it is deregistered.
    package func register(
        _ descriptor: borrowing Descriptor, _ channel: any LoopChannel
    ) throws(Errno) -> Registration {
        let registration = try core.value.register(descriptor.rawValue, channel)
        registrations.add(1, ordering: .relaxed)
        return registration
    }

    /// Ends a registration: no call comes after this returns, not even for events already fetched.
    ///
    /// `closing` says that the descriptor is closed next, which makes the kernel forget it without a call
    /// of ours.
    package func deregister(_ registration: Registration, closing: Bool = true) {
        if core.value.deregister(registration, closing: closing) {
            registrations.subtract(1, ordering: .relaxed)
        }
    }

    /// Gives a registration another channel, without a word to the kernel: readiness told to the old channel is not
    /// told again.
    package func hand(_ registration: Registration, to channel: any LoopChannel) {
        core.value.replaceChannel(of: registration, with: channel)
    }

    /// Names a timer until it ends or is cancelled.
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

    /// Takes a timer back; false when it has ended or was cancelled before.
    @discardableResult
    package func cancel(_ timer: TimerToken) -> Bool {
        core.value.timers.remove(timer.token) != nil
    }

    /// Timers that are set and have not ended.
    package var timerCount: Int { core.value.timers.count }

    /// Lends the loop's one read buffer, so that a connection owns none while nothing comes. It is to be given back
    /// before the callback that borrowed it returns; who borrows it in the meantime gets another one.
    package func borrowReadBuffer() -> [UInt8] {
        Self.lend(&core.value.readBuffer, Self.readBufferSize)
    }

    /// Takes the read buffer back.
    package func giveBack(readBuffer: consuming [UInt8]) { core.value.readBuffer = readBuffer }

    /// Lends room for what is read on its way into a file, under the rules of the read buffer.
    func borrowFileBuffer() -> [UInt8] {
        Self.lend(&core.value.fileBuffer, Self.fileBufferSize)
    }

    /// Takes it back.
    func giveBack(fileBuffer: consuming [UInt8]) { core.value.fileBuffer = fileBuffer }

    /// Lends room for one TLS record, under the rules of the read buffer.
    package func borrowRecordBuffer() -> [UInt8] {
        Self.lend(&core.value.recordBuffer, Self.recordBufferSize)
    }

    /// Takes it back.
    package func giveBack(recordBuffer: consuming [UInt8]) { core.value.recordBuffer = recordBuffer }

    private static func lend(_ room: inout [UInt8], _ size: Int) -> [UInt8] {
        if room.isEmpty { return [UInt8](repeating: 0, count: size) }
        var lent: [UInt8] = []
        swap(&lent, &room)
        return lent
    }

    /// The most plaintext that one record carries (RFC 8446 §5.1).
    package static let recordBufferSize = 16 * 1024

    /// As much as a socket's buffer mostly holds: a larger one saves few calls, a smaller one costs some.
    package static let readBufferSize = 64 * 1024

    /// Enough that a write costs little beside the bytes, and little enough that they are still in the processor's cache.
    static let fileBufferSize = 256 * 1024

    // MARK: The end

    /// Asks the loop to end; returns at once. Any thread, any number of times.
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
        // The thread has nothing left but to return.
        join()
        if ownsCallouts { await callouts.shutdown() }
    }

    /// Ends the loop and waits, blocking, until its thread is gone. Not on a loop.
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
