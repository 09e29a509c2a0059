// SPDX-License-Identifier: MIT

/// The state that only the thread that runs the loop may use: the registrations, the timers, the poller and the jobs of Swift
/// tasks. The method `turn(of:)` handles them.
///
/// `EventLoop` owns the core inside a `LoopBound` and is its only caller. Epoll returns the index of a slot with each event, so
/// that an event needs neither a dictionary nor an allocation.
final class LoopCore {
    /// What happens when a timer ends.
    enum TimerAction {
        case target(any TimerTarget, tag: Int)
        case body((TimerReason) -> Void)

        /// Calls the target or the closure.
        func end(_ reason: TimerReason) {
            switch self {
            case .target(let target, let tag): target.timerEnded(tag: tag, reason: reason)
            case .body(let body): body(reason)
            }
        }
    }

    /// Set to nil when the loop closes. The poller's descriptors are then closed at once, and not when the loop is released.
    private var poller: Poller?
    private let inbox: LoopInbox
    private let access: LoopAccess
    private let clock: any TransportClock
    private let activity: LoopActivity
    private var slab = RegistrationSlab()
    /// The work of the inbox that this turn runs.
    private var batch: [LoopInbox.Work] = []
    /// The work that `deferWork(_:)` has added for the end of the turn.
    private var deferredWork: [() -> Void] = []
    /// Jobs of Swift tasks for this loop.
    private var jobs = JobQueue()
    /// Whether the loop is running a job. A job is code of the program.
    private(set) var isRunningJob = false
    /// Whether the loop is shutting down. Jobs then run on Swift's global executor.
    private var isClosing = false
    #if DEBUG
        /// Called with the first job that ran for too long; nil afterwards.
        private var diagnose: ((LongJob) -> Void)?
    #endif

    /// The listeners to call at the end of this turn.
    var listeners: [any TurnEndListener] = []
    var timers = TimerHeap<TimerAction>()
    /// The time at which the loop's thread wakes, if nothing happens before.
    private var sleepsUntil = Instant.distantFuture
    /// The buffer for one read, shared by all channels of the loop; empty while it is lent.
    var readBuffer: [UInt8] = []
    /// The buffer for bytes that are written to a file; empty while it is lent, and until it is first needed.
    var fileBuffer: [UInt8] = []
    /// The buffer in which a TLS record is assembled; empty while it is lent.
    var recordBuffer: [UInt8] = []
    /// Objects that connections have used and the next connection may use again.
    var spares: [AnyObject] = []
    /// The time at which this turn, or the running job, began.
    private(set) var now: Instant
    /// Whether the turn or job has lasted for `longTurn`.
    var isLate: Bool { clock.now() >= now + Self.longTurn }
    private static let longTurn = Interval.milliseconds(5)
    /// The number of registered channels.
    var registrationCount: Int { slab.count }

    init(
        wakeUp: WakeUp, inbox: LoopInbox, access: LoopAccess, activity: LoopActivity,
        clock: any TransportClock,
        diagnose: @escaping (LongJob) -> Void
    ) throws(Errno) {
        #if DEBUG
            self.diagnose = diagnose
        #endif
        poller = try Poller.listening(to: wakeUp)
        self.inbox = inbox
        self.access = access
        self.activity = activity
        self.clock = clock
        now = clock.now()
    }

    // MARK: Registrations

    /// Registers a channel; throws `canceled` if the loop has closed.
    func register(_ descriptor: Int32, _ channel: any LoopChannel) throws(Errno) -> Registration {
        guard let poller else { throw .canceled }
        let registration = slab.add(descriptor, channel)
        do {
            try poller.add(descriptor, token: registration.token)
        } catch {
            _ = slab.remove(registration)
            throw error
        }
        return registration
    }

    /// Ends a registration; returns false if it had ended before.
    func deregister(_ registration: Registration, closing: Bool) -> Bool {
        guard let (descriptor, channel) = slab.remove(registration) else { return false }
        // The error is ignored: the call fails only for a descriptor that the kernel has already forgotten.
        if !closing { try? poller?.remove(descriptor) }
        // The channel is released here, when the slab is consistent again: this may be the last reference, and its `deinit` may
        // use the loop.
        withExtendedLifetime(channel) {}
        return true
    }

    /// Gives a registration another channel; traps if the registration has ended.
    func replaceChannel(of registration: Registration, with channel: any LoopChannel) {
        let isReplaced = slab.replaceChannel(of: registration, with: channel)
        precondition(isReplaced, "a registration that has ended")
    }

    /// Adds work that runs at the end of this turn.
    func deferWork(_ work: @escaping () -> Void) { deferredWork.append(work) }

    // MARK: The turn

    /// Waits once and handles all events, work and timers; returns false when the loop has closed.
    ///
    /// - Parameter loop: The loop, as the executor of jobs.
    func turn(of loop: EventLoop) -> Bool {
        guard let poller else { return false }
        let eventCount = wait(with: poller)
        now = clock.now()
        activity.didWait(at: now)
        for index in 0..<eventCount {
            // Nil for the wake-up, which only ends the wait.
            guard let (token, readiness) = poller.event(at: index) else { continue }
            slab.channel(for: Registration(token: token))?.channelReady(readiness)
        }
        let phase = runInbox()
        // `newest` is the number of the timer that was set last: timers that the callbacks below set wait for the next turn.
        let newest = timers.newest
        while let action = timers.popDue(at: now, upTo: newest) { action.end(.due) }
        runDeferredWork()
        notifyListeners()
        switch phase {
        case .open:
            runJobs(on: loop)
            return true
        case .closing:
            handOverJobs()
            return !close()
        }
    }

    /// Waits for events, and returns their number. While the loop sleeps, another thread may borrow it.
    private func wait(with poller: Poller) -> Int {
        let waitStart = clock.now()
        activity.willWait(at: waitStart)
        let timeout = timeout(at: waitStart)
        let maySleep = timeout != 0
        if maySleep { access.willSleep() }
        defer { if maySleep { access.didSleep() } }
        do {
            return try poller.wait(timeout: timeout)
        } catch {
            // Epoll rejects only invalid arguments, which would be a bug of Lupine; a loop that cannot wait cannot continue.
            preconditionFailure("epoll_wait failed: \(error)")
        }
    }

    /// Runs work of a thread that has borrowed the loop, and calls the listeners that the work has added. If the work has left
    /// more to do, wakes the loop's thread, which does it.
    func runBorrowed(_ work: () -> Void) {
        now = clock.now()
        work()
        notifyListeners()
        // The work may have set a timer for which the loop's thread would wake too late.
        let hasEarlierTimer = timers.next.map { $0 < sleepsUntil } ?? false
        inbox.endBorrowing(mustWake: hasEarlierTimer || hasPendingWork)
    }

    /// Whether the loop has work of its own, so that it must not wait.
    private var hasPendingWork: Bool { !deferredWork.isEmpty || !listeners.isEmpty || !jobs.isEmpty }

    /// Returns how long epoll may wait, in milliseconds: 0 if there is work to do, -1 for no limit. It also prepares the wait: it
    /// stores when the loop's thread will wake, and has the inbox wake the thread for new work (`fallAsleep`).
    private func timeout(at waitStart: Instant) -> Int32 {
        sleepsUntil = timers.next ?? .distantFuture
        // `fallAsleep` returns false if the inbox has work.
        guard !hasPendingWork, inbox.fallAsleep() else { return 0 }
        guard let next = timers.next, next != .distantFuture else { return -1 }
        let (remaining, overflow) = next.nanoseconds.subtractingReportingOverflow(waitStart.nanoseconds)
        if overflow { return Int32.max }
        if remaining <= 0 { return 0 }
        // Rounds up to whole milliseconds: a loop that wakes before the deadline would wait again and again for no time.
        return Int32(clamping: (remaining - 1) / 1_000_000 + 1)
    }

    /// Runs the submitted work, and returns the phase of the loop.
    private func runInbox() -> LoopInbox.Phase {
        let phase = inbox.drain(into: &batch, &jobs)
        guard !batch.isEmpty else { return phase }
        for work in batch { work.run() }
        // The memory of an unusually large batch is freed.
        if batch.count > 4096 { batch = [] } else { batch.removeAll(keepingCapacity: true) }
        return phase
    }

    /// Runs the deferred work. Work that is deferred meanwhile runs in the next turn, after its events.
    private func runDeferredWork() {
        guard !deferredWork.isEmpty else { return }
        var closures: [() -> Void] = []
        swap(&closures, &deferredWork)
        for closure in closures { closure() }
        closures.removeAll(keepingCapacity: true)
        // Gives the memory back, unless the closures or their release have deferred more work.
        if deferredWork.isEmpty { swap(&closures, &deferredWork) }
    }

    /// Calls the listeners that have been added. Listeners that are added meanwhile are called at the next call of this method.
    private func notifyListeners() {
        guard !listeners.isEmpty else { return }
        var notified: [any TurnEndListener] = []
        swap(&notified, &listeners)
        for listener in notified { listener.turnEnded() }
        notified.removeAll(keepingCapacity: true)
        // Gives the memory back, unless the listeners or their release have added new ones.
        if listeners.isEmpty { swap(&notified, &listeners) }
    }

    // MARK: Jobs

    /// Enqueues a job. Returns false if the loop is closing; the caller must then run the job elsewhere.
    func enqueue(_ job: UnownedJob) -> Bool {
        if isClosing { return false }
        jobs.append(job)
        return true
    }

    /// Runs the jobs that are waiting: at least one, and for at most 5 ms. Jobs that they enqueue wait for the next turn.
    private func runJobs(on loop: EventLoop) {
        var remaining = jobs.count
        guard remaining > 0 else { return }
        now = clock.now()
        let end = now + Self.longTurn
        while remaining > 0, now < end, let job = jobs.popFirst() {
            run(job, on: loop)
            remaining -= 1
        }
        // The jobs may have added listeners.
        notifyListeners()
    }

    /// Runs one job. In debug builds, reports the first job that runs for too long.
    private func run(_ job: UnownedJob, on loop: EventLoop) {
        #if DEBUG
            // The description is read first: after the run, the job may have been destroyed.
            let name = diagnose == nil ? "" : job.description
            let start = now
        #endif
        isRunningJob = true
        unsafe job.runSynchronously(on: loop.asUnownedTaskExecutor())
        isRunningJob = false
        now = clock.now()
        #if DEBUG
            if let diagnose, let long = LongJob(name, on: loop.name, for: now - start) {
                self.diagnose = nil
                diagnose(long)
            }
        #endif
    }

    /// Runs work of the library that a job has caused. `isRunningJob` is false meanwhile, because this is not code of the
    /// program.
    func runOutsideJobs(_ work: () -> Void) {
        guard isRunningJob else { return work() }
        isRunningJob = false
        work()
        isRunningJob = true
    }

    /// Passes the waiting jobs to Swift's global executor, because the loop is ending. Jobs that are enqueued later go there too.
    private func handOverJobs() {
        isClosing = true
        while let job = jobs.popFirst() { EventLoop.runOnGlobalExecutor(job) }
    }

    // MARK: Shutdown

    /// Notifies all channels and timers, and closes the loop. Returns false, without closing, if they have added work, which
    /// another turn must run first.
    private func close() -> Bool {
        for registration in slab.all {
            slab.channel(for: registration)?.loopWillClose()
            // Releases a channel that has not ended its registration: it will never be called again. For a channel that has ended
            // it, the call does nothing and returns false.
            _ = deregister(registration, closing: true)
        }
        // At `distantFuture`, every timer counts as due.
        while let action = timers.popDue(at: .distantFuture) { action.end(.loopClosing) }
        let hasEnded =
            deferredWork.isEmpty && listeners.isEmpty && registrationCount == 0 && timers.count == 0
        guard hasEnded else { return false }
        // `close` returns false if other threads have submitted work meanwhile.
        guard inbox.close() else { return false }
        poller = nil
        return true
    }
}
