// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests of the closing handshake: every event in every state.
@Suite struct WebSocketClosingTests {
    typealias Event = WebSocketClosing.Event
    typealias Actions = WebSocketClosing.Actions
    typealias State = WebSocketClosing.State

    struct Row: CustomTestStringConvertible {
        let shows: String
        var role = WebSocketRole.client
        var before: [Event] = []
        let event: Event
        let state: State
        let actions: Actions

        var testDescription: String { shows }
    }

    static func closure(_ code: WebSocketCloseCode, _ reason: String = "") throws -> WebSocketClosure {
        try WebSocketClosure(code, reason: Array(reason.utf8))
    }

    static func rows() throws -> [Row] {
        let ours = try closure(.normal, "done")
        let theirs = try closure(.goingAway, "bye")
        let error = WebSocketError.messageTooBig(limit: 1)
        let closing: [Event] = [.close(ours)]
        let draining: [Event] = [.received(theirs)]
        let closed: [Event] = [.ended]
        return [
            Row(
                shows: "we close, and wait", event: .close(ours), state: .closing(sent: ours),
                actions: Actions(frame: ours, timer: .start)),
            Row(
                shows: "the peer closes: a client answers, and leaves the connection to the server",
                event: .received(theirs), state: .draining,
                actions: Actions(
                    frame: try closure(.goingAway), timer: .start, outcome: .peerClosed(theirs))),
            Row(
                shows: "the peer closes: a server answers, and closes the connection", role: .server,
                event: .received(theirs), state: .draining,
                actions: Actions(
                    frame: try closure(.goingAway), wire: .closeWhenSent, timer: .start,
                    outcome: .peerClosed(theirs))),
            Row(
                shows: "an empty close is answered by one", event: .received(.empty), state: .draining,
                actions: Actions(frame: .empty, timer: .start, outcome: .peerClosed(.empty))),
            Row(
                shows: "a message that is too big is answered with 1009", event: .failed(error),
                state: .draining,
                actions: Actions(
                    frame: try closure(.messageTooBig), wire: .closeWhenSent, timer: .start,
                    outcome: .failed(error))),
            Row(
                shows: "[U-8.5] broken text is answered with 1007", event: .failed(.invalidUTF8(offset: 0)),
                state: .draining,
                actions: Actions(
                    frame: try closure(.invalidPayload), wire: .closeWhenSent, timer: .start,
                    outcome: .failed(.invalidUTF8(offset: 0)))),
            Row(
                shows: "[U-8.5] a broken protocol is answered with 1002", event: .failed(.maskedFrame),
                state: .draining,
                actions: Actions(
                    frame: try closure(.protocolError), wire: .closeWhenSent, timer: .start,
                    outcome: .failed(.maskedFrame))),
            Row(
                shows: "the connection is lost", event: .ended, state: .closed,
                actions: Actions(wire: .close, outcome: .lost)),
            Row(
                shows: "we close once", before: closing, event: .close(theirs), state: .closing(sent: ours),
                actions: Actions()),
            Row(
                shows: "a client is answered", before: closing, event: .received(theirs),
                state: .draining,
                actions: Actions(outcome: .locallyClosed(ours, answer: theirs))),
            Row(
                shows: "a server is answered", role: .server, before: closing, event: .received(theirs),
                state: .draining,
                actions: Actions(wire: .closeWhenSent, outcome: .locallyClosed(ours, answer: theirs))),
            Row(
                shows: "a broken protocol behind our close frame gets no second one", before: closing,
                event: .failed(error), state: .draining,
                actions: Actions(wire: .closeWhenSent, outcome: .failed(error))),
            Row(
                shows: "the connection ends instead of an answer", before: closing, event: .ended,
                state: .closed,
                actions: Actions(wire: .close, timer: .cancel, outcome: .locallyClosed(ours, answer: nil))),
            Row(
                shows: "no answer comes in time", before: closing, event: .timedOut, state: .closed,
                actions: Actions(wire: .close, outcome: .locallyClosed(ours, answer: nil))),
            Row(
                shows: "all is said: no close", before: draining, event: .close(ours), state: .draining,
                actions: Actions()),
            Row(
                shows: "all is said: no failure", before: draining, event: .failed(error), state: .draining,
                actions: Actions()),
            Row(
                shows: "all is said, and the server closes", before: draining, event: .ended, state: .closed,
                actions: Actions(wire: .close, timer: .cancel)),
            Row(
                shows: "all is said, and the server does not close", before: draining, event: .timedOut,
                state: .closed, actions: Actions(wire: .close)),
            Row(
                shows: "it is over: no close", before: closed, event: .close(ours), state: .closed,
                actions: Actions()),
            Row(
                shows: "it is over: no failure", before: closed, event: .failed(error), state: .closed,
                actions: Actions()),
            Row(
                shows: "it is over: no second end", before: closed, event: .ended, state: .closed,
                actions: Actions()),
        ]
    }

    @Test(arguments: try rows()) func moves(_ row: Row) {
        var closing = WebSocketClosing(row.role)
        for event in row.before { _ = closing.handle(event) }
        #expect(closing.handle(row.event) == row.actions)
        #expect(closing.state == row.state)
    }

    /// Checks that events in any order lead to one outcome and at most one close frame, with a timer in every state that waits.
    @Test(arguments: 0..<200) func anyOrderEndsOnce(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let role = WebSocketRole.allCases[seed % 2]
        var closing = WebSocketClosing(role)
        var frames = 0
        var outcomes = 0
        var timerRuns = false
        var theirsCame = false
        for _ in 0..<40 where closing.state != .closed {
            let event: Event
            switch random.next() % 6 {
            case 0: event = .close(try Self.closure(.normal))
            case 1 where !theirsCame && closing.state != .draining:
                theirsCame = true
                event = .received(.empty)
            case 2: event = .failed(.maskedFrame)
            case 3 where timerRuns:
                timerRuns = false
                event = .timedOut
            case 4: event = .ended
            default: continue
            }
            let actions = closing.handle(event)
            if actions.frame != nil { frames += 1 }
            if actions.outcome != nil { outcomes += 1 }
            switch actions.timer {
            case .start: timerRuns = true
            case .cancel: timerRuns = false
            case .keep: break
            }
            #expect(timerRuns == (closing.state != .open && closing.state != .closed))
        }
        #expect(frames <= 1)
        #expect(outcomes == (closing.state == .open ? 0 : closing.state == .closed ? 1 : outcomes))
        #expect(outcomes <= 1)
    }
}
