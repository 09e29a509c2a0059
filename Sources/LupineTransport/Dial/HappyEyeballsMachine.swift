// SPDX-License-Identifier: MIT

/// Decides which address of a host is tried next, and which connection wins: Happy Eyeballs, RFC 8305 §4 and §5.
///
/// Address families alternate. Within a family, the machine keeps the resolver's order, because `getaddrinfo` has sorted the
/// addresses by RFC 6724. The next attempt starts when one has failed, or when the last one has not succeeded after the attempt
/// delay. The first connection wins, and the driver closes the others. The machine does not interpret addresses and causes; it
/// only returns them to the driver.
package struct HappyEyeballsMachine<Address: Sendable, Cause: Sendable>: Sendable {
    /// The IP version of an address.
    package enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// The family that is tried first. RFC 8305 prefers IPv6; a machine with broken IPv6 may prefer IPv4. `asResolved` is the
    /// family of the resolver's first address.
    package enum FirstFamily: Hashable, Sendable { case ipv6, ipv4, asResolved }

    /// The number of an attempt: 0 for the first address tried.
    package struct AttemptID: Hashable, Sendable {
        /// The index of the attempt in the order in which attempts start.
        package let rawValue: Int
        /// Creates the ID from its index.
        package init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Why one address could not be connected to.
    package struct AddressFailure: Sendable {
        /// The address tried.
        package let address: Address
        /// The cause that the driver reported.
        package let cause: Cause
    }

    /// An event reported by the driver.
    package enum Event: Sendable {
        case start
        /// The instant of the last `setTimer` has been reached.
        case timer
        case connected(AttemptID)
        case failed(AttemptID, Cause)
        /// The caller has no more use for a connection.
        case cancel
    }

    /// An action for the driver, which performs the returned actions in order.
    package enum Action: Sendable {
        case connect(AttemptID, Address)
        /// Set the timer of the attempt delay; replaces the timer that was set before.
        case setTimer(Instant)
        case cancelTimer
        /// Close the socket of an attempt that has lost. Afterwards, the driver reports no event for the attempt.
        case close(AttemptID)
        /// The race is over, and this connection has won.
        case won(AttemptID, Address)
        /// The race is over: no address could be connected to. The failures are in the order in which they happened. The list is
        /// empty if there was no address.
        case failed([AddressFailure])
    }

    /// RFC 8305 §5: the recommended Connection Attempt Delay.
    package static var defaultAttemptDelay: Interval { .milliseconds(250) }

    /// The states; an arrow names the states that may follow.
    private enum State {
        case ready  // → racing, over
        case racing(Race)  // → racing, over
        case over
    }

    private struct Race {
        /// The index of the next address to try, which is also the number of attempts started.
        var nextIndex = 0
        /// The attempts that have neither connected nor failed.
        var running: [AttemptID] = []
        var failures: [AddressFailure] = []
    }

    private let addresses: [Address]
    private let attemptDelay: Interval
    private var state = State.ready

    /// Creates a race over `addresses`, which are in the resolver's order. It begins with the event `start`.
    package init(
        addresses: [(family: Family, address: Address)], first: FirstFamily = .ipv6,
        attemptDelay: Interval = Self.defaultAttemptDelay
    ) {
        self.addresses = Self.interleave(addresses, first: first)
        self.attemptDelay = attemptDelay
    }

    /// Handles an event, and returns the actions for the driver. Only this method and `advance` change `state`.
    package mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        switch (state, event) {
        case (.ready, .start):
            var actions: [Action] = []
            advance(Race(), at: now, into: &actions)
            return actions
        case (.ready, .cancel):
            state = .over
            return []
        // The last attempt has not succeeded in time: the next address is tried in parallel.
        case (.racing(let race), .timer):
            var actions: [Action] = []
            advance(race, at: now, into: &actions)
            return actions
        case (.racing(var race), .failed(let attempt, let cause)):
            guard let index = race.running.firstIndex(of: attempt) else { return [] }
            race.running.remove(at: index)
            race.failures.append(AddressFailure(address: addresses[attempt.rawValue], cause: cause))
            var actions: [Action] = []
            if race.nextIndex < addresses.count {
                advance(race, at: now, into: &actions)
            } else if race.running.isEmpty {
                state = .over
                actions.append(.failed(race.failures))
            } else {
                state = .racing(race)
            }
            return actions
        case (.racing(let race), .connected(let winner)):
            guard race.running.contains(winner) else { return [] }
            state = .over
            var actions: [Action] = []
            if race.nextIndex < addresses.count { actions.append(.cancelTimer) }
            for attempt in race.running where attempt != winner { actions.append(.close(attempt)) }
            actions.append(.won(winner, addresses[winner.rawValue]))
            return actions
        case (.racing(let race), .cancel):
            state = .over
            // The timer is set exactly while an address has not been tried.
            return (race.nextIndex < addresses.count ? [.cancelTimer] : []) + race.running.map { .close($0) }
        // An attempt may connect before the driver has performed its `close`.
        case (.over, .connected(let loser)):
            return [.close(loser)]
        case (.over, .timer), (.over, .failed), (.over, .cancel):
            return []
        case (.ready, .timer), (.ready, .connected), (.ready, .failed), (.racing, .start), (.over, .start):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// Starts the next attempt or, if every address has been tried, ends the race once no attempt is running. The timer runs
    /// exactly while there is an address that has not been tried.
    private mutating func advance(_ race: Race, at now: Instant, into actions: inout [Action]) {
        var race = race
        guard race.nextIndex < addresses.count else {
            if race.running.isEmpty {
                state = .over
                actions.append(.failed(race.failures))
            } else {
                state = .racing(race)
            }
            return
        }
        let attempt = AttemptID(rawValue: race.nextIndex)
        actions.append(.connect(attempt, addresses[race.nextIndex]))
        race.running.append(attempt)
        race.nextIndex += 1
        if race.nextIndex < addresses.count {
            actions.append(.setTimer(now + attemptDelay))
        } else if race.nextIndex > 1 {
            // This was the last address. With a single address no timer was set.
            actions.append(.cancelTimer)
        }
        state = .racing(race)
    }

    /// Returns the addresses with alternating families, beginning with the preferred family (RFC 8305 §4). If one family has more
    /// addresses, its last ones follow each other.
    private static func interleave(
        _ addresses: [(family: Family, address: Address)], first: FirstFamily
    ) -> [Address] {
        // The family of the first address, which `asResolved` prefers.
        guard let resolvedFirst = addresses.first?.family else { return [] }
        if addresses.count == 1 { return [addresses[0].address] }
        let preferredFamily: Family =
            switch first {
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            case .asResolved: resolvedFirst
            }
        let preferred = addresses.filter { $0.family == preferredFamily }.map(\.address)
        let others = addresses.filter { $0.family != preferredFamily }.map(\.address)
        var order: [Address] = []
        order.reserveCapacity(addresses.count)
        for index in 0..<max(preferred.count, others.count) {
            if index < preferred.count { order.append(preferred[index]) }
            if index < others.count { order.append(others[index]) }
        }
        return order
    }
}

extension HappyEyeballsMachine.AddressFailure: Equatable where Address: Equatable, Cause: Equatable {}
extension HappyEyeballsMachine.Action: Equatable where Address: Equatable, Cause: Equatable {}
