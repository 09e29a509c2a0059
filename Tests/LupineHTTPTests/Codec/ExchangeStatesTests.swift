// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of all joint states that legal events can reach from the initial one.
@Suite struct ExchangeStatesTests {
    static let events: [ExchangeStates.Event] = [
        .requestBegan, .requestEnded, .headReceived, .handoverReceived, .bodyEnded, .peerClosed, .peerFailed,
    ]

    /// The states of request and response, and whether the connection may persist.
    struct JointState: Hashable {
        let request: ExchangeStates.Request
        let response: ExchangeStates.Response
        let keepAlive: Bool

        init(_ states: ExchangeStates) {
            request = states.request
            response = states.response
            keepAlive = states.allowsReuse
        }

        init(_ request: ExchangeStates.Request, _ response: ExchangeStates.Response, _ keepAlive: Bool) {
            self.request = request
            self.response = response
            self.keepAlive = keepAlive
        }

        /// Returns the state that the documented table names after `event`; nil if the event cannot occur.
        func after(_ event: ExchangeStates.Event) -> JointState? {
            switch event {
            case .requestBegan:
                let maySendRequest =
                    (request == .idle && response == .idle) || (request == .sent && response == .ended)
                return maySendRequest && keepAlive ? JointState(.sending, .head, true) : nil
            case .requestEnded: return request == .sending ? JointState(.sent, response, keepAlive) : nil
            case .headReceived: return response == .head ? JointState(request, .body, keepAlive) : nil
            case .handoverReceived: return response == .head ? JointState(request, .handedOver, false) : nil
            case .bodyEnded: return response == .body ? JointState(request, .ended, keepAlive) : nil
            case .peerClosed: return JointState(request, .closed, false)
            case .peerFailed: return JointState(request, .failed, false)
            }
        }
    }

    @Test func everyTransitionMatchesTheTable() {
        var seen: Set<JointState> = [JointState(ExchangeStates())]
        var queue = [ExchangeStates()]
        var steps = 0
        while let states = queue.popLast() {
            var withoutReuse = states
            withoutReuse.forbidReuse()
            #expect(!withoutReuse.maySendRequest || JointState(withoutReuse).response == .idle)
            if seen.insert(JointState(withoutReuse)).inserted { queue.append(withoutReuse) }
            for event in Self.events {
                guard let expected = JointState(states).after(event) else { continue }
                var next = states
                next.handle(event)
                steps += 1
                #expect(JointState(next) == expected, "\(event) in \(JointState(states))")
                if seen.insert(JointState(next)).inserted { queue.append(next) }
            }
        }
        // Four states without a request, nine while it is being sent, nine after that. Three of the last nine allow reuse.
        #expect(seen.count == 22)
        #expect(steps > 60)
    }

    @Test func aRequestMayBeginInitiallyAndAfterAWholeExchange() {
        var states = ExchangeStates()
        #expect(states.maySendRequest)
        for event in [ExchangeStates.Event.requestBegan, .headReceived, .bodyEnded] {
            states.handle(event)
            #expect(!states.maySendRequest, "after \(event)")
        }
        states.handle(.requestEnded)
        #expect(states.maySendRequest)
        states.handle(.requestBegan)
        #expect(!states.maySendRequest)
        states.forbidReuse()
        states.handle(.requestEnded)
        states.handle(.headReceived)
        states.handle(.bodyEnded)
        #expect(!states.maySendRequest)
    }
}
