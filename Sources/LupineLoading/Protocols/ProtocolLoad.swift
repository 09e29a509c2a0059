// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Loads a request with an instance of the program's `URLProtocol`.
///
/// The instance is created, started and stopped on the serial queue of its task; it calls its client, a `ProtocolClientProxy`, on
/// any thread. The load cannot pause the instance, so it queues the events of the instance while the client of the load has
/// paused.
final class ProtocolLoad: HopLoad {
    private struct State: Sendable {
        /// The instance, from its start to its stop; used on the task's serial queue only.
        var instance: UncheckedSendable<URLProtocol>?
        /// Whether the job that starts the instance has run.
        var wasStarted = false
        var hasEnded = false
        /// The challenges of the instance that are not answered yet; while there are any, the idle time-out does not run.
        var openChallenges: Set<ObjectIdentifier> = []
        /// The start of the idle time. Set when the load is started, resumed or suspended, when the instance calls its
        /// `ProtocolClientProxy`, and when a challenge is answered. `checkIdleTime` also sets it while the load waits for its
        /// `HopLoadClient`, or the instance for the answer to a challenge.
        var lastActivity = Instant.zero
        /// Cancels the alarm for the end of the idle time-out.
        var cancelAlarm: SessionClock.Cancel?
    }

    private let type: URLProtocol.Type
    private let request: URLRequest
    private let task: URLSessionTask
    private let sessionValue: (any Sendable)?
    private let idleTimeout: Interval?
    private let clock: SessionClock
    private let events: HopEventQueue
    private let state = Lock(State())

    /// Creates a load.
    ///
    /// - Parameters:
    ///   - type: The program's class, of which `start` creates an instance.
    ///   - canonical: The request in canonical form.
    ///   - task: The task that the load belongs to.
    ///   - sessionValue: The value that the instance can read as `URLProtocol.sessionValue`.
    ///   - idleTimeout: How long the instance may do nothing before the load fails; nil for no limit.
    ///   - clock: The clock of the time-out.
    ///   - client: The client of the load.
    init(
        _ type: URLProtocol.Type, canonical: URLRequest, task: URLSessionTask,
        sessionValue: (any Sendable)? = nil, idleTimeout: Interval?,
        clock: SessionClock, client: any HopLoadClient
    ) {
        self.type = type
        request = canonical
        self.task = task
        self.sessionValue = sessionValue
        self.idleTimeout = idleTimeout
        self.clock = clock
        events = HopEventQueue(canonical, client: client)
    }

    /// Runs jobs on the serial queue of the task.
    private var context: ProtocolContext { task.core.protocolContext }

    // MARK: called by the task driver

    func start() {
        let source = HopEventQueue.Source(onEnd: { [self] in stop() })
        events.start(for: self, source)
        // True if the load was cancelled before it was started.
        if events.isClosed { return }
        state.withLock { $0.lastActivity = clock.now() }
        setAlarm()
        context.run { [self] in
            let shouldStart = state.withLock { state in
                if state.hasEnded { return false }
                state.wasStarted = true
                return true
            }
            guard shouldStart else { return }
            assertNoLockIsHeld()
            assertNotOnLoop()
            let proxy = ProtocolClientProxy(self)
            // The driver itself looks up the cache, so the instance receives no cached response.
            let instance = type.init(task: task, cachedResponse: nil, client: proxy)
            instance.setSessionValues(request, task, sessionValue)
            state.withLock { $0.instance = UncheckedSendable(instance) }
            instance.startLoading()
        }
    }

    func cancel(_ error: URLError) {
        events.finish(error)
        // Delivers the end if the load was not started; otherwise has no effect.
        events.start(for: self)
    }

    func resumeReading() {
        state.withLock { $0.lastActivity = clock.now() }
        events.resumeReading()
    }

    func skip() { events.finish(nil) }

    func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.lastActivity = clock.now() }
        events.setSuspended(isSuspended)
    }

    /// Does nothing, because a `URLProtocol` has no method for a change of priority.
    func setPriority(_ priority: Float) {}

    /// Cancels the alarm, and calls `stopLoading` of the instance if it was started. The event queue calls this once, when the
    /// load has ended.
    private func stop() {
        let cancelAlarm = state.withLock { state in
            state.hasEnded = true
            return state.cancelAlarm.take()
        }
        cancelAlarm?()
        context.run { [self] in
            let (wasStarted, instance) = state.withLock { state in
                (state.wasStarted, state.instance.take())
            }
            assertNoLockIsHeld()
            assertNotOnLoop()
            if wasStarted { instance?.value.stopLoading() }
        }
    }

    // MARK: called by the instance

    /// Adds an event of the instance. May be called on any thread.
    func enqueue(_ event: HopEventQueue.Event) {
        state.withLock { $0.lastActivity = clock.now() }
        events.enqueue(event)
    }

    /// Adds a challenge of the instance. The answer of the load's client is passed to the challenge's sender.
    func enqueueChallenge(_ challenge: URLAuthenticationChallenge) {
        state.withLock { _ = $0.openChallenges.insert(ObjectIdentifier(challenge)) }
        enqueue(
            .challenge(challenge) { [self] disposition, credential in
                // False if the instance has cancelled the challenge, or the load has ended.
                guard removeOpenChallenge(challenge) else { return }
                context.run { Self.answer(challenge, disposition, credential) }
            })
    }

    /// Removes an open challenge, because it was cancelled or answered. Returns whether it was still open.
    @discardableResult
    func removeOpenChallenge(_ challenge: URLAuthenticationChallenge) -> Bool {
        state.withLock { state in
            state.lastActivity = clock.now()
            return state.openChallenges.remove(ObjectIdentifier(challenge)) != nil && !state.hasEnded
        }
    }

    /// Passes the answer to a challenge to its sender. Runs on the task's serial queue.
    private static func answer(
        _ challenge: URLAuthenticationChallenge, _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?
    ) {
        assertNoLockIsHeld()
        assertNotOnLoop()
        guard let sender = challenge.sender else { return }
        switch (disposition, credential) {
        case (.useCredential, let credential?): sender.use(credential, for: challenge)
        case (.useCredential, nil): sender.continueWithoutCredential(for: challenge)
        case (.performDefaultHandling, _): sender.performDefaultHandling(for: challenge)
        case (.cancelAuthenticationChallenge, _): sender.cancel(challenge)
        case (.rejectProtectionSpace, _): sender.rejectProtectionSpaceAndContinue(with: challenge)
        }
    }

    // MARK: the idle time-out (U-17.7)

    /// Sets the alarm for the end of the idle time-out.
    private func setAlarm() {
        guard let idleTimeout else { return }
        let lastActivity = state.withLock { $0.lastActivity }
        let cancelAlarm = clock.alarm(lastActivity + idleTimeout) { [weak self] in
            self?.checkIdleTime(idleTimeout)
        }
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.cancelAlarm = cancelAlarm }
            return state.hasEnded
        }
        // `stop` may have run before the alarm was stored, so that it could not cancel this alarm.
        if hasEnded { cancelAlarm() }
    }

    /// Fails the load if the instance has been idle for too long; otherwise sets the alarm again.
    private func checkIdleTime(_ idleTimeout: Interval) {
        let now = clock.now()
        let isWaitingForInstance = events.isWaitingForSource
        let hasTimedOut = state.withLock { state in
            if state.hasEnded { return false }
            // Time does not count while the load waits for its `HopLoadClient`, or the instance for the answer to a challenge.
            if !isWaitingForInstance || !state.openChallenges.isEmpty { state.lastActivity = now }
            return state.lastActivity + idleTimeout <= now
        }
        if hasTimedOut {
            events.finish(
                .loading(.timedOut, url: request.url, reason: "the protocol said nothing in time"))
        } else {
            setAlarm()
        }
    }
}
