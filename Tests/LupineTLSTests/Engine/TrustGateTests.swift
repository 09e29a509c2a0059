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
            (.chain(comesWithStaple: true), .wait, .stopped),
            (.chain(comesWithStaple: true), .wait, .stopped),
            (.wantsToAnswer, .wait, .stopped),
            (.answer(.success(())), .proceed, .accepted),
            (.chain(comesWithStaple: true), .proceed, .accepted),
            (.wantsToAnswer, .proceed, .accepted),
            (.resumedWithoutChain, .proceed, .accepted),
        ])
        walk([
            (.chain(comesWithStaple: true), .wait, .stopped),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .stopped)),
            (.chain(comesWithStaple: true), .refuse(no), .refused(no, from: .stopped)),
            (.wantsToAnswer, .refuse(no), .refused(no, from: .stopped)),
        ])
    }

    @Test func heldBeforeTheAnswer() {
        walk([
            (.chain(comesWithStaple: false), .proceed, .readingFlight),
            (.wantsToAnswer, .wait, .flightRead),
            (.wantsToAnswer, .wait, .flightRead),
            (.answer(.success(())), .proceed, .accepted),
        ])
        walk([
            (.chain(comesWithStaple: false), .proceed, .readingFlight),
            (.wantsToAnswer, .wait, .flightRead),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .flightRead)),
            (.resumedWithoutChain, .refuse(no), .refused(no, from: .flightRead)),
        ])
    }

    @Test func resumed() {
        walk([
            (.wantsToAnswer, .proceed, .noChain),
            (.resumedWithoutChain, .wait, .resumed),
            (.wantsToAnswer, .proceed, .resumed),
            (.answer(.success(())), .proceed, .accepted),
        ])
        walk([
            (.resumedWithoutChain, .wait, .resumed),
            (.answer(.failure(no)), .refuse(no), .refused(no, from: .resumed)),
        ])
    }

    @Test func aChainTooManyIsRefused() {
        for first in [TrustGate.Event.chain(comesWithStaple: false), .resumedWithoutChain] {
            for second in [TrustGate.Event.chain(comesWithStaple: true), .resumedWithoutChain] {
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
        #expect(!gate.isAsking && !gate.allowsOnlyAlerts)
        _ = gate.handle(.chain(comesWithStaple: false))
        #expect(!gate.isAsking && gate.allowsOnlyAlerts)
        _ = gate.handle(.wantsToAnswer)
        #expect(gate.isAsking && gate.allowsOnlyAlerts)
        _ = gate.handle(.answer(.failure(no)))
        #expect(!gate.isAsking && gate.allowsOnlyAlerts)
    }
}
