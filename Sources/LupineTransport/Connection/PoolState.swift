// SPDX-License-Identifier: MIT

/// The state of a `ConnectionPool`, which its lock guards: the machine, and the exchanges and connections that the machine knows
/// by their IDs.
///
/// It passes events to the machine, and updates its tables for the machine's actions. The rest of an action, such as a call to a
/// connection, is an effect: the pool performs it after it has released the lock.
struct PoolState: ~Copyable, Sendable {
    /// A connection, or the dial that opens it. Once the machine has removed a connection, another one may get its index, so
    /// every access to the table compares the whole ID.
    private struct Entry: Sendable {
        let id: ConnectionID
        var phase: Phase
        /// The progress of the dial; nil once the connection is open.
        var progress: DialProgress?
    }

    /// How far a connection has come, and the object that runs it.
    enum Phase: Sendable {
        /// The machine has decided to dial, and the dial has not begun.
        case reserved
        // The loop of the dial or connection, and the object, which is confined to that loop.
        case dialing(EventLoop, LoopBound<Dialer>)
        case open(EventLoop, LoopBound<Carrier>)
    }

    /// The time at which the machine wants to receive `tick`.
    struct Timer: Sendable {
        /// Distinguishes the timer from those that it replaces.
        let number: UInt64
        let at: Instant
    }

    /// Work to do after the lock has been released.
    enum Effect: Sendable {
        /// Runs an exchange on a connection.
        case run(Exchange, EventLoop, LoopBound<Carrier>)
        /// Marks an exchange as waiting in a queue. `submission` is the number of the submission that was queued. `priority` is
        /// the priority that the machine used; nil if the exchange has left the queue since.
        case wait(Exchange, WaiterID, submission: Int, priority: Float?)
        /// Dials on the loop with that number; nil for any loop.
        case dial(ConnectionID, DialProgress, loop: Int?)
        /// Dials again, once the idle connections that the machine closes first have freed their descriptors.
        case redial(ConnectionID, DialProgress, loop: Int?)
        /// Cancels a dial.
        case abandon(EventLoop, LoopBound<Dialer>)
        case close(EventLoop, LoopBound<Carrier>)
        /// Ends an exchange that got no connection.
        case fail(Exchange, TransportError)
        /// Submits a WebSocket exchange to the pool for WebSockets.
        case passToWebSocketPool(Exchange)
        /// Sets the pool's alarm.
        case wake(Timer)
        /// Calls the completion handlers of a shutdown, after the last connection has closed.
        case ended([@Sendable () -> Void])
    }

    /// A list that does not allocate for its first two elements. An event rarely has more than two effects, `wait` and `dial`.
    struct Effects: Sendable {
        var first: Effect?
        var second: Effect?
        var others: [Effect] = []

        mutating func append(_ effect: Effect) {
            if first == nil {
                first = effect
            } else if second == nil {
                second = effect
            } else {
                others.append(effect)
            }
        }
    }

    private(set) var machine: PoolMachine
    /// The exchanges. The index of each is its ID in the machine.
    private var exchanges: [Exchange?] = []
    /// The unused indices of `exchanges`.
    private var freeExchanges: [Int] = []
    /// Connections and dials, at the index of their IDs.
    private var connections: [Entry?] = []
    /// The number of dials and connections whose end has not been reported, including those removed from the table.
    private(set) var liveCount = 0
    /// The connections that may carry requests to other origins.
    var coalescible = CoalescibleConnections()
    /// The buffer for the machine's actions, kept so that events need no allocation.
    private var actions: [PoolAction] = []
    /// The timer that the machine set last.
    private(set) var timer: Timer?
    var isShutDown = false
    /// The completion handlers of a shutdown, to be called when the last connection has closed.
    var completionHandlers: [@Sendable () -> Void] = []
    /// The number of connections that dials have opened since the pool was created.
    var connectionsOpened = 0
    /// The number of the last timer. A timer with another number has been replaced and is ignored.
    private var timerNumber: UInt64 = 0

    /// Creates the state of a pool whose connections speak one of `versions`.
    init(limits: PoolLimits, versions: HTTPVersions) {
        machine = PoolMachine(limits: limits, versions: versions)
    }

    // MARK: Exchanges

    /// Stores an exchange and returns its ID in the machine.
    mutating func store(_ exchange: Exchange) -> ExchangeID {
        if let free = freeExchanges.popLast() {
            exchanges[free] = exchange
            return ExchangeID(rawValue: UInt64(free))
        }
        exchanges.append(exchange)
        return ExchangeID(rawValue: UInt64(exchanges.count - 1))
    }

    /// Removes an exchange from the table and frees its index.
    private mutating func removeExchange(_ id: ExchangeID) -> Exchange? {
        let index = Int(id.rawValue)
        let exchange = exchanges[index]
        exchanges[index] = nil
        freeExchanges.append(index)
        return exchange
    }

    /// Returns the exchange that a dial is tied to.
    func claimant(of connection: ConnectionID) -> Exchange? {
        guard let id = machine.claimant(of: connection) else { return nil }
        return exchanges[Int(id.rawValue)]
    }

    // MARK: Connections

    /// The phases of all connections and dials in the table.
    var phases: [Phase] { connections.compactMap { $0?.phase } }

    /// Returns the entry of a connection; nil if the table does not contain it.
    private func entry(of id: ConnectionID) -> Entry? {
        let index = Int(id.index)
        guard index < connections.count, let entry = connections[index], entry.id == id else { return nil }
        return entry
    }

    /// Adds a dial that has not begun to the table.
    private mutating func reserve(_ id: ConnectionID, _ progress: DialProgress) {
        let index = Int(id.index)
        while connections.count <= index { connections.append(nil) }
        connections[index] = Entry(id: id, phase: .reserved, progress: progress)
        liveCount += 1
    }

    /// Replaces the phase of a connection; returns false if the table no longer contains it.
    mutating func replace(_ id: ConnectionID, with phase: Phase) -> Bool {
        guard entry(of: id) != nil else { return false }
        connections[Int(id.index)]?.phase = phase
        if case .open = phase { connections[Int(id.index)]?.progress = nil }
        return true
    }

    /// Removes a connection from the table; returns nil if it is not there.
    private mutating func remove(_ id: ConnectionID) -> Phase? {
        guard let phase = entry(of: id)?.phase else { return nil }
        connections[Int(id.index)] = nil
        return phase
    }

    /// Records that a connection has closed, or that a dial has ended without a connection.
    mutating func recordEnd(of id: ConnectionID) {
        // The entry may be missing: `abandonDial` and `close` remove it before the connection has closed.
        _ = remove(id)
        liveCount -= 1
    }

    /// Returns the time at which a dial for a waiter last made progress; see `ConnectionPool.dialProgress(for:to:)`.
    func dialProgress(for waiter: WaiterID, to origin: Origin) -> Instant? {
        guard machine.isDialed(for: waiter) else { return nil }
        var latest: Instant?
        for entry in connections {
            guard let progress = entry?.progress, progress.origin == origin else { continue }
            if progress.isAwaitingProgram { return nil }
            latest = max(progress.latest, latest ?? progress.latest)
        }
        return latest
    }

    /// Returns the time at which a dial last made progress; nil while it waits for the program's decision about its peer.
    func dialProgress(of connection: ConnectionID) -> Instant? {
        guard let progress = entry(of: connection)?.progress, !progress.isAwaitingProgram else { return nil }
        return progress.latest
    }

    // MARK: Events

    /// Passes an event to the machine, and appends the effects of the machine's actions to `effects`. `cause` is the error of a
    /// failed dial.
    mutating func handle(
        _ event: PoolEvent, _ cause: TransportError?, at now: Instant, into effects: inout Effects
    ) {
        // The buffer is moved out, so that `effect(of:)` may change `self` during the loop, and moved back for the next event.
        var actions: [PoolAction] = []
        swap(&actions, &self.actions)
        machine.handle(event, at: now, into: &actions)
        for action in actions {
            if let effect = effect(of: action, cause, at: now) { effects.append(effect) }
        }
        if isShutDown, liveCount == 0, !completionHandlers.isEmpty {
            effects.append(.ended(completionHandlers))
            completionHandlers = []
        }
        actions.removeAll(keepingCapacity: true)
        swap(&actions, &self.actions)
    }

    /// Updates the tables for an action of the machine, and returns the work to do without the lock.
    private mutating func effect(
        of action: PoolAction, _ cause: TransportError?, at now: Instant
    ) -> Effect? {
        switch action {
        case .run(let id, let connection, reused: _):
            guard let exchange = removeExchange(id) else { return nil }
            guard case .open(let loop, let bound)? = entry(of: connection)?.phase else {
                preconditionFailure("the machine lends a connection that is gone")
            }
            return .run(exchange, loop, bound)
        case .wait(let id, let waiter):
            guard let exchange = exchanges[Int(id.rawValue)] else { return nil }
            return .wait(
                exchange, waiter, submission: exchange.submissionNumber,
                priority: machine.priority(of: waiter))
        case .dial(let connection, let origin, let loop):
            let progress = DialProgress(to: origin, at: now)
            reserve(connection, progress)
            if case .outOfDescriptors? = cause { return .redial(connection, progress, loop: loop) }
            return .dial(connection, progress, loop: loop)
        case .abandonDial(let connection):
            switch remove(connection) {
            case .dialing(let loop, let dialer)?: return .abandon(loop, dialer)
            // `dialEnded` has stored the connection and has not passed `connected` to the machine yet.
            case .open(let loop, let bound)?: return .close(loop, bound)
            // `ConnectionPool.dial` finds the entry missing, and does not begin the dial.
            case .reserved?, nil: return nil
            }
        case .close(let connection, _):
            guard case .open(let loop, let bound)? = remove(connection) else { return nil }
            return .close(loop, bound)
        case .fail(let id, let failure):
            guard let exchange = removeExchange(id) else { return nil }
            switch failure {
            case .dialFailed, .descriptorsExhausted: return .fail(exchange, cause ?? .cancelled)
            case .cancelled: return .fail(exchange, exchange.cancellation ?? .cancelled)
            case .shutDown: return .fail(exchange, .shutDown)
            case .noneAcceptsWebSockets: return .passToWebSocketPool(exchange)
            }
        case .wake(let at):
            timerNumber += 1
            let timer = Timer(number: timerNumber, at: at)
            self.timer = timer
            return .wake(timer)
        }
    }
}
