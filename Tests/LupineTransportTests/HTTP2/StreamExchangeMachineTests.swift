// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// Every transition of an exchange on its stream.
@Suite struct StreamExchangeMachineTests {
    typealias Machine = StreamExchangeMachine

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Events that lead to the state, then the one under test.
        let events: [Machine.Event]
        let state: Machine.State
        var actions = Machine.Actions()
    }

    static let receiving: [Machine.Event] = [.requestSent, .headReceived]
    static let paused = receiving + [.pause]
    static let enough = receiving + [.enough]

    static let rows = [
        Row(
            testDescription: "held content", events: [.hold],
            state: .exchanging(.awaitingContinue, .awaitingHead)),
        Row(
            testDescription: "held content is released", events: [.hold, .release],
            state: .exchanging(.sending, .awaitingHead), actions: .init(releasesContent: true)),
        Row(
            testDescription: "a second release has no effect", events: [.hold, .release, .release],
            state: .exchanging(.sending, .awaitingHead)),
        Row(
            testDescription: "a final answer to held content", events: [.hold, .headReceived],
            state: .exchanging(.awaitingContinue, .receiving)),
        Row(testDescription: "sent", events: [.requestSent], state: .exchanging(.sent, .awaitingHead)),
        Row(testDescription: "the head", events: receiving, state: .exchanging(.sent, .receiving)),
        Row(testDescription: "paused", events: paused, state: .exchanging(.sent, .paused)),
        Row(
            testDescription: "sent while paused", events: [.headReceived, .pause, .requestSent],
            state: .exchanging(.sent, .paused)),
        Row(testDescription: "resumed", events: paused + [.resume], state: .exchanging(.sent, .receiving)),
        Row(
            testDescription: "resumed without a pause", events: receiving + [.resume],
            state: .exchanging(.sent, .receiving)),
        Row(
            testDescription: "paused before the head", events: [.pause],
            state: .exchanging(.sending, .awaitingHead)),
        Row(
            testDescription: "the end", events: receiving + [.responseEnded], state: .over,
            actions: .init(exchange: .succeed)),
        Row(
            testDescription: "an early end", events: [.headReceived, .responseEnded], state: .over,
            actions: .init(exchange: .succeed)),
        Row(
            testDescription: "the end of a turn", events: receiving + [.turnEnded],
            state: .exchanging(.sent, .receiving)),
        Row(testDescription: "enough", events: enough, state: .skipping),
        Row(
            testDescription: "enough, and the response ends in the same turn",
            events: enough + [.responseEnded],
            state: .over, actions: .init(exchange: .succeed)),
        Row(
            testDescription: "enough, and the turn ends first", events: enough + [.turnEnded],
            state: .over, actions: .init(exchange: .succeed)),
        Row(
            testDescription: "enough, and the stream breaks", events: enough + [.broken], state: .over,
            actions: .init(exchange: .succeed)),
        Row(
            testDescription: "enough, then cancelled", events: enough + [.cancel], state: .over,
            actions: .init(exchange: .fail)),
        Row(
            testDescription: "cancelled", events: [.cancel], state: .over, actions: .init(exchange: .fail)),
        Row(
            testDescription: "broken while paused", events: paused + [.broken], state: .over,
            actions: .init(exchange: .fail)),
    ]

    @Test(arguments: rows) func transition(_ row: Row) {
        var machine = Machine()
        var actions = Machine.Actions()
        for event in row.events { actions = machine.handle(event) }
        #expect(machine.state == row.state && actions == row.actions)
    }

    @Test(
        arguments: [
            .release, .resume, .requestSent, .pause, .enough, .turnEnded, .cancel, .broken,
        ] as [Machine.Event])
    func lateEventsHaveNoEffect(_ event: Machine.Event) {
        var machine = Machine()
        _ = machine.handle(.cancel)
        let actions = machine.handle(event)
        #expect(machine.state == .over && actions == Machine.Actions())
    }
}
