// SPDX-License-Identifier: MIT

/// Connects to one of several addresses, as `HappyEyeballsMachine` decides. Confined to one loop.
///
/// The race calls `report` once, unless `close` is called first.
final class ConnectRace {
    /// The result of a race.
    enum Outcome {
        /// This attempt has connected first. The race has closed all others.
        case connected(ConnectAttempt)
        /// None of the addresses could be connected to.
        case unreachable([ConnectFailure])
        /// The race was given up, because the process has no more descriptors or the loop is shutting down.
        case failed(TransportError)
    }

    private typealias Machine = HappyEyeballsMachine<SocketAddress, Errno>

    private var machine: Machine
    /// The local address or interface of each attempt.
    private let binding: String?
    /// Whether the client sends before the peer does.
    private let clientSpeaksFirst: Bool
    private let loop: EventLoop
    /// Indexed by attempt number; nil if an attempt could not start or has been closed.
    private var attempts: [ConnectAttempt?] = []
    /// Starts the next attempt when it fires.
    private var attemptDelayTimer: EventLoop.TimerToken?
    /// Called with the outcome. Set to nil once it has been called, and by `close`.
    private var report: ((Outcome) -> Void)?

    /// Creates a race among `addresses`. `binding` is the local address or interface of each attempt.
    init(
        to addresses: [SocketAddress], binding: String?, configuration: DialConfiguration,
        on loop: EventLoop, report: @escaping (Outcome) -> Void
    ) {
        machine = Machine(
            addresses: addresses.map { (family: $0.isIPv6 ? .ipv6 : .ipv4, address: $0) },
            first: configuration.firstFamily, attemptDelay: configuration.attemptDelay)
        self.binding = binding
        // `keepsFirstOriginBytes` is true exactly if the origin may send before the client does.
        clientSpeaksFirst = !configuration.keepsFirstOriginBytes
        self.loop = loop
        self.report = report
    }

    /// Starts the first attempt.
    func start() { advance(.start) }

    /// Ends the race without a report, and closes its attempts.
    func close() {
        report = nil
        if let timer = attemptDelayTimer { loop.cancel(timer) }
        attemptDelayTimer = nil
        for attempt in attempts { attempt?.close() }
    }

    /// Passes an event to the machine, and performs its actions.
    private func advance(_ event: Machine.Event) {
        guard report != nil else { return }
        for action in machine.handle(event, at: loop.now) { perform(action) }
    }

    /// Performs one action of the machine.
    private func perform(_ action: Machine.Action) {
        // An action before this one may have ended the race.
        guard report != nil else { return }
        switch action {
        case .connect(let id, let address): connect(id, to: address)
        case .setTimer(let instant):
            if let timer = attemptDelayTimer { loop.cancel(timer) }
            // The tag is of no use: the race has only one timer.
            attemptDelayTimer = loop.schedule(at: instant, self, tag: 0)
        case .cancelTimer:
            if let timer = attemptDelayTimer { loop.cancel(timer) }
            attemptDelayTimer = nil
        case .close(let id):
            guard let attempt = attempt(id) else { return }
            attempts[id.rawValue] = nil
            attempt.close()
        case .won(let id, _):
            // The winner is never nil: it has just reported its connection.
            guard let winner = attempt(id) else { return end(.failed(.shutDown)) }
            end(.connected(winner))
        case .failed(let failures):
            end(.unreachable(failures.map { ConnectFailure(address: $0.address, error: $0.cause) }))
        }
    }

    /// Returns an attempt; nil if it could not start or has been closed.
    private func attempt(_ id: Machine.AttemptID) -> ConnectAttempt? {
        attempts.indices.contains(id.rawValue) ? attempts[id.rawValue] : nil
    }

    /// Starts an attempt.
    private func connect(_ id: Machine.AttemptID, to address: SocketAddress) {
        do throws(Errno) {
            let attempt = try ConnectAttempt(
                address, binding: binding, clientSpeaksFirst: clientSpeaksFirst, on: loop
            ) { error in
                // The error is nil if the attempt has connected.
                self.advance(error.map { .failed(id, $0) } ?? .connected(id))
            }
            attempts.append(attempt)
        } catch {
            // The entry keeps the index of the next attempt equal to its number.
            attempts.append(nil)
            // Without a descriptor, connecting to any other address would fail as well.
            if case .outOfDescriptors = TransportError(connecting: address, error) {
                return end(.failed(.outOfDescriptors(error)))
            }
            // Deferred, so that the machine receives no event while the race performs the actions of another.
            loop.executeOnLoop { self.advance(.failed(id, error)) }
        }
    }

    /// Reports the outcome, once.
    private func end(_ outcome: Outcome) {
        report.take()?(outcome)
    }
}

extension ConnectRace: TimerTarget {
    /// Called when the attempt delay has passed or the loop is shutting down. Ignores `tag`, which is always 0.
    func timerEnded(tag: Int, reason: TimerReason) {
        attemptDelayTimer = nil
        if reason == .due { advance(.timer) }
    }
}
