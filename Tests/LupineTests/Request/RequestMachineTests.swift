// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// Sends every event to a `RequestMachine` in every state and phase that it can reach.
struct RequestMachineTests {
    private typealias State = Request.State
    private typealias Phase = RequestMachine.Phase
    private typealias Action = RequestMachine.Action
    private typealias Event = RequestMachine.Event

    /// A phase without its number.
    private enum Stage: CaseIterable {
        case idle, preparing, loading, retrierDeciding, retryPending, finishing, over

        init(_ phase: Phase) {
            self =
                switch phase {
                case .idle: .idle
                case .preparing: .preparing
                case .loading: .loading
                case .retrierDeciding: .retrierDeciding
                case .retryPending: .retryPending
                case .finishing: .finishing
                case .over: .over
                }
        }
    }

    /// The result of an event; nil leaves the state or stage unchanged.
    private struct Outcome {
        var action = Action.ignore
        var state: State?
        var stage: Stage?
    }

    private static let alive: [State] = [.initialized, .resumed, .suspended]

    private static let events: [Event] =
        [.none, .live, .completed].flatMap { status in
            [.resume(status), .suspend(status), .cancel(status)] as [Event]
        } + [
            .finishCancellation, .handlerAdded, .beginFirstAttempt, .taskCreated, .attemptFailed,
            .serializerFailed,
            .retryGranted(1), .retryRefused(1), .serializerRetryRefused(1), .retryGranted(9),
            .retryRefused(9), .serializerRetryRefused(9),
            .beginRetry, .finish, .serializersFinished,
        ]

    /// Returns the expected outcome: the whole table, by event.
    private static func expected(_ event: Event, _ state: State, _ stage: Stage) -> Outcome {
        let isAlive = alive.contains(state)
        switch event {
        case .resume(let task):
            guard state == .initialized || state == .suspended else { return Outcome() }
            switch task {
            case .none: return Outcome(action: .prepareFirstAttempt, state: .resumed)
            case .live: return Outcome(action: .resumeTask, state: .resumed)
            case .completed: return Outcome(action: .accept, state: .resumed)
            }
        case .suspend(let task):
            guard state == .initialized || state == .resumed else { return Outcome() }
            return Outcome(action: task == .live ? .suspendTask : .accept, state: .suspended)
        case .cancel(let task):
            guard isAlive else { return Outcome() }
            let hasTask = task == .live && [.loading, .finishing, .over].contains(stage)
            return Outcome(action: hasTask ? .cancelTask : .cancelWithoutTask, state: .cancelled)
        case .finishCancellation:
            guard [.idle, .preparing, .retrierDeciding, .retryPending].contains(stage) else {
                return Outcome()
            }
            return Outcome(action: .beginPass, stage: .finishing)
        case .handlerAdded:
            if stage == .over {
                return Outcome(
                    action: .beginLatePass, state: state == .finished ? .resumed : nil, stage: .finishing)
            }
            return Outcome(
                action: state == .initialized || state == .suspended ? .resumeIfAutomatic : .ignore)
        case .beginFirstAttempt:
            guard stage == .idle, state != .cancelled else { return Outcome() }
            return Outcome(action: .proceed, stage: .preparing)
        case .beginRetry:
            guard stage == .retryPending, state != .cancelled else { return Outcome() }
            return Outcome(action: .proceed, stage: .preparing)
        case .taskCreated:
            guard stage == .preparing else { return Outcome(action: .cancelTask) }
            switch state {
            case .initialized, .finished: return Outcome(action: .accept, stage: .loading)
            case .resumed: return Outcome(action: .resumeTask, stage: .loading)
            case .suspended: return Outcome(action: .suspendTask, stage: .loading)
            case .cancelled: return Outcome(action: .cancelTask, stage: .loading)
            }
        case .attemptFailed:
            switch stage {
            case .preparing where state == .cancelled: return Outcome()
            case .loading where state == .cancelled: return Outcome(action: .proceed)
            case .preparing, .loading: return Outcome(action: .askRetrier(1), stage: .retrierDeciding)
            case .idle, .retrierDeciding, .retryPending, .finishing, .over: return Outcome()
            }
        case .serializerFailed:
            guard stage == .finishing else { return Outcome() }
            if state == .cancelled { return Outcome(action: .proceed) }
            return Outcome(action: .askRetrier(1), stage: .retrierDeciding)
        case .retryGranted(let number): return answer(number, state, stage, .retryPending)
        case .retryRefused(let number): return answer(number, state, stage, .loading)
        case .serializerRetryRefused(let number): return answer(number, state, stage, .finishing)
        case .finish:
            guard stage != .finishing, stage != .over else { return Outcome() }
            return Outcome(action: .beginPass, stage: .finishing)
        case .serializersFinished:
            guard stage == .finishing else { return Outcome() }
            return Outcome(action: .proceed, state: isAlive ? .finished : nil, stage: .over)
        }
    }

    private static func answer(_ number: Int, _ state: State, _ stage: Stage, _ next: Stage) -> Outcome {
        guard stage == .retrierDeciding, number == 1, state != .cancelled else { return Outcome() }
        return Outcome(action: .proceed, stage: next)
    }

    /// Returns the machines that events can reach. Questions are numbered from 1 in each, so that one table covers any number
    /// of retries.
    private static func reachable() -> [RequestMachine] {
        var found: [RequestMachine] = []
        var waiting = [RequestMachine()]
        while let machine = waiting.popLast() {
            let isKnown = found.contains { $0.state == machine.state && $0.phase == machine.phase }
            if isKnown { continue }
            found.append(machine)
            // Only the first question is asked, so that its number is 1.
            let skipsQuestions = machine.phase == .retryPending || found.count > 200
            for event in events where !skipsQuestions || !event.isQuestion {
                var next = machine
                _ = next.receive(event)
                if case .retrierDeciding(let number) = next.phase, number != 1 { continue }
                waiting.append(next)
            }
        }
        return found
    }

    @Test(
        "[R-1, R-2, R-3, R-4, R-20, R-26, R-35, R-40, R-44, R-45] every transition is the one in the table"
    )
    func table() {
        let machines = Self.reachable()
        #expect(machines.count >= 26)
        for stage in Stage.allCases {
            #expect(machines.contains { Stage($0.phase) == stage }, "\(stage) is not reached")
        }
        for machine in machines {
            for event in Self.events {
                var next = machine
                let action = next.receive(event)
                let expected = Self.expected(event, machine.state, Stage(machine.phase))
                let context = Comment("\(event) in \(machine.state), \(machine.phase)")
                if case .askRetrier = expected.action {
                    guard case .askRetrier(let number) = action, next.phase == .retrierDeciding(number) else {
                        Issue.record("no retrier is asked: \(event) in \(machine)")
                        continue
                    }
                } else {
                    #expect(action == expected.action, context)
                }
                #expect(next.state == expected.state ?? machine.state, context)
                #expect(Stage(next.phase) == expected.stage ?? Stage(machine.phase), context)
            }
        }
    }

    @Test("[R-1] no event leads back to the first state, and a cancelled request stays cancelled")
    func states() {
        for machine in Self.reachable() {
            for event in Self.events {
                var next = machine
                _ = next.receive(event)
                if machine.state != .initialized { #expect(next.state != .initialized) }
                if machine.state == .cancelled { #expect(next.state == .cancelled) }
            }
        }
    }

    @Test("[I-1.24] an answer is accepted once, and only to the latest question")
    func answers() {
        var machine = RequestMachine()
        #expect(machine.receive(.resume(.none)) == .prepareFirstAttempt)
        #expect(machine.receive(.beginFirstAttempt) == .proceed)
        #expect(machine.receive(.attemptFailed) == .askRetrier(1))
        #expect(machine.receive(.retryGranted(1)) == .proceed)
        #expect(machine.receive(.retryGranted(1)) == .ignore)
        #expect(machine.receive(.beginRetry) == .proceed)
        #expect(machine.receive(.beginRetry) == .ignore)
        #expect(machine.receive(.attemptFailed) == .askRetrier(2))
        #expect(machine.receive(.retryRefused(1)) == .ignore)
        #expect(machine.receive(.retryGranted(1)) == .ignore)
        #expect(machine.receive(.retryRefused(2)) == .proceed)
        #expect(machine.receive(.finish) == .beginPass)
    }

    @Test("[R-35] a request that is cancelled while a retry is decided or pending has its pass")
    func cancelledRetries() {
        for machine in Self.reachable()
        where [.retrierDeciding, .retryPending].contains(Stage(machine.phase)) {
            var next = machine
            guard next.receive(.cancel(.completed)) == .cancelWithoutTask else { continue }
            for event in Self.events {
                if case .finishCancellation = event { continue }
                var late = next
                if case .beginPass = late.receive(event) { continue }
                #expect(late.receive(.finishCancellation) == .beginPass, "\(event) in \(machine)")
            }
        }
    }
}

extension RequestMachine.Event {
    /// Whether the event may lead to a question to a retrier.
    fileprivate var isQuestion: Bool {
        switch self {
        case .attemptFailed, .serializerFailed: true
        default: false
        }
    }
}
