// SPDX-License-Identifier: MIT

/// Turns host names into addresses for one client, without keeping a loop waiting.
///
/// In this order: the client's own table, IP literals, the cache, a look-up under way for the same name, a
/// new look-up on `WorkerPool`. Answers that are at hand are returned; others arrive on the loop that
/// asked, once, unless the look-up is cancelled. It does not choose among addresses: that is
/// `HappyEyeballsMachine`'s.
package final class Resolver: Sendable {
    /// Which names are kept, how long, and which are not looked up at all.
    package struct Configuration: Sendable {
        /// How long addresses are used again; zero turns the cache off.
        package var positiveLifetime: Duration = .seconds(30)
        /// How long it is remembered that a name does not exist or has no address.
        package var negativeLifetime: Duration = .seconds(2)
        /// The most names kept.
        package var capacity = 256
        /// Addresses for certain hosts and ports, used instead of a look-up; port 0 is the one that was asked for.
        package var overrides: [Endpoint: [SocketAddress]] = [:]

        /// The defaults.
        package init() {}
    }

    /// A host and port as they stand in a URL; the host in any case, `*` for every host.
    package struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16

        /// Names a host and port.
        package init(host: String, port: UInt16) {
            self.host = host.lowercased()
            self.port = port
        }
    }

    /// Addresses, at least one, or the reason for none.
    package typealias Answer = Result<[SocketAddress], ResolutionError>

    /// What `lookUp` says at once.
    package enum Start {
        /// The answer was at hand; the callback will not be called.
        case answered(Answer)
        /// The callback will be called, unless this is cancelled.
        case pending(LookUp)
    }

    struct Key: Hashable, Sendable {
        let host: String
        let family: AddressFamily
    }

    private struct Waiter: Sendable {
        let number: UInt64
        let loop: EventLoop
        let lookUp: LoopBound<LookUp>
    }

    private enum Entry: Sendable {
        /// Addresses with port 0, or a lasting reason for none.
        case known(Answer, until: Instant)
        case underWay(WorkerPool.Ticket, [Waiter])
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var known = 0
        var nextWaiter: UInt64 = 0
    }

    private let configuration: Configuration
    private let function: SystemResolver.LookUpFunction
    private let pool: WorkerPool
    private let clock: any TransportClock
    private let state = Lock(State())

    /// A resolver with a cache of its own.
    package init(
        configuration: Configuration = Configuration(),
        pool: WorkerPool = .shared,
        clock: any TransportClock = MonotonicClock(),
        lookUp: @escaping SystemResolver.LookUpFunction = SystemResolver.lookUp
    ) {
        self.configuration = configuration
        self.pool = pool
        self.clock = clock
        function = lookUp
    }

    /// Looks `host` up. On `loop`, where `callback` is called too, later, at most once.
    package func lookUp(
        _ host: String, port: UInt16, family: AddressFamily = .any, deadline: Instant = .distantFuture,
        on loop: EventLoop, _ callback: @escaping (Answer) -> Void
    ) -> Start {
        loop.preconditionOnLoop()
        if let answer = answerAtHand(for: host, port: port, family: family) { return .answered(answer) }
        let host = host.lowercased()
        guard Self.isPlausible(host) else { return .answered(.failure(.invalidName)) }

        let key = Key(host: host, family: family)
        let now = clock.now()
        let ticket = pool.newTicket()
        let lookUp = LookUp(self, key, port: port, loop: loop, callback)
        let bound = LoopBound(lookUp, on: loop)
        let found = state.withLock { state -> Found in
            switch state.entries[key] {
            case .known(let answer, let until)? where now < until:
                return .known(answer)
            case .underWay(let ticket, let waiters)?:
                state.nextWaiter += 1
                let waiter = Waiter(number: state.nextWaiter, loop: loop, lookUp: bound)
                state.entries[key] = .underWay(ticket, waiters + [waiter])
                return .joined(ticket, waiter.number)
            case .known?:
                state.known -= 1
                fallthrough
            case nil:
                state.nextWaiter += 1
                let waiter = Waiter(number: state.nextWaiter, loop: loop, lookUp: bound)
                state.entries[key] = .underWay(ticket, [waiter])
                return .begun(waiter.number)
            }
        }
        switch found {
        case .known(let answer):
            return .answered(answer.with(port: port))
        case .joined(let ticket, let number):
            lookUp.wait(ticket, number, deadline: deadline, placement: pool.placement(of: ticket))
        case .begun(let number):
            let placement = begin(ticket, key)
            lookUp.wait(ticket, number, deadline: deadline, placement: placement)
        }
        return .pending(lookUp)
    }

    private enum Found {
        case known(Answer)
        case joined(WorkerPool.Ticket, UInt64)
        case begun(UInt64)
    }

    /// Forgets every name; look-ups under way go on.
    package func flush() {
        state.withLock { state in
            state.entries = state.entries.filter { entry in
                switch entry.value {
                case .known: false
                case .underWay: true
                }
            }
            state.known = 0
        }
    }

    /// The answer that needs no look-up: the client's own table has it, or `host` is a literal.
    func answerAtHand(for host: String, port: UInt16, family: AddressFamily) -> Answer? {
        let overrides = configuration.overrides
        if !overrides.isEmpty,
            let addresses = overrides[Endpoint(host: host, port: port)]
                ?? overrides[Endpoint(host: "*", port: port)]
        {
            let admitted = addresses.filter { family.admits($0) }
            return admitted.isEmpty
                ? .failure(.noAddress) : .success(admitted.map { $0.port == 0 ? $0.with(port: port) : $0 })
        }
        guard let address = SocketAddress(literal: host, port: port) else { return nil }
        return family.admits(address) ? .success([address]) : .failure(.noAddress)
    }

    /// A name that may be handed to C: no NUL that would cut it short, nothing that separates words.
    private static func isPlausible(_ host: String) -> Bool {
        (1...255).contains(host.utf8.count) && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }

    private func begin(_ ticket: WorkerPool.Ticket, _ key: Key) -> WorkerPool.Placement {
        // Weak: a look-up that hangs must not keep the client's resolver alive.
        let placement = pool.submit(ticket) { [weak self, function] in
            let answer: Answer
            do throws(ResolutionError) {
                answer = .success(try function(key.host, key.family))
            } catch {
                answer = .failure(error)
            }
            self?.finish(ticket, key, answer)
        }
        if case .noThread(let error) = placement {
            finish(ticket, key, .failure(.resolverFailed(code: 0, system: error)))
        }
        return placement
    }

    /// All threads hang and this look-up never began: everybody who waits for it hears so.
    func giveUp(_ ticket: WorkerPool.Ticket, _ key: Key) {
        pool.withdraw(ticket)
        finish(ticket, key, .failure(.tooManyHungLookUps(limit: pool.limit)))
    }

    func placement(of ticket: WorkerPool.Ticket) -> WorkerPool.Placement { pool.placement(of: ticket) }

    /// One waiter less; the last one takes the look-up with it, so that the next to ask begins afresh.
    func abandon(_ ticket: WorkerPool.Ticket, _ key: Key, _ number: UInt64) {
        let (unwanted, _) = state.withLock { state -> (Bool, Waiter?) in
            guard case .underWay(ticket, var waiters)? = state.entries[key] else { return (false, nil) }
            let gone = waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0) }
            state.entries[key] = waiters.isEmpty ? nil : .underWay(ticket, waiters)
            return (waiters.isEmpty, gone)
        }
        if unwanted { pool.withdraw(ticket) }
    }

    private func finish(_ ticket: WorkerPool.Ticket, _ key: Key, _ answer: Answer) {
        let lifetime = self.lifetime(of: answer)
        let now = clock.now()
        let waiters = state.withLock { [configuration] state -> [Waiter] in
            guard case .underWay(ticket, let waiters)? = state.entries[key] else { return [] }
            state.entries[key] = nil
            if lifetime > .zero, configuration.capacity > 0 {
                Self.makeRoom(&state, configuration.capacity, now)
                state.entries[key] = .known(answer, until: now.advanced(by: lifetime))
                state.known += 1
            }
            return waiters
        }
        for waiter in waiters {
            // A loop that refuses has told the waiter of its end already.
            _ = waiter.loop.execute { waiter.lookUp.value.answered(answer) }
        }
    }

    private func lifetime(of answer: Answer) -> Duration {
        switch answer {
        case .success: configuration.positiveLifetime
        case .failure(.nameNotFound), .failure(.noAddress): configuration.negativeLifetime
        // These say nothing about the name.
        case .failure: .zero
        }
    }

    /// Drops what has expired, or else the name that expires first.
    private static func makeRoom(_ state: inout State, _ capacity: Int, _ now: Instant) {
        guard state.known >= capacity else { return }
        var expired: [Key] = []
        var oldest: (key: Key, until: Instant)?
        for (key, entry) in state.entries {
            guard case .known(_, let until) = entry else { continue }
            if until <= now { expired.append(key) }
            if until < oldest?.until ?? .distantFuture { oldest = (key, until) }
        }
        if expired.isEmpty, let oldest { expired = [oldest.key] }
        for key in expired { state.entries[key] = nil }
        state.known -= expired.count
    }
}

extension Resolver.Answer {
    func with(port: UInt16) -> Resolver.Answer { map { $0.map { $0.with(port: port) } } }
}
