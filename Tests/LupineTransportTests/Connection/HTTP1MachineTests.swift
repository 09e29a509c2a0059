// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// Every transition of the connection's machine, and a random walk during which its invariants must hold.
@Suite struct HTTP1MachineTests {
    typealias Machine = HTTP1Machine

    static let requestStates: [Machine.RequestState] = [.awaitingContinue, .sending, .sent]
    static let responseStates: [Machine.ResponseState] = [.awaitingHead, .receiving, .paused]
    static let states: [Machine.State] =
        [.idle, .skipping, .draining, .upgraded, .closed]
        + requestStates.flatMap { request in responseStates.map { .exchanging(request, $0) } }
    static let events: [Machine.Event] =
        requestStates.map { .begin($0) } + [
            .release, .requestSent, .headReceived, .pause, .resume, .responseEnded(reusable: true),
            .responseEnded(reusable: false), .enough(remainder: .short), .enough(remainder: .long),
            .remainderIsLate, .drainLimitExceeded, .upgraded, .cancel, .broken, .close,
        ]

    /// Returns a machine that the events of an ordinary connection have brought into `state`.
    static func machine(in state: Machine.State) -> Machine {
        var machine = Machine()
        for event in path(to: state) { _ = machine.handle(event) }
        return machine
    }

    static func path(to state: Machine.State) -> [Machine.Event] {
        switch state {
        case .idle: return []
        case .closed: return [.close]
        case .upgraded: return [.begin(.sending), .requestSent, .upgraded]
        case .skipping: return [.begin(.sending), .requestSent, .headReceived, .enough(remainder: .short)]
        case .draining: return path(to: .skipping) + [.remainderIsLate]
        case .exchanging(let request, let response):
            let first: [Machine.Event] =
                switch request {
                case .awaitingContinue: [.begin(.awaitingContinue)]
                case .sending: [.begin(.sending)]
                case .sent: [.begin(.sending), .requestSent]
                }
            switch response {
            case .awaitingHead: return first
            case .receiving: return first + [.headReceived]
            case .paused: return first + [.headReceived, .pause]
            }
        }
    }

    /// Returns the new state and the actions that an event must lead to; nil if the event cannot happen in that state.
    static func expected(
        _ state: Machine.State, _ event: Machine.Event
    ) -> (state: Machine.State, actions: Machine.Actions)? {
        let none = Machine.Actions()
        let failed = Machine.Actions(exchange: .fail, connection: .close)
        let succeeded = Machine.Actions(exchange: .succeed, connection: .close)
        let closesConnection = Machine.Actions(connection: .close)
        switch state {
        case .idle:
            switch event {
            case .begin(let request): return (.exchanging(request, .awaitingHead), none)
            case .broken, .close: return (.closed, closesConnection)
            case .release, .resume, .cancel: return (.idle, none)
            case .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
                .drainLimitExceeded,
                .upgraded:
                return nil
            }
        case .exchanging(let request, let response):
            switch event {
            case .cancel, .broken, .close: return (.closed, failed)
            case .requestSent: return (.exchanging(.sent, response), none)
            case .release:
                guard request == .awaitingContinue else { return (state, none) }
                return (.exchanging(.sending, response), Machine.Actions(releasesContent: true))
            case .pause: return (response == .receiving ? .exchanging(request, .paused) : state, none)
            case .resume: return (response == .paused ? .exchanging(request, .receiving) : state, none)
            case .headReceived:
                return response == .awaitingHead ? (.exchanging(request, .receiving), none) : nil
            case .upgraded: return response == .awaitingHead ? (.upgraded, none) : nil
            case .responseEnded(let reusable):
                guard response == .receiving else { return nil }
                guard request == .sent, reusable else { return (.closed, succeeded) }
                return (.idle, Machine.Actions(exchange: .succeed, connection: .returnToPool))
            case .enough(let remainder):
                guard response == .receiving else { return nil }
                guard request == .sent, remainder == .short else { return (.closed, succeeded) }
                return (.skipping, none)
            case .begin, .remainderIsLate, .drainLimitExceeded: return nil
            }
        case .skipping:
            switch event {
            case .responseEnded(reusable: true):
                return (.idle, Machine.Actions(exchange: .succeed, connection: .returnToPool))
            case .responseEnded, .drainLimitExceeded, .broken, .close: return (.closed, succeeded)
            case .remainderIsLate: return (.draining, Machine.Actions(exchange: .succeed))
            case .cancel: return (.draining, Machine.Actions(exchange: .fail))
            case .release, .resume: return (.skipping, none)
            case .begin, .requestSent, .headReceived, .pause, .enough, .upgraded: return nil
            }
        case .draining:
            switch event {
            case .responseEnded(reusable: true): return (.idle, Machine.Actions(connection: .returnToPool))
            case .responseEnded, .drainLimitExceeded, .broken, .close: return (.closed, closesConnection)
            case .release, .resume, .cancel: return (.draining, none)
            case .begin, .requestSent, .headReceived, .pause, .enough, .remainderIsLate, .upgraded: return nil
            }
        case .upgraded:
            switch event {
            case .broken, .close, .cancel: return (.closed, closesConnection)
            case .release, .resume: return (.upgraded, none)
            case .begin, .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
                .drainLimitExceeded, .upgraded:
                return nil
            }
        case .closed:
            switch event {
            case .release, .resume, .cancel, .broken, .close: return (.closed, none)
            case .begin, .requestSent, .headReceived, .pause, .responseEnded, .enough, .remainderIsLate,
                .drainLimitExceeded, .upgraded:
                return nil
            }
        }
    }

    @Test func everyStateIsReached() {
        for state in Self.states { #expect(Self.machine(in: state).state == state) }
    }

    @Test(arguments: states) func everyTransition(_ state: Machine.State) {
        var checkedCount = 0
        for event in Self.events {
            guard let expected = Self.expected(state, event) else { continue }
            var machine = Self.machine(in: state)
            let actions = machine.handle(event)
            #expect(machine.state == expected.state, "\(event)")
            #expect(actions == expected.actions, "\(event)")
            checkedCount += 1
        }
        #expect(checkedCount >= 5)
    }

    /// Applies random events that are possible in the current state, and checks the invariants after each.
    @Test func randomEventsKeepTheInvariants() {
        var random = SeededRandom(seed: 0x1111)
        var machine = Machine()
        var isExchanging = false
        var brokenRules: Set<String> = []
        var (begun, ended, returned, closed, reusableEnds) = (0, 0, 0, 0, 0)
        func require(_ condition: Bool, _ rule: String) { if !condition { brokenRules.insert(rule) } }
        let possible = Dictionary(
            uniqueKeysWithValues: Self.states.map { state in
                (state, Self.events.filter { Self.expected(state, $0) != nil })
            })
        for _ in 0..<150_000 {
            let before = machine.state
            let events = possible[before] ?? []
            var event = events[Int.random(in: 0..<events.count, using: &random)]
            // Events that end a connection are made rare, so that walks get far.
            if [.broken, .close, .cancel].contains(event), Int.random(in: 0..<8, using: &random) > 0 {
                event = events[Int.random(in: 0..<events.count, using: &random)]
            }
            if case .begin = event {
                require(!isExchanging, "one exchange at a time")
                begun += 1
                isExchanging = true
            }
            let actions = machine.handle(event)
            if event == .responseEnded(reusable: true),
                [.skipping, .draining, .exchanging(.sent, .receiving)].contains(before)
            {
                reusableEnds += 1
            }
            if actions.exchange != .keep || event == .upgraded {
                require(isExchanging, "an exchange ends once")
                isExchanging = false
                ended += 1
            }
            switch actions.connection {
            case .keep: break
            case .returnToPool:
                returned += 1
                require(machine.state == .idle && !isExchanging, "a returned connection carries no exchange")
            case .close:
                closed += 1
                require(machine.state == .closed && before != .closed, "a connection closes once")
            }
            if before == .closed {
                require(actions == Machine.Actions(), "a closed connection needs no action")
            }
            if machine.state == .skipping {
                require(isExchanging, "a skipped response belongs to an exchange in progress")
            } else if case .exchanging = machine.state {
                require(isExchanging, "an exchange is in progress")
            } else {
                require(!isExchanging, "no exchange is forgotten")
            }
            if machine.state == .closed, Int.random(in: 0..<4, using: &random) == 0 { machine = Machine() }
        }
        #expect(brokenRules == [])
        #expect(begun - ended == (isExchanging ? 1 : 0))
        #expect(returned == reusableEnds && returned > 100 && closed > 1_000)
    }
}
