// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct TrustGateTests {
    private typealias Step = (event: TrustGate.Event, advice: TrustGate.Advice, state: TrustGate.State)

    private func check(_ steps: [Step]) {
        var gate = TrustGate()
        for (index, step) in steps.enumerated() {
            #expect(gate.handle(step.event) == step.advice, "step \(index)")
            #expect(gate.state == step.state, "step \(index)")
        }
    }

    private let failure = TrustFailure.noPins

    @Test func handshakeStopsAtTheChain() {
        check([
            (.chain(includesStaple: true), .wait, .stopped),
            (.chain(includesStaple: true), .wait, .stopped),
            (.wantsToSend, .wait, .stopped),
            (.answer(.success(())), .proceed, .accepted),
            (.chain(includesStaple: true), .proceed, .accepted),
            (.wantsToSend, .proceed, .accepted),
            (.resumedWithoutChain, .proceed, .accepted),
        ])
        check([
            (.chain(includesStaple: true), .wait, .stopped),
            (.answer(.failure(failure)), .refuse(failure), .refused(failure, from: .stopped)),
            (.chain(includesStaple: true), .refuse(failure), .refused(failure, from: .stopped)),
            (.wantsToSend, .refuse(failure), .refused(failure, from: .stopped)),
        ])
    }

    @Test func handshakeStopsBeforeTheClientAnswers() {
        check([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.wantsToSend, .wait, .flightRead),
            (.answer(.success(())), .proceed, .accepted),
        ])
        check([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.answer(.failure(failure)), .refuse(failure), .refused(failure, from: .flightRead)),
            (.resumedWithoutChain, .refuse(failure), .refused(failure, from: .flightRead)),
        ])
    }

    @Test func resumed() {
        check([
            (.wantsToSend, .proceed, .noChain),
            (.resumedWithoutChain, .wait, .resumed),
            (.wantsToSend, .proceed, .resumed),
            (.answer(.success(())), .proceed, .accepted),
        ])
        check([
            (.resumedWithoutChain, .wait, .resumed),
            (.answer(.failure(failure)), .refuse(failure), .refused(failure, from: .resumed)),
        ])
    }

    @Test func aSecondChainIsRefused() {
        for first in [TrustGate.Event.chain(includesStaple: false), .resumedWithoutChain] {
            for second in [TrustGate.Event.chain(includesStaple: true), .resumedWithoutChain] {
                var gate = TrustGate()
                _ = gate.handle(first)
                guard case .refuse = gate.handle(second) else {
                    Issue.record("the second chain was accepted")
                    continue
                }
            }
        }
    }

    @Test func needsAnswerAndAllowsOnlyAlerts() {
        var gate = TrustGate()
        #expect(!gate.needsAnswer && !gate.allowsOnlyAlerts)
        _ = gate.handle(.chain(includesStaple: false))
        #expect(!gate.needsAnswer && gate.allowsOnlyAlerts)
        _ = gate.handle(.wantsToSend)
        #expect(gate.needsAnswer && gate.allowsOnlyAlerts)
        _ = gate.handle(.answer(.failure(failure)))
        #expect(!gate.needsAnswer && gate.allowsOnlyAlerts)
    }
}
