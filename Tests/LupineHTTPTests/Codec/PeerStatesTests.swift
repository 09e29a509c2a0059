// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of all reachable joint states: from the initial one, along every legal event.
@Suite struct PeerStatesTests {
    static let events: [PeerStates.Event] = [
        .requestBegan, .requestEnded, .headReceived, .handoverReceived, .bodyEnded, .peerClosed, .peerFailed,
    ]

    /// A joint state.
    struct Place: Hashable {
        let ours: PeerStates.Ours
        let theirs: PeerStates.Theirs
        let keepAlive: Bool

        init(_ states: PeerStates) {
            ours = states.ours
            theirs = states.theirs
            keepAlive = states.keepAlive
        }

        init(_ ours: PeerStates.Ours, _ theirs: PeerStates.Theirs, _ keepAlive: Bool) {
            self.ours = ours
            self.theirs = theirs
            self.keepAlive = keepAlive
        }

        /// Returns the state after `event` by the documented table; nil if the event cannot occur.
        func after(_ event: PeerStates.Event) -> Place? {
            switch event {
            case .requestBegan:
                let mayBegin = (ours == .idle && theirs == .idle) || (ours == .sent && theirs == .ended)
                return mayBegin && keepAlive ? Place(.sending, .head, true) : nil
            case .requestEnded: return ours == .sending ? Place(.sent, theirs, keepAlive) : nil
            case .headReceived: return theirs == .head ? Place(ours, .body, keepAlive) : nil
            case .handoverReceived: return theirs == .head ? Place(ours, .handedOver, false) : nil
            case .bodyEnded: return theirs == .body ? Place(ours, .ended, keepAlive) : nil
            case .peerClosed: return Place(ours, .closed, false)
            case .peerFailed: return Place(ours, .failed, false)
            }
        }
    }

    @Test func everyLegalStepLeadsWhereTheTableSays() {
        var seen: Set<Place> = [Place(PeerStates())]
        var queue = [PeerStates()]
        var steps = 0
        while let states = queue.popLast() {
            var last = states
            last.forbidReuse()
            #expect(!last.mayBegin || Place(last).theirs == .idle)
            if seen.insert(Place(last)).inserted { queue.append(last) }
            for event in Self.events {
                guard let expected = Place(states).after(event) else { continue }
                var next = states
                next.handle(event)
                steps += 1
                #expect(Place(next) == expected, "\(event) in \(Place(states))")
                if seen.insert(Place(next)).inserted { queue.append(next) }
            }
        }
        // Four without a request, nine while it is being sent, and nine after that, three of which may be reused.
        #expect(seen.count == 22)
        #expect(steps > 60)
    }

    @Test func aRequestMayBeginAtFirstAndAfterAWholeExchange() {
        var states = PeerStates()
        #expect(states.mayBegin)
        for event in [PeerStates.Event.requestBegan, .headReceived, .bodyEnded] {
            states.handle(event)
            #expect(!states.mayBegin, "after \(event)")
        }
        states.handle(.requestEnded)
        #expect(states.mayBegin)
        states.handle(.requestBegan)
        #expect(!states.mayBegin)
        states.forbidReuse()
        states.handle(.requestEnded)
        states.handle(.headReceived)
        states.handle(.bodyEnded)
        #expect(!states.mayBegin)
    }
}
