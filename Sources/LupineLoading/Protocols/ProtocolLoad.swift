// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Loads a request with an instance of the program's `URLProtocol`.
///
/// The instance is created, started and stopped on the serial queue of its task; it calls its client, a `ProtocolClientProxy`, from any
/// thread. It cannot be paused: its calls are queued while the client has paused.
final class ProtocolLoad: HopLoad {
    private struct State: Sendable {
        /// The instance, from its start to its stop; used on the task's serial queue only.
        var instance: UncheckedSendable<URLProtocol>?
        var wasStarted = false
        var isOver = false
        /// The open challenges of the instance; while there are any, the idle time-out does not count.
        var questions: Set<ObjectIdentifier> = []
        var lastSign = Instant.zero
        var alarm: SessionClock.Cancel?
    }

    private let type: URLProtocol.Type
    private let request: URLRequest
    private let task: URLSessionTask
    private let sessionValue: (any Sendable)?
    private let idleTimeout: Interval?
    private let clock: SessionClock
    private let outlet: HopEventQueue
    private let state = Lock(State())

    /// Creates a load of `canonical` by an instance of `type`, which can read `sessionValue`.
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
        outlet = HopEventQueue(canonical, client: client)
    }

    private var context: ProtocolContext { task.core.protocols }

    // MARK: the client's half

    func start() {
        let source = HopEventQueue.Source(ended: { [self] in stop() })
        outlet.open(for: self, source)
        if outlet.isClosed { return }
        state.withLock { $0.lastSign = clock.now() }
        setAlarm()
        context.run { [self] in
            let isWanted = state.withLock { state in
                if state.isOver { return false }
                state.wasStarted = true
                return true
            }
            guard isWanted else { return }
            assertNoLockIsHeld()
            assertNotOnLoop()
            let voice = ProtocolClientProxy(self)
            let made = type.init(task: task, cachedResponse: nil, client: voice)
            made.settle(request, task, sessionValue)
            state.withLock { $0.instance = UncheckedSendable(made) }
            made.startLoading()
        }
    }

    func cancel(_ error: URLError) {
        outlet.finish(error)
        // No effect if the outlet is open already; otherwise the client receives the end now.
        outlet.open(for: self)
    }

    func resumeReading() {
        state.withLock { $0.lastSign = clock.now() }
        outlet.resumeReading()
    }

    func skip() { outlet.finish(nil) }

    func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.lastSign = clock.now() }
        outlet.setSuspended(isSuspended)
    }

    func setPriority(_ priority: Float) {}

    /// Ends the load: stops the instance, once, if it was started.
    private func stop() {
        let alarm = state.withLock { state in
            state.isOver = true
            return state.alarm.take()
        }
        alarm?()
        context.run { [self] in
            let (wasStarted, instance) = state.withLock { state in
                (state.wasStarted, state.instance.take())
            }
            assertNoLockIsHeld()
            assertNotOnLoop()
            if wasStarted { instance?.value.stopLoading() }
        }
    }

    // MARK: the protocol's half

    /// Adds an item of the instance; called on any thread.
    func say(_ item: HopEventQueue.Item) {
        state.withLock { $0.lastSign = clock.now() }
        outlet.say(item)
    }

    /// Asks the client a challenge of the instance; the answer goes to the challenge's sender.
    func ask(_ challenge: URLAuthenticationChallenge) {
        state.withLock { _ = $0.questions.insert(ObjectIdentifier(challenge)) }
        say(
            .challenge(challenge) { [self] disposition, credential in
                guard withdraw(challenge) else { return }
                context.run { Self.answer(challenge, disposition, credential) }
            })
    }

    /// Removes an open challenge, because it was cancelled or answered. Returns whether it was still open.
    @discardableResult
    func withdraw(_ challenge: URLAuthenticationChallenge) -> Bool {
        state.withLock { state in
            state.lastSign = clock.now()
            return state.questions.remove(ObjectIdentifier(challenge)) != nil && !state.isOver
        }
    }

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

    private func setAlarm() {
        guard let idleTimeout else { return }
        let last = state.withLock { $0.lastSign }
        let alarm = clock.alarm(last + idleTimeout) { [weak self] in self?.ring(idleTimeout) }
        let isLate = state.withLock { state in
            if !state.isOver { state.alarm = alarm }
            return state.isOver
        }
        if isLate { alarm() }
    }

    private func ring(_ idleTimeout: Interval) {
        let now = clock.now()
        let isExpected = outlet.isWaitingForSource
        let isDue = state.withLock { state in
            if state.isOver { return false }
            // Time spent waiting for anything but the instance does not count.
            if !isExpected || !state.questions.isEmpty { state.lastSign = now }
            return state.lastSign + idleTimeout <= now
        }
        if isDue {
            outlet.finish(
                .loading(.timedOut, url: request.url, reason: "the protocol said nothing in time"))
        } else {
            setAlarm()
        }
    }
}
