// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// A model of the pool: it performs the decisions of a `PoolMachine` on plain collections, rejects illegal actions, and checks
/// the machine's invariants after each event.
struct PoolModel: ~Copyable {
    struct Connection {
        var origin: Origin
        var isDialing = true
        /// The exchange that the dial is tied to.
        var claimant: ExchangeID?
        var claimantNeedsFresh = false
        var isRetiring = false
        /// The loop of the connection, once it has been opened.
        var loop: Int?
        var capacity = 1
        /// Whether it can carry several exchanges, however many it is allowed now.
        var isMultiplexed = false
        var exchanges: Set<ExchangeID> = []
        var wasUsed = false
        /// The number of exchanges that have ended on it.
        var finishedCount = 0
        var remaining = Int.max
        var idleUntil: Instant?
        var retiresAt = Instant.distantFuture
        /// Increases each time the connection becomes available.
        var availableSince = 0

        var hasRoom: Bool {
            !isDialing && !isRetiring && exchanges.count < capacity && remaining > 0
        }
    }

    struct Waiter {
        var exchange: ExchangeID
        var origin: Origin
        var needsFresh: Bool
        var place: Int
        var priority: Float
        var replays: Int

        /// Whether it is due before `other`, or is that waiter itself.
        func isDue(noLaterThan other: Waiter) -> Bool {
            if priority != other.priority { return priority > other.priority }
            return replays == other.replays ? place <= other.place : replays > other.replays
        }
    }

    enum Answer: Hashable {
        case ran
        case failed(PoolFailure)
    }

    let limits: PoolLimits
    private let versions: HTTPVersions
    var machine: PoolMachine
    var now = Instant.zero
    private var actions: [PoolAction] = []
    private(set) var connections: [ConnectionID: Connection] = [:]
    private(set) var waiting: [WaiterID: Waiter] = [:]
    private(set) var answers: [ExchangeID: Answer] = [:]
    private(set) var wake: Instant?
    private(set) var submitted: UInt64 = 0
    /// The number of events handled; the invariants were checked after each.
    private(set) var eventsHandled = 0
    private(set) var dialCount = 0
    private(set) var waiterIDs: Set<WaiterID> = []
    private var connectionIDs: Set<ConnectionID> = []
    private var retried: Set<ConnectionID> = []
    /// The loop that the newest waiter of an origin asked for.
    private var requestedLoops: [Origin: Int] = [:]
    /// The number of concurrent exchanges that an origin's peer allowed last; removed with the origin's key.
    private var allowed: [Origin: Int] = [:]
    /// By origin, the number of exchanges that its latest connection processed before the peer refused others.
    private var endurance: [Origin: Int] = [:]
    /// Origins whose exchanges each need a connection, as far as known; not those whose first dial took too long.
    private var unshared: Set<Origin> = []
    /// Origins that chose HTTP/1.1 last.
    private var chosenHTTP11: Set<Origin> = []
    /// The time at which a waiter of an origin began to wait for another waiter's dial.
    private var sharingSince: [Origin: Instant] = [:]
    /// Connections to other origins that also carry an origin's exchanges.
    private var shared: [Origin: ConnectionID] = [:]
    /// The exchange whose dial is replaced by another origin's connection.
    private var movedClaimant: ExchangeID?
    /// The number of exchanges that ran on a connection to another origin.
    private(set) var coalescedRunCount = 0
    /// A connection that had carried nothing when its peer began to allow exchanges.
    private var connectionNewlyAllowed: ConnectionID?
    /// The number of connections that the machine retired without an event that demanded it.
    private(set) var giveWayCount = 0
    /// The number of exchanges that ran on the loop that they had asked for.
    private(set) var runsOnRequestedLoop = 0
    private var order = 0
    private var peakWaiting = 0
    /// The exchange whose dial has just failed.
    private var failedClaimant: ExchangeID?
    private var isShutDown = false

    init(_ limits: PoolLimits, versions: HTTPVersions = .http11) {
        self.limits = limits
        self.versions = versions
        machine = PoolMachine(limits: limits, versions: versions)
    }

    // MARK: Events

    @discardableResult
    mutating func submit(
        _ origin: Origin, needsFresh: Bool = false, priority: Float = Exchange.defaultPriority,
        replays: Int = 0, loop: Int? = nil
    ) -> ExchangeID {
        submitted += 1
        let exchange = ExchangeID(rawValue: submitted)
        handle(
            .submit(
                exchange, to: origin, needsFresh: needsFresh, priority: priority, replays: replays, loop: loop
            ))
        return exchange
    }

    mutating func reprioritise(_ waiter: WaiterID, _ priority: Float) {
        waiting[waiter]?.priority = priority
        handle(.reprioritise(waiter, priority))
    }

    /// Reports that a dial has connected. A `newKey` other than the dial's applies only if an exchange has claimed the dial.
    mutating func connect(
        _ connection: ConnectionID, capacity: Int = 1, newKey: Origin? = nil, loop: Int? = nil
    ) {
        let newKey = connections[connection]?.claimant == nil ? nil : newKey
        connections[connection]?.isDialing = false
        // A dial that was assigned to a loop is made there.
        let loop = connections[connection]?.loop ?? loop
        connections[connection]?.loop = loop
        let isClaimed = connections[connection]?.claimant != nil
        let known = connections[connection].flatMap { expectedCapacity(of: $0.origin) }.map { max(1, $0) }
        connections[connection]?.isMultiplexed = capacity > 1
        connections[connection]?.capacity = capacity > 1 ? min(capacity, known ?? capacity) : capacity
        if let origin = newKey ?? connections[connection]?.origin {
            if capacity > 1 {
                unshared.remove(origin)
                chosenHTTP11.remove(origin)
                sharingSince[origin] = nil
            } else if !isClaimed {
                unshared.insert(origin)
                chosenHTTP11.insert(origin)
            }
        }
        connections[connection]?.retiresAt = limits.maximumAge.map { now + $0 } ?? .distantFuture
        becomeAvailable(connection)
        handle(.connected(connection, capacity: capacity, newKey: newKey, loop: loop))
    }

    mutating func finish(_ exchange: ExchangeID, on connection: ConnectionID, _ reuse: PoolEvent.Reuse) {
        connections[connection]?.exchanges.remove(exchange)
        if reuse != .notReusable, connections[connection]?.isRetiring == false { countEnd(connection) }
        switch reuse {
        case .notReusable:
            connections[connection]?.isRetiring = true
        case .reusable(let hint):
            if let maximum = hint.maximum { connections[connection]?.remaining = maximum }
            if connections[connection]?.remaining == 0 { connections[connection]?.isRetiring = true }
            if connections[connection]?.isRetiring == false { becomeAvailable(connection, hint: hint) }
        }
        handle(.finished(connection, reuse))
    }

    mutating func lose(_ connection: ConnectionID) {
        connections[connection] = nil
        handle(.lost(connection))
    }

    /// Claims the dial for the exchange that it would serve; the machine abandons a dial that would serve none.
    mutating func claim(_ connection: ConnectionID) {
        let queue = waiting.filter { $0.value.origin == connections[connection]?.origin }
        let next =
            queue.filter(\.value.needsFresh).min { $0.value.isDue(noLaterThan: $1.value) }
            ?? queue.min { $0.value.isDue(noLaterThan: $1.value) }
        if let next, connections[connection]?.claimant == nil {
            connections[connection]?.claimant = next.value.exchange
            connections[connection]?.claimantNeedsFresh = next.value.needsFresh
            waiting[next.key] = nil
            if let origin = connections[connection]?.origin { unshared.insert(origin) }
        }
        let claimant = connections[connection]?.claimant
        handle(.claim(connection))
        #expect(machine.claimant(of: connection) == claimant, "not the exchange that it would serve")
        #expect((connections[connection] == nil) == (claimant == nil), "a dial without a claimant continues")
    }

    mutating func cancelClaim(_ connection: ConnectionID) {
        handle(.cancelClaim(connection))
        #expect(connections[connection]?.claimant == nil)
    }

    mutating func failDial(_ connection: ConnectionID) {
        failedClaimant = connections[connection]?.claimant
        if failedClaimant == nil, let origin = connections[connection]?.origin { unshared.insert(origin) }
        connections[connection] = nil
        handle(.dialFailed(connection))
    }

    mutating func exhaustDescriptors(_ connection: ConnectionID) {
        let hadIdle = connections.values.contains { $0.idleUntil != nil }
        failedClaimant = connections[connection]?.claimant
        if !hadIdle || retried.contains(connection) || failedClaimant != nil {
            if failedClaimant == nil, let origin = connections[connection]?.origin { unshared.insert(origin) }
            connections[connection] = nil
        }
        handle(.descriptorsExhausted(connection))
    }

    /// Retires a connection; its peer may have refused some of the exchanges on it.
    mutating func retire(_ connection: ConnectionID, carried: Int? = nil) {
        connections[connection]?.isRetiring = true
        if let carried, let origin = connections[connection]?.origin { endurance[origin] = max(1, carried) }
        handle(.retire(connection, carried: carried))
    }

    /// Counts an exchange that has ended. A connection that has carried more than the previous one is lent as often as its peer
    /// allows.
    private mutating func countEnd(_ id: ConnectionID) {
        guard let connection = connections[id], connection.isMultiplexed else { return }
        connections[id]?.finishedCount += 1
        guard let known = endurance[connection.origin], connection.finishedCount + 1 > known else { return }
        endurance[connection.origin] = nil
        connections[id]?.capacity = allowed[connection.origin] ?? 100
    }

    /// Returns the number of concurrent exchanges that a new connection is expected to carry; nil if unknown.
    private func expectedCapacity(of origin: Origin) -> Int? {
        guard let known = endurance[origin] else { return allowed[origin] }
        return min(known, allowed[origin] ?? known)
    }

    /// Reports the number of concurrent exchanges that the peer allows.
    mutating func changeCapacity(of connection: ConnectionID, to capacity: Int) {
        if let origin = connections[connection]?.origin { allowed[origin] = capacity }
        let room = min(capacity, endurance(of: connection) ?? capacity)
        connections[connection]?.capacity = room
        connectionNewlyAllowed = connections[connection]?.wasUsed == true ? nil : connection
        handle(.capacityChanged(connection, capacity))
        connectionNewlyAllowed = nil
    }

    private func endurance(of id: ConnectionID) -> Int? {
        connections[id].flatMap { endurance[$0.origin] }
    }

    /// Reports that the dial may be replaced by another origin's connection.
    mutating func coalesce(_ dial: ConnectionID, onto id: ConnectionID) {
        guard let dialed = connections[dial] else { return }
        let origin = dialed.origin
        let waiterNeedsFresh = waiting.values.contains { $0.origin == origin && $0.needsFresh }
        let ends =
            versions.contains(.http2) && mayCoalesceNow(id) && connections[id]?.origin != origin
            && !(dialed.claimant == nil ? waiterNeedsFresh : dialed.claimantNeedsFresh)
            && !machine.misdirectedOrigins.contains(origin)
        if ends {
            connections[dial] = nil
            shared[origin] = id
            movedClaimant = dialed.claimant
        }
        handle(.coalesce(dial, onto: id))
        if let claimant = movedClaimant { #expect(answers[claimant] == .ran) }
        movedClaimant = nil
        let isDialing = machine.isDialing(dial)
        #expect(isDialing == !ends)
    }

    mutating func misdirect(_ origin: Origin) {
        shared[origin] = nil
        handle(.misdirected(origin))
    }

    /// Returns whether a connection may be lent to another origin's exchanges now.
    private func mayCoalesceNow(_ id: ConnectionID) -> Bool {
        guard let connection = connections[id], connection.isMultiplexed, connection.hasRoom else {
            return false
        }
        return (connection.idleUntil ?? connection.retiresAt) > now
    }

    mutating func cancel(_ waiter: WaiterID) { handle(.cancel(waiter)) }

    mutating func tick() {
        wake = nil
        handle(.tick)
        for (_, connection) in connections {
            if let until = connection.idleUntil { #expect(until > now, "a sweep left an expired one") }
        }
    }

    mutating func dropIdle() {
        handle(.dropIdle)
        #expect(machine.idleCount == 0)
    }

    mutating func shutDown() {
        isShutDown = true
        for connection in connections.keys { connections[connection]?.isRetiring = true }
        handle(.shutDown)
        #expect(waiting.isEmpty, "an exchange waits after the shutdown")
        #expect(!connections.values.contains { $0.isDialing || $0.exchanges.isEmpty })
    }

    /// Advances the time, with a tick whenever the machine has asked for one.
    mutating func advance(by interval: Interval) {
        let end = now + interval
        while let due = wake, due <= end {
            now = max(now, due)
            tick()
        }
        now = end
    }

    mutating func handle(_ event: PoolEvent) {
        order += 1
        eventsHandled += 1
        actions.removeAll(keepingCapacity: true)
        machine.handle(event, at: now, into: &actions)
        for action in actions { perform(action, of: event) }
        noteRetiredConnections()
        check()
    }

    /// Notes the connections that the machine has retired because of their age or because a waiter needs room.
    private mutating func noteRetiredConnections() {
        for (id, connection) in connections where !connection.isRetiring {
            guard machine.slots[Int(id.index)].isRetiring else { continue }
            connections[id]?.isRetiring = true
            if connection.retiresAt <= now { continue }
            giveWayCount += 1
            #expect(connection.isMultiplexed, "a connection of HTTP/1.1 was retired")
            #expect(
                waiting.values.contains { $0.origin != connection.origin || $0.needsFresh },
                "it was retired, but no waiter needs its room")
        }
    }

    var lastActions: [PoolAction] { actions }
    var dialing: [ConnectionID] { sorted { $0.isDialing } }
    var idle: [ConnectionID] { sorted { $0.idleUntil != nil } }
    var busy: [ConnectionID] { sorted { !$0.exchanges.isEmpty } }

    func open(_ origin: Origin) -> Int { connections.values.count { $0.origin == origin } }

    /// Returns the number of connections that count for the limit of an origin.
    private func used(of origin: Origin) -> Int { open(origin) - min(limits.perHost, draining(of: origin)) }

    private func draining(of origin: Origin) -> Int {
        connections.values.count { $0.origin == origin && $0.isMultiplexed && $0.isRetiring }
    }

    /// Returns the largest number of waiters that one dial is expected to serve.
    private func waitersPerDial(of origin: Origin) -> Int {
        let maySpeakHTTP2 = origin.scheme == .https ? versions.contains(.http2) : versions == .http2
        return maySpeakHTTP2 && !unshared.contains(origin) ? max(1, expectedCapacity(of: origin) ?? 100) : 1
    }

    private func sorted(_ predicate: (Connection) -> Bool) -> [ConnectionID] {
        connections.filter { predicate($0.value) }.keys.sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Actions

    private mutating func becomeAvailable(_ connection: ConnectionID, hint: KeepAlive = KeepAlive()) {
        guard let state = connections[connection], state.exchanges.isEmpty else { return }
        let timeout = min(limits.idleTimeout, hint.safeTimeout ?? limits.idleTimeout)
        connections[connection]?.idleUntil = min(now + timeout, state.retiresAt)
        order += 1
        connections[connection]?.availableSince = order
    }

    private mutating func perform(_ action: PoolAction, of event: PoolEvent) {
        switch action {
        case .run(let exchange, let id, let reused):
            guard let connection = connections[id] else {
                Issue.record("\(action) names no connection")
                return
            }
            #expect(connection.hasRoom, "\(action): a connection without room was lent")
            #expect(connection.wasUsed == reused)
            if let entry = waiting.first(where: { $0.value.exchange == exchange }) {
                let rivals = waiting.values.filter {
                    $0.origin == entry.value.origin && $0.needsFresh == entry.value.needsFresh
                }
                #expect(rivals.allSatisfy { entry.value.isDue(noLaterThan: $0) }, "\(action): out of turn")
                if connection.origin != entry.value.origin {
                    guard case .coalesce(_, onto: id) = event else {
                        Issue.record("\(action): another origin's connection")
                        return
                    }
                    #expect(shared[entry.value.origin] == id)
                    coalescedRunCount += 1
                }
                if entry.value.needsFresh {
                    var isNew = connectionNewlyAllowed == id
                    if case .connected(id, _, _, _) = event { isNew = true }
                    #expect(isNew, "\(action): a replay must run on a new connection")
                }
                waiting[entry.key] = nil
            } else if movedClaimant == exchange {
                guard case .coalesce(_, onto: id) = event else {
                    Issue.record("\(action): its dial has not ended")
                    return
                }
                coalescedRunCount += 1
            } else if connection.claimant == exchange {
                guard case .connected(id, _, let newKey, _) = event else {
                    Issue.record("\(action): its dial has not ended")
                    return
                }
                connections[id]?.claimant = nil
                // The connection moves to the new key, or retires if that key has no room.
                if let newKey, newKey != connection.origin {
                    let hasRoom = used(of: newKey) < limits.perHost
                    if hasRoom {
                        connections[id]?.origin = newKey
                    } else {
                        connections[id]?.isRetiring = true
                    }
                }
            } else if case .submit(let newID, let origin, let needsFresh, _, _, let loop) = event,
                newID == exchange
            {
                #expect(!needsFresh)
                #expect(
                    connection.idleUntil.map { $0 > now } ?? true, "\(action): an expired connection was lent"
                )
                let own = connections.values.filter { $0.origin == origin && $0.hasRoom }
                let isCoalesced = connection.origin != origin
                if isCoalesced {
                    coalescedRunCount += 1
                    #expect(shared[origin] == id && own.isEmpty, "\(action): another origin's connection")
                }
                let sameLoop = isCoalesced ? [] : own.filter { loop != nil && $0.loop == loop }
                let isOnLoop = loop != nil && connection.loop == loop
                if isOnLoop { runsOnRequestedLoop += 1 }
                #expect(isOnLoop || sameLoop.isEmpty, "\(action): not on the requested loop")
                if !connection.isMultiplexed, !isCoalesced {
                    let others = (isOnLoop ? sameLoop : Array(connections.values)).filter {
                        $0.origin == origin && $0.hasRoom && !$0.isMultiplexed
                    }
                    #expect(
                        others.allSatisfy { $0.availableSince <= connection.availableSince },
                        "\(action): not the connection released last")
                }
            } else {
                Issue.record("\(action): it neither waits nor was submitted")
            }
            answer(exchange, .ran)
            connections[id]?.exchanges.insert(exchange)
            connections[id]?.wasUsed = true
            connections[id]?.idleUntil = nil
            if connection.remaining != .max { connections[id]?.remaining -= 1 }
        case .wait(let exchange, let waiter):
            guard
                case .submit(let newID, let origin, let needsFresh, let priority, let replays, let loop) =
                    event,
                newID == exchange
            else {
                Issue.record("\(action): it was not submitted")
                return
            }
            #expect(waiterIDs.insert(waiter).inserted, "a waiter's identifier was used twice")
            var isServed = false
            if !needsFresh, let connection = shared[origin] { isServed = mayCoalesceNow(connection) }
            #expect(!isServed, "\(action): beside a usable connection to another origin")
            waiting[waiter] = Waiter(
                exchange: exchange, origin: origin, needsFresh: needsFresh, place: order, priority: priority,
                replays: replays)
            peakWaiting = max(peakWaiting, waiting.count)
            requestedLoops[origin] = loop
        case .dial(let id, let origin, let loop):
            dialCount += 1
            #expect(loop == requestedLoops[origin], "\(action): not on the loop of the newest waiter")
            if case .descriptorsExhausted(id) = event {
                #expect(connections[id]?.isDialing == true)
                #expect(retried.insert(id).inserted, "\(action): a second retry")
            } else {
                #expect(connectionIDs.insert(id).inserted, "a connection's identifier was used twice")
                connections[id] = Connection(origin: origin)
            }
            connections[id]?.loop = loop
            #expect(!isShutDown)
        case .abandonDial(let id):
            #expect(connections[id]?.isDialing == true)
            connections[id] = nil
        case .close(let id, let reason):
            if case .connected(id, _, _, _) = event, connections[id] == nil {
                #expect(reason == .unwanted)
                return
            }
            guard let connection = connections.removeValue(forKey: id) else {
                Issue.record("\(action) names no connection")
                return
            }
            #expect(connection.exchanges.isEmpty, "\(action): it carries an exchange")
            #expect(!connection.isDialing)
        case .fail(let exchange, let failure):
            if failure == .shutDown, case .submit(exchange, _, _, _, _, _) = event {
                answer(exchange, .failed(failure))
                return
            }
            if exchange == failedClaimant || connections.values.contains(where: { $0.claimant == exchange }) {
                answer(exchange, .failed(failure))
                return
            }
            guard let entry = waiting.first(where: { $0.value.exchange == exchange }) else {
                Issue.record("\(action): it does not wait")
                return
            }
            if failure == .dialFailed || failure == .descriptorsExhausted {
                let queue = waiting.values.filter { $0.origin == entry.value.origin }
                #expect(
                    queue.allSatisfy { entry.value.isDue(noLaterThan: $0) }, "\(action): not the first")
            }
            waiting[entry.key] = nil
            answer(exchange, .failed(failure))
        case .wake(let instant):
            wake = instant
        }
    }

    private mutating func answer(_ exchange: ExchangeID, _ answer: Answer) {
        #expect(answers[exchange] == nil, "\(exchange) was answered twice")
        answers[exchange] = answer
    }

    // MARK: Invariants

    private mutating func check() {
        #expect(machine.openCount == connections.count)
        #expect(connections.count <= limits.total, "the total limit")
        let idle = connections.values.filter { $0.idleUntil != nil }
        #expect(machine.idleCount == idle.count)
        #expect(machine.slots.count <= limits.total, "slots leak")
        #expect(machine.waiters.entryCount <= peakWaiting, "waiters' places leak")
        if let earliest = idle.compactMap(\.idleUntil).min() {
            let latest = max(earliest, now) + PoolMachine.sweepGranularity
            #expect(wake.map { $0 <= latest } == true, "no sweep is scheduled")
        }
        shared = shared.filter { connections[$0.value] != nil }
        let origins = Set(connections.values.map(\.origin)).union(waiting.values.map(\.origin))
            .union(shared.keys)
        let awaited = Set(waiting.values.map(\.origin))
        allowed = allowed.filter { origins.contains($0.key) }
        endurance = endurance.filter { origins.contains($0.key) }
        // The version that an origin chose is remembered after its key is removed.
        unshared = unshared.intersection(origins).union(chosenHTTP11.subtracting(origins))
        sharingSince = sharingSince.filter { origins.contains($0.key) }
        #expect(machine.keyCount == origins.count, "keys leak")
        for origin in origins {
            let own = connections.values.filter { $0.origin == origin }
            let dials = own.count { $0.isDialing && $0.claimant == nil }
            let queue = waiting.values.filter { $0.origin == origin }
            let used = used(of: origin)
            #expect(used <= limits.perHost, "the host's limit")
            if queue.contains(where: { !$0.needsFresh }) {
                #expect(
                    !own.contains { $0.hasRoom && ($0.idleUntil != nil || $0.retiresAt > now) },
                    "an exchange waits beside a connection that could serve it")
            }
            let servedByDials = dials * waitersPerDial(of: origin)
            let isDrainingEnough = draining(of: origin) > limits.perHost
            if queue.count > servedByDials, used < limits.perHost {
                #expect(connections.count == limits.total, "a waiter could be dialed for")
                // An idle connection that allows no exchanges is kept while exchanges wait for it.
                let mayMakeRoom = idle.contains { $0.capacity > 0 || !awaited.contains($0.origin) }
                #expect(!mayMakeRoom, "an exchange waits for room that an idle connection takes")
            }
            checkSharing(of: origin, mayDial: queue.count > dials && used < limits.perHost)
            if queue.count(where: \.needsFresh) > servedByDials, used >= limits.perHost {
                #expect(
                    !own.contains { $0.idleUntil != nil && $0.hasRoom },
                    "a replay waits beside an idle connection")
                #expect(
                    !own.contains(where: \.hasRoom) || isDrainingEnough,
                    "a replay waits beside a connection that could give way")
            }
        }
    }

    /// Checks that no exchange waits too long for the dial of another one.
    private mutating func checkSharing(of origin: Origin, mayDial: Bool) {
        guard mayDial, connections.count < limits.total else {
            sharingSince[origin] = nil
            return
        }
        let since = sharingSince[origin] ?? now
        sharingSince[origin] = since
        #expect(now < since + PoolMachine.sharingTime, "an exchange waits too long for another's dial")
        #expect(wake.map { $0 <= since + PoolMachine.sharingTime } == true, "no tick ends the wait")
    }
}
