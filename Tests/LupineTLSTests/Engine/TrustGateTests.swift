// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct TrustGateTests {
    private typealias Step = (event: TrustGate.Event, advice: TrustGate.Advice, state: TrustGate.State)

    private func walk(_ steps: [Step]) {
        var gate = TrustGate()
        for (index, step) in steps.enumerated() {
            #expect(gate.handle(step.event) == step.advice, "step \(index)")
            #expect(gate.state == step.state, "step \(index)")
        }
    }

    private let no = TrustFailure.noPins

    @Test func stoppedAtTheChain() {
        walk([
            (.chain(includesStaple: true), .wait, .stopped),
            (.chain(includesStaple: true), .wait, .stopped),
            (.wantsToSend, .wait, .stopped),
            (.answer(.success(())), .proceed, .accepted),
            (.chain(includesStaple: true), .proceed, .accepted),
            (.wantsToSend, .proceed, .accepted),
            (.resumedWithoutChain, .proceed, .accepted),
        ])
        walk([
            (.chain(includesStaple: true), .wait, .stopped),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .stopped)),
            (.chain(includesStaple: true), .refuse(no), .refused(no, from: .stopped)),
            (.wantsToSend, .refuse(no), .refused(no, from: .stopped)),
        ])
    }

    @Test func heldBeforeTheAnswer() {
        walk([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.wantsToSend, .wait, .flightRead),
            (.answer(.success(())), .proceed, .accepted),
        ])
        walk([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .flightRead)),
            (.resumedWithoutChain, .refuse(no), .refused(no, from: .flightRead)),
        ])
    }

    @Test func resumed() {
        walk([
            (.wantsToSend, .proceed, .noChain),
            (.resumedWithoutChain, .wait, .resumed),
            (.wantsToSend, .proceed, .resumed),
            (.answer(.success(())), .proceed, .accepted),
        ])
        walk([
            (.resumedWithoutChain, .wait, .resumed),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .resumed)),
        ])
    }

    @Test func aChainTooManyIsRefused() {
        for first in [TrustGate.Event.chain(includesStaple: false), .resumedWithoutChain] {
            for second in [TrustGate.Event.chain(includesStaple: true), .resumedWithoutChain] {
                var gate = TrustGate()
                _ = gate.handle(first)
                guard case .refuse = gate.handle(second) else {
                    Issue.record("taken")
                    continue
                }
            }
        }
    }

    @Test func whatIsAskedAndWhatIsHeld() {
        var gate = TrustGate()
        #expect(!gate.needsAnswer && !gate.allowsOnlyAlerts)
        _ = gate.handle(.chain(includesStaple: false))
        #expect(!gate.needsAnswer && gate.allowsOnlyAlerts)
        _ = gate.handle(.wantsToSend)
        #expect(gate.needsAnswer && gate.allowsOnlyAlerts)
        _ = gate.handle(.answer(.failure(no)))
        #expect(!gate.needsAnswer && gate.allowsOnlyAlerts)
    }
}
