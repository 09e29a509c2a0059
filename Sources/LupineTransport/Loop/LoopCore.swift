// SPDX-License-Identifier: MIT

/// What only the loop's thread touches: the slab of registrations, the timers, the poller, jobs of Swift tasks, and the turn
/// that drives them.
///
/// `EventLoop` owns it inside a `LoopBound` and is its only caller. Events go from epoll's token straight
/// to a slot of the slab: no dictionary, no allocation per event.
final class LoopCore {
    enum TimerAction {
        case target(any TimerTarget, tag: Int)
        case body((TimerReason) -> Void)

        func end(_ reason: TimerReason) {
            switch self {
            case .target(let target, let tag): target.timerEnded(tag: tag, reason: reason)
            case .body(let body): body(reason)
            }
        }
    }

    /// Nil once the loop has closed, so that its descriptors end with it and not with the last who holds it.
    private var poller: Poller?
    private let inbox: LoopInbox
    private let clock: any TransportClock
    private let activity: LoopActivity
    private var slab = RegistrationSlab()
    private var batch: [LoopInbox.Work] = []
    private var deferred: [() -> Void] = []
    /// Jobs of Swift tasks that are to run on this loop.
    private var jobs = JobQueue()
    /// Whether the program's code runs, as a job.
    private(set) var isRunningJob = false
    /// Jobs are run elsewhere.
    private var isClosing = false
    #if DEBUG
        /// Told of the first job that ran for too long; then nil.
        private var diagnose: ((LongJob) -> Void)?
    #endif

    /// Who is to be told of the end of this turn.
    var listeners: [any TurnEndListener] = []
    var timers = TimerHeap<TimerAction>()
    /// Room for one read, shared by all channels of the loop; empty while it is lent.
    var readBuffer: [UInt8] = []
    /// Room for what is read to go into a file; empty while it is lent, and until a file is asked for.
    var fileBuffer: [UInt8] = []
    /// Room in which what goes into one TLS record is put together; empty while it is lent.
    var recordBuffer: [UInt8] = []
    /// The moment at which this turn began, or the job that runs.
    private(set) var now: Instant
    /// Whether that was some time ago.
    var isLate: Bool { clock.now() >= now + Self.longTurn }
    private static let longTurn = Interval.milliseconds(5)
    /// Registered channels.
    var registered: Int { slab.count }

    init(
        wakeUp: WakeUp, inbox: LoopInbox, activity: LoopActivity, clock: any TransportClock,
        diagnose: @escaping (LongJob) -> Void
    ) throws(Errno) {
        #if DEBUG
            self.diagnose = diagnose
        #endif
        poller = try Poller.listening(to: wakeUp)
        self.inbox = inbox
        self.activity = activity
        self.clock = clock
        now = clock.now()
    }

    // MARK: Registrations

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

    /// Ends a registration; false when it had ended before.
    func deregister(_ registration: Registration, closing: Bool) -> Bool {
        guard let (descriptor, channel) = slab.remove(registration) else { return false }
        // Refused only for a descriptor that the kernel has forgotten already.
        if !closing { try? poller?.remove(descriptor) }
        // Released here, after the slab is consistent again: it may be the last reference.
        withExtendedLifetime(channel) {}
        return true
    }

    func replaceChannel(of registration: Registration, with channel: any LoopChannel) {
        let isReplaced = slab.replaceChannel(of: registration, with: channel)
        precondition(isReplaced, "a registration that has ended")
    }

    func deferWork(_ work: @escaping () -> Void) { deferred.append(work) }

    // MARK: The turn

    /// Waits once and handles everything that came of it; false when the loop has closed.
    ///
    /// - Parameter loop: Whose turn it is, as an executor.
    func turn(of loop: EventLoop) -> Bool {
        guard let poller else { return false }
        let ready: Int
        let before = clock.now()
        activity.beginsToWait(at: before)
        do {
            ready = try poller.wait(timeout: timeout(at: before))
        } catch {
            // Epoll refuses only a broken set of arguments: a bug of ours, and a loop that cannot wait is
            // none.
            preconditionFailure("epoll_wait failed: \(error)")
        }
        now = clock.now()
        activity.goesOn(at: now)
        for index in 0..<ready {
            guard let (token, readiness) = poller.event(at: index) else { continue }
            slab.channel(for: Registration(token: token))?.channelReady(readiness)
        }
        let phase = runInbox()
        let newest = timers.newest
        while let action = timers.popDue(at: now, upTo: newest) { action.end(.due) }
        runDeferred()
        tellListeners()
        switch phase {
        case .open:
            runJobs(on: loop)
            return true
        case .closing:
            handOverJobs()
            return !close()
        }
    }

    private func timeout(at before: Instant) -> Int32 {
        guard deferred.isEmpty, listeners.isEmpty, jobs.isEmpty, inbox.fallAsleep() else { return 0 }
        guard let next = timers.next, next != .distantFuture else { return -1 }
        let (left, overflow) = next.nanoseconds.subtractingReportingOverflow(before.nanoseconds)
        if overflow { return Int32.max }
        if left <= 0 { return 0 }
        // Rounded up: waking before the deadline would spin.
        return Int32(clamping: (left - 1) / 1_000_000 + 1)
    }

    private func runInbox() -> LoopInbox.Phase {
        let phase = inbox.take(into: &batch, &jobs)
        guard !batch.isEmpty else { return phase }
        for work in batch { work.run() }
        // A rare flood does not keep its room for ever.
        if batch.count > 4096 { batch = [] } else { batch.removeAll(keepingCapacity: true) }
        return phase
    }

    /// Runs what was put off until now; what that puts off comes in the next turn, after new events.
    private func runDeferred() {
        guard !deferred.isEmpty else { return }
        var work: [() -> Void] = []
        swap(&work, &deferred)
        for item in work { item() }
        // What goes with it may put off something.
        work.removeAll(keepingCapacity: true)
        if deferred.isEmpty { swap(&work, &deferred) }
    }

    /// Tells those who asked for it that the turn ends; then those who ask while that goes on, but no others.
    private func tellListeners() {
        tellThoseThatAsked()
        tellThoseThatAsked()
    }

    private func tellThoseThatAsked() {
        guard !listeners.isEmpty else { return }
        var told: [any TurnEndListener] = []
        swap(&told, &listeners)
        for listener in told { listener.turnEnded() }
        // Listeners that go with it may have others listen.
        told.removeAll(keepingCapacity: true)
        if listeners.isEmpty { swap(&told, &listeners) }
    }

    // MARK: Jobs

    /// Takes a job that was enqueued on this thread; false when jobs are run elsewhere.
    func keep(_ job: UnownedJob) -> Bool {
        if isClosing { return false }
        jobs.append(job)
        return true
    }

    /// Runs the jobs that wait now, for 5 ms and one at least. What they enqueue waits for the next turn.
    private func runJobs(on loop: EventLoop) {
        var waiting = jobs.count
        guard waiting > 0 else { return }
        now = clock.now()
        let end = now + Self.longTurn
        while waiting > 0, now < end, let job = jobs.next() {
            run(job, on: loop)
            waiting -= 1
        }
        tellListeners()
    }

    private func run(_ job: UnownedJob, on loop: EventLoop) {
        #if DEBUG
            // It may be gone when it has run.
            let name = diagnose == nil ? "" : job.description
            let began = now
        #endif
        isRunningJob = true
        unsafe job.runSynchronously(on: loop.asUnownedTaskExecutor())
        isRunningJob = false
        now = clock.now()
        #if DEBUG
            if let diagnose, let long = LongJob(name, on: loop.name, for: now - began) {
                self.diagnose = nil
                diagnose(long)
            }
        #endif
    }

    /// Runs work of the library's that a job has led to: it is not the program's.
    func runOutsideJobs(_ work: () -> Void) {
        guard isRunningJob else { return work() }
        isRunningJob = false
        work()
        isRunningJob = true
    }

    /// The loop is ending: jobs run elsewhere from here on, whatever they enqueue.
    private func handOverJobs() {
        isClosing = true
        while let job = jobs.next() { EventLoop.runElsewhere(job) }
    }

    // MARK: The end

    /// Tells everybody, runs what they still submit, and closes; false when there is more to run.
    private func close() -> Bool {
        for registration in slab.all {
            slab.channel(for: registration)?.loopWillClose()
            // A channel that keeps its registration is let go all the same: nothing will ever call it again.
            _ = deregister(registration, closing: true)
        }
        while let action = timers.popDue(at: .distantFuture) { action.end(.loopClosing) }
        guard deferred.isEmpty, listeners.isEmpty, registered == 0, timers.count == 0 else { return false }
        guard inbox.close() else { return false }
        poller = nil
        return true
    }
}
