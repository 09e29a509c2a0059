// SPDX-License-Identifier: MIT

/// Resolves host names to addresses for one client, without blocking a loop.
///
/// The addresses come from the first of these that has an answer: the client's overrides, the host itself if it is an IP literal,
/// the cache, a look-up in progress for the same name, a new look-up on `WorkerPool`. An answer that is in memory is returned at
/// once. Otherwise the resolver calls the callback once on the calling loop, unless the look-up is cancelled.
/// `HappyEyeballsMachine` chooses among the addresses.
package final class Resolver: Sendable {
    /// The cache limits and the overrides.
    package struct Configuration: Sendable {
        /// How long addresses are cached; zero disables their caching.
        package var positiveLifetime: Duration = .seconds(30)
        /// How long the answer is cached that a name does not exist or has no address.
        package var negativeLifetime: Duration = .seconds(2)
        /// The maximum number of cached names.
        package var capacity = 256
        /// Addresses for certain hosts and ports, used instead of a look-up; port 0 stands for the requested port.
        package var overrides: [Endpoint: [SocketAddress]] = [:]

        /// Creates the default configuration.
        package init() {}
    }

    /// A host and port as in a URL. The case of the host is ignored; `*` stands for every host.
    package struct Endpoint: Hashable, Sendable {
        let host: String
        let port: UInt16

        /// Creates an endpoint.
        package init(host: String, port: UInt16) {
            self.host = host.lowercased()
            self.port = port
        }
    }

    /// At least one address, or the reason why there is none.
    package typealias Answer = Result<[SocketAddress], ResolutionError>

    /// The immediate result of `lookUp`.
    package enum Start {
        /// The answer was in memory; the callback will not be called.
        case answered(Answer)
        /// The callback will be called, unless the look-up is cancelled.
        case pending(LookUp)
    }

    /// The key of a cached answer or a look-up in progress.
    struct Key: Hashable, Sendable {
        let host: String
        let family: AddressFamily
    }

    /// A caller that waits for a look-up in progress.
    private struct Waiter: Sendable {
        /// Identifies the waiter among all waiters of the resolver.
        let number: UInt64
        let loop: EventLoop
        let lookUp: LoopBound<LookUp>
    }

    private enum Entry: Sendable {
        /// A cached answer: addresses with port 0, or a failure.
        case cached(Answer, until: Instant)
        /// A look-up in progress, and the callers that wait for it.
        case inProgress(WorkerPool.Ticket, [Waiter])
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The number of cached answers in `entries`.
        var cachedCount = 0
        /// The number of the newest waiter.
        var lastWaiter: UInt64 = 0
    }

    private let configuration: Configuration
    /// Finds the addresses of a name; blocks.
    private let lookUpFunction: SystemResolver.LookUpFunction
    private let pool: WorkerPool
    private let clock: any TransportClock
    private let state = Lock(State())

    /// Creates a resolver with its own cache.
    package init(
        configuration: Configuration = Configuration(),
        pool: WorkerPool = .shared,
        clock: any TransportClock = MonotonicClock(),
        lookUp: @escaping SystemResolver.LookUpFunction = SystemResolver.lookUp
    ) {
        self.configuration = configuration
        self.pool = pool
        self.clock = clock
        lookUpFunction = lookUp
    }

    /// Looks up `host`. Must be called on `loop`, where `callback` is called later, at most once.
    package func lookUp(
        _ host: String, port: UInt16, family: AddressFamily = .any, deadline: Instant = .distantFuture,
        on loop: EventLoop, _ callback: @escaping (Answer) -> Void
    ) -> Start {
        loop.preconditionOnLoop()
        if let answer = answerInMemory(for: host, port: port, family: family) { return .answered(answer) }
        let host = host.lowercased()
        guard Self.isPlausible(host) else { return .answered(.failure(.invalidName)) }

        let key = Key(host: host, family: family)
        let now = clock.now()
        // The ticket is used only if this call starts a new look-up.
        let ticket = pool.newTicket()
        let lookUp = LookUp(self, key, port: port, loop: loop, callback)
        let bound = LoopBound(lookUp, on: loop)
        let source = state.withLock { state -> AnswerSource in
            switch state.entries[key] {
            case .cached(let answer, let until)? where now < until:
                return .cached(answer)
            case .inProgress(let ticket, let waiters)?:
                state.lastWaiter += 1
                let waiter = Waiter(number: state.lastWaiter, loop: loop, lookUp: bound)
                state.entries[key] = .inProgress(ticket, waiters + [waiter])
                return .joined(ticket, waiterNumber: waiter.number)
            case .cached?:
                // The cached answer has expired; the new look-up replaces it.
                state.cachedCount -= 1
                fallthrough
            case nil:
                state.lastWaiter += 1
                let waiter = Waiter(number: state.lastWaiter, loop: loop, lookUp: bound)
                state.entries[key] = .inProgress(ticket, [waiter])
                return .started(waiterNumber: waiter.number)
            }
        }
        switch source {
        case .cached(let answer):
            return .answered(answer.with(port: port))
        case .joined(let ticket, let number):
            lookUp.startWaiting(ticket, number, deadline: deadline, placement: pool.placement(of: ticket))
        case .started(let number):
            // If no thread can be started, the failure is submitted to the loop, so that it arrives after `startWaiting`.
            let placement = startLookUp(ticket, key)
            lookUp.startWaiting(ticket, number, deadline: deadline, placement: placement)
        }
        return .pending(lookUp)
    }

    /// The source of the answer to a caller.
    private enum AnswerSource {
        /// The cache.
        case cached(Answer)
        /// A look-up in progress, which this waiter has joined.
        case joined(WorkerPool.Ticket, waiterNumber: UInt64)
        /// A new look-up.
        case started(waiterNumber: UInt64)
    }

    /// Removes every cached answer; look-ups in progress continue.
    package func flush() {
        state.withLock { state in
            state.entries = state.entries.filter { entry in
                switch entry.value {
                case .cached: false
                case .inProgress: true
                }
            }
            state.cachedCount = 0
        }
    }

    /// Returns the answer if it needs no look-up, because `host` has an override or is an IP literal; nil otherwise.
    func answerInMemory(for host: String, port: UInt16, family: AddressFamily) -> Answer? {
        let overrides = configuration.overrides
        if !overrides.isEmpty,
            let addresses = overrides[Endpoint(host: host, port: port)]
                ?? overrides[Endpoint(host: "*", port: port)]
        {
            let usable = addresses.filter { family.admits($0) }
            if usable.isEmpty { return .failure(.noAddress) }
            // Port 0 stands for the requested port.
            return .success(usable.map { $0.port == 0 ? $0.with(port: port) : $0 })
        }
        guard let address = SocketAddress(literal: host, port: port) else { return nil }
        return family.admits(address) ? .success([address]) : .failure(.noAddress)
    }

    /// Returns whether a name may be passed to `getaddrinfo`: it has 1 to 255 bytes, without control characters and spaces. A NUL
    /// would truncate it.
    private static func isPlausible(_ host: String) -> Bool {
        (1...255).contains(host.utf8.count) && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }

    /// Submits a new look-up to the pool.
    private func startLookUp(_ ticket: WorkerPool.Ticket, _ key: Key) -> WorkerPool.Placement {
        // Weak: a hanging look-up must not retain the client's resolver.
        let placement = pool.submit(ticket) { [weak self, lookUpFunction] in
            let answer: Answer
            do throws(ResolutionError) {
                answer = .success(try lookUpFunction(key.host, key.family))
            } catch {
                answer = .failure(error)
            }
            self?.finish(ticket, key, answer)
        }
        if case .noThread(let error) = placement {
            // The code is 0, because `getaddrinfo` was not called.
            finish(ticket, key, .failure(.resolverFailed(code: 0, system: error)))
        }
        return placement
    }

    /// Fails all waits for a look-up that never started because all threads hang.
    func failHung(_ ticket: WorkerPool.Ticket, _ key: Key) {
        pool.withdraw(ticket)
        finish(ticket, key, .failure(.tooManyHungLookUps(limit: pool.limit)))
    }

    /// Returns the state of a look-up in the worker pool.
    func placement(of ticket: WorkerPool.Ticket) -> WorkerPool.Placement { pool.placement(of: ticket) }

    /// Removes a waiter. If no other waiter is left, also withdraws the look-up, so that the next caller starts a new one.
    func removeWaiter(_ ticket: WorkerPool.Ticket, _ key: Key, _ number: UInt64) {
        // The removed waiter is returned from the closure, so that it is released outside the lock.
        let (hasNoWaiters, _) = state.withLock { state -> (Bool, Waiter?) in
            // The pattern matches only a look-up with the same ticket.
            guard case .inProgress(ticket, var waiters)? = state.entries[key] else { return (false, nil) }
            let removed = waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0) }
            state.entries[key] = waiters.isEmpty ? nil : .inProgress(ticket, waiters)
            return (waiters.isEmpty, removed)
        }
        if hasNoWaiters { pool.withdraw(ticket) }
    }

    /// Stores the result of a look-up in the cache, and reports it to the waiters.
    private func finish(_ ticket: WorkerPool.Ticket, _ key: Key, _ answer: Answer) {
        let lifetime = self.lifetime(of: answer)
        let now = clock.now()
        let waiters = state.withLock { [configuration] state -> [Waiter] in
            // The pattern matches only a look-up with the same ticket. If all waiters were removed, nobody needs the answer, and
            // the key may have a newer look-up with another ticket.
            guard case .inProgress(ticket, let waiters)? = state.entries[key] else { return [] }
            state.entries[key] = nil
            if lifetime > .zero, configuration.capacity > 0 {
                Self.makeRoom(&state, configuration.capacity, now)
                state.entries[key] = .cached(answer, until: now.advanced(by: lifetime))
                state.cachedCount += 1
            }
            return waiters
        }
        for waiter in waiters {
            // The result is ignored: if the loop has ended and refuses the work, the waiter's timer has already failed the wait.
            _ = waiter.loop.execute { waiter.lookUp.value.finish(with: answer) }
        }
    }

    /// Returns how long an answer is cached; zero if it is not cached.
    private func lifetime(of answer: Answer) -> Duration {
        switch answer {
        case .success: configuration.positiveLifetime
        case .failure(.nameNotFound), .failure(.noAddress): configuration.negativeLifetime
        // Other failures do not depend on the name, and may not occur at the next look-up.
        case .failure: .zero
        }
    }

    /// If the cache is full, removes the expired answers. If none has expired, removes the one that expires first.
    private static func makeRoom(_ state: inout State, _ capacity: Int, _ now: Instant) {
        guard state.cachedCount >= capacity else { return }
        var removable: [Key] = []
        var firstToExpire: (key: Key, until: Instant)?
        for (key, entry) in state.entries {
            guard case .cached(_, let until) = entry else { continue }
            if until <= now { removable.append(key) }
            if until < firstToExpire?.until ?? .distantFuture { firstToExpire = (key, until) }
        }
        if removable.isEmpty, let firstToExpire { removable = [firstToExpire.key] }
        for key in removable { state.entries[key] = nil }
        state.cachedCount -= removable.count
    }
}

extension Resolver.Answer {
    /// Returns the answer with this port in all addresses.
    func with(port: UInt16) -> Resolver.Answer { map { $0.map { $0.with(port: port) } } }
}
