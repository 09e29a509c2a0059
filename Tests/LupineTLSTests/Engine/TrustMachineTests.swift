// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct TrustMachineTests {
    private typealias Step = (
        event: TrustMachine.Event, advice: TrustMachine.Advice, state: TrustMachine.State
    )

    private func check(_ steps: [Step]) {
        var machine = TrustMachine()
        for (index, step) in steps.enumerated() {
            #expect(machine.handle(step.event) == step.advice, "step \(index)")
            #expect(machine.state == step.state, "step \(index)")
        }
    }

    private let failure = TrustFailure.noPins

    @Test func handshakeStopsAtTheChain() {
        check([
            (.chain(includesStaple: true), .wait, .stopped),
            (.chain(includesStaple: true), .wait, .stopped),
            (.wantsToSend, .wait, .stopped),
            (.verdict(.success(())), .proceed, .accepted),
            (.chain(includesStaple: true), .proceed, .accepted),
            (.wantsToSend, .proceed, .accepted),
            (.resumedWithoutChain, .proceed, .accepted),
        ])
        check([
            (.chain(includesStaple: true), .wait, .stopped),
            (.verdict(.failure(failure)), .refuse(failure), .refused(failure, from: .stopped)),
            (.chain(includesStaple: true), .refuse(failure), .refused(failure, from: .stopped)),
            (.wantsToSend, .refuse(failure), .refused(failure, from: .stopped)),
        ])
    }

    @Test func handshakeStopsBeforeTheClientAnswers() {
        check([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.wantsToSend, .wait, .flightRead),
            (.verdict(.success(())), .proceed, .accepted),
        ])
        check([
            (.chain(includesStaple: false), .proceed, .readingFlight),
            (.wantsToSend, .wait, .flightRead),
            (.verdict(.failure(failure)), .refuse(failure), .refused(failure, from: .flightRead)),
            (.resumedWithoutChain, .refuse(failure), .refused(failure, from: .flightRead)),
        ])
    }

    @Test func resumed() {
        check([
            (.wantsToSend, .proceed, .noChain),
            (.resumedWithoutChain, .wait, .resumed),
            (.wantsToSend, .proceed, .resumed),
            (.verdict(.success(())), .proceed, .accepted),
        ])
        check([
            (.resumedWithoutChain, .wait, .resumed),
            (.verdict(.failure(failure)), .refuse(failure), .refused(failure, from: .resumed)),
        ])
    }

    @Test func aSecondChainIsRefused() {
        for first in [TrustMachine.Event.chain(includesStaple: false), .resumedWithoutChain] {
            for second in [TrustMachine.Event.chain(includesStaple: true), .resumedWithoutChain] {
                var machine = TrustMachine()
                _ = machine.handle(first)
                guard case .refuse = machine.handle(second) else {
                    Issue.record("the second chain was accepted")
                    continue
                }
            }
        }
    }

    @Test func needsVerdictAndAllowsOnlyAlerts() {
        var machine = TrustMachine()
        #expect(!machine.needsVerdict && !machine.allowsOnlyAlerts)
        _ = machine.handle(.chain(includesStaple: false))
        #expect(!machine.needsVerdict && machine.allowsOnlyAlerts)
        _ = machine.handle(.wantsToSend)
        #expect(machine.needsVerdict && machine.allowsOnlyAlerts)
        _ = machine.handle(.verdict(.failure(failure)))
        #expect(!machine.needsVerdict && machine.allowsOnlyAlerts)
    }
}
