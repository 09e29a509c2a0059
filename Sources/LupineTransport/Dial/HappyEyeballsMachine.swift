// SPDX-License-Identifier: MIT

/// Decides which address of a host is tried next, and which connection wins: Happy Eyeballs, RFC 8305 §4 and §5.
///
/// Families are interleaved; within a family the resolver's order is kept, because `getaddrinfo` has sorted by RFC 6724. The next
/// attempt starts when one has failed, or when the last one has not succeeded after the attempt delay. The first connection wins
/// and the others are closed. The machine does not interpret addresses and causes; it only returns them to the driver.
package struct HappyEyeballsMachine<Address: Sendable, Cause: Sendable>: Sendable {
    /// The family of an address.
    package enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// The family that is tried first. RFC 8305 prefers IPv6; a host with broken IPv6 may prefer IPv4. `asResolved` is the family
    /// of the resolver's first address.
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
        /// The connection is no longer wanted.
        case cancel
    }

    /// An action for the driver, to be performed in order.
    package enum Action: Sendable {
        case connect(AttemptID, Address)
        /// Replaces the timer set before.
        case setTimer(Instant)
        case cancelTimer
        /// Give up an attempt and close its socket; the driver reports nothing.
        case close(AttemptID)
        /// The race is over, and this connection has won.
        case won(AttemptID, Address)
        /// The race is over: no address could be connected to. Failures are in the order in which they happened; an empty list
        /// means that there was no address.
        case failed([AddressFailure])
    }

    /// RFC 8305 §5: the recommended Connection Attempt Delay.
    package static var defaultAttemptDelay: Interval { .milliseconds(250) }

    private enum State {
        case ready  // → racing, over
        case racing(Race)  // → racing, over
        case over
    }

    private struct Race {
        /// The index of the next address to try, and the number of attempts started.
        var next = 0
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

    /// The only writer of `state`.
    package mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        switch (state, event) {
        case (.ready, .start):
            var actions: [Action] = []
            advance(Race(), at: now, into: &actions)
            return actions
        case (.ready, .cancel):
            state = .over
            return []
        case (.racing(let race), .timer):
            var actions: [Action] = []
            advance(race, at: now, into: &actions)
            return actions
        case (.racing(var race), .failed(let attempt, let cause)):
            guard let index = race.running.firstIndex(of: attempt) else { return [] }
            race.running.remove(at: index)
            race.failures.append(AddressFailure(address: addresses[attempt.rawValue], cause: cause))
            var actions: [Action] = []
            if race.next < addresses.count {
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
            if race.next < addresses.count { actions.append(.cancelTimer) }
            for attempt in race.running where attempt != winner { actions.append(.close(attempt)) }
            actions.append(.won(winner, addresses[winner.rawValue]))
            return actions
        case (.racing(let race), .cancel):
            state = .over
            return (race.next < addresses.count ? [.cancelTimer] : []) + race.running.map { .close($0) }
        case (.over, .connected(let late)):
            return [.close(late)]
        case (.over, .timer), (.over, .failed), (.over, .cancel):
            return []
        case (.ready, .timer), (.ready, .connected), (.ready, .failed), (.racing, .start), (.over, .start):
            preconditionFailure("\(event) is impossible while \(state)")
        }
    }

    /// Starts the next attempt. The timer runs exactly while there is an address that has not been tried.
    private mutating func advance(_ race: Race, at now: Instant, into actions: inout [Action]) {
        var race = race
        guard race.next < addresses.count else {
            if race.running.isEmpty {
                state = .over
                actions.append(.failed(race.failures))
            } else {
                state = .racing(race)
            }
            return
        }
        let attempt = AttemptID(rawValue: race.next)
        actions.append(.connect(attempt, addresses[race.next]))
        race.running.append(attempt)
        race.next += 1
        if race.next < addresses.count {
            actions.append(.setTimer(now + attemptDelay))
        } else if race.next > 1 {
            actions.append(.cancelTimer)
        }
        state = .racing(race)
    }

    /// Returns the addresses with families alternating, the preferred one first (RFC 8305 §4). If one family has more addresses,
    /// its last ones follow each other.
    private static func interleave(
        _ addresses: [(family: Family, address: Address)], first: FirstFamily
    ) -> [Address] {
        guard let resolvedFirst = addresses.first?.family else { return [] }
        if addresses.count == 1 { return [addresses[0].address] }
        let leader: Family =
            switch first {
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            case .asResolved: resolvedFirst
            }
        let leading = addresses.filter { $0.family == leader }.map(\.address)
        let following = addresses.filter { $0.family != leader }.map(\.address)
        var order: [Address] = []
        order.reserveCapacity(addresses.count)
        for index in 0..<max(leading.count, following.count) {
            if index < leading.count { order.append(leading[index]) }
            if index < following.count { order.append(following[index]) }
        }
        return order
    }
}

extension HappyEyeballsMachine.AddressFailure: Equatable where Address: Equatable, Cause: Equatable {}
extension HappyEyeballsMachine.Action: Equatable where Address: Equatable, Cause: Equatable {}
