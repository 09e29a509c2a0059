// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import Testing

/// Tests of the closing handshake (RFC 6455 §7): every event in every state.
@Suite struct WebSocketClosingTests {
    typealias Event = WebSocketClosing.Event
    typealias Actions = WebSocketClosing.Actions
    typealias State = WebSocketClosing.State

    struct Row: CustomTestStringConvertible {
        let title: String
        var role = WebSocketRole.client
        /// The events that lead to the initial state.
        var before: [Event] = []
        let event: Event
        /// The expected state and actions after `event`.
        let state: State
        let actions: Actions

        var testDescription: String { title }
    }

    static func closure(_ code: WebSocketCloseCode, _ reason: String = "") throws -> WebSocketCloseFrame {
        try WebSocketCloseFrame(code, reason: Array(reason.utf8))
    }

    static func rows() throws -> [Row] {
        let localClosure = try closure(.normal, "done")
        let peerClosure = try closure(.goingAway, "bye")
        let error = WebSocketError.messageTooBig(limit: 1)
        let closing: [Event] = [.close(localClosure)]
        let draining: [Event] = [.received(peerClosure)]
        let closed: [Event] = [.ended]
        return [
            Row(
                title: "a local close starts the timer", event: .close(localClosure),
                state: .closing(sent: localClosure),
                actions: Actions(frame: localClosure, timer: .start)),
            Row(
                title: "the peer closes: a client answers, and waits for the server to close the connection",
                event: .received(peerClosure), state: .draining,
                actions: Actions(
                    frame: try closure(.goingAway), timer: .start, outcome: .peerClosed(peerClosure))),
            Row(
                title: "the peer closes: a server answers, and closes the connection", role: .server,
                event: .received(peerClosure), state: .draining,
                actions: Actions(
                    frame: try closure(.goingAway), connection: .closeWhenSent, timer: .start,
                    outcome: .peerClosed(peerClosure))),
            Row(
                title: "an empty close is answered by an empty one", event: .received(.empty),
                state: .draining,
                actions: Actions(frame: .empty, timer: .start, outcome: .peerClosed(.empty))),
            Row(
                title: "a message that is too big is answered with 1009", event: .failed(error),
                state: .draining,
                actions: Actions(
                    frame: try closure(.messageTooBig), connection: .closeWhenSent, timer: .start,
                    outcome: .failed(error))),
            Row(
                title: "[U-8.5] broken text is answered with 1007", event: .failed(.invalidUTF8(offset: 0)),
                state: .draining,
                actions: Actions(
                    frame: try closure(.invalidPayload), connection: .closeWhenSent, timer: .start,
                    outcome: .failed(.invalidUTF8(offset: 0)))),
            Row(
                title: "[U-8.5] a broken protocol is answered with 1002", event: .failed(.maskedFrame),
                state: .draining,
                actions: Actions(
                    frame: try closure(.protocolError), connection: .closeWhenSent, timer: .start,
                    outcome: .failed(.maskedFrame))),
            Row(
                title: "the connection is lost", event: .ended, state: .closed,
                actions: Actions(connection: .close, outcome: .lost)),
            Row(
                title: "only the first local close is sent", before: closing, event: .close(peerClosure),
                state: .closing(sent: localClosure),
                actions: Actions()),
            Row(
                title: "the peer answers a client", before: closing, event: .received(peerClosure),
                state: .draining,
                actions: Actions(outcome: .locallyClosed(localClosure, answer: peerClosure))),
            Row(
                title: "the peer answers a server", role: .server, before: closing,
                event: .received(peerClosure),
                state: .draining,
                actions: Actions(
                    connection: .closeWhenSent, outcome: .locallyClosed(localClosure, answer: peerClosure))),
            Row(
                title: "a protocol error after the local close frame gets no second one", before: closing,
                event: .failed(error), state: .draining,
                actions: Actions(connection: .closeWhenSent, outcome: .failed(error))),
            Row(
                title: "the connection ends instead of an answer", before: closing, event: .ended,
                state: .closed,
                actions: Actions(
                    connection: .close, timer: .cancel, outcome: .locallyClosed(localClosure, answer: nil))),
            Row(
                title: "no answer comes in time", before: closing, event: .timedOut, state: .closed,
                actions: Actions(connection: .close, outcome: .locallyClosed(localClosure, answer: nil))),
            Row(
                title: "a local close is ignored once both close frames are sent", before: draining,
                event: .close(localClosure), state: .draining,
                actions: Actions()),
            Row(
                title: "a failure is ignored once both close frames are sent", before: draining,
                event: .failed(error), state: .draining,
                actions: Actions()),
            Row(
                title: "the server closes after both close frames", before: draining, event: .ended,
                state: .closed,
                actions: Actions(connection: .close, timer: .cancel)),
            Row(
                title: "the server does not close after both close frames", before: draining,
                event: .timedOut,
                state: .closed, actions: Actions(connection: .close)),
            Row(
                title: "a local close is ignored once closed", before: closed, event: .close(localClosure),
                state: .closed,
                actions: Actions()),
            Row(
                title: "a failure is ignored once closed", before: closed, event: .failed(error),
                state: .closed,
                actions: Actions()),
            Row(
                title: "a second end is ignored once closed", before: closed, event: .ended, state: .closed,
                actions: Actions()),
        ]
    }

    @Test(arguments: try rows()) func transitions(_ row: Row) {
        var closing = WebSocketClosing(row.role)
        for event in row.before { _ = closing.handle(event) }
        #expect(closing.handle(row.event) == row.actions)
        #expect(closing.state == row.state)
    }

    /// Checks that events in any order lead to one outcome and at most one close frame, and that a timer limits every state that
    /// waits for the peer.
    @Test(arguments: 0..<200) func anyOrderEndsOnce(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let role = WebSocketRole.allCases[seed % 2]
        var closing = WebSocketClosing(role)
        var frames = 0
        var outcomes = 0
        var isTimerRunning = false
        var peerHasClosed = false
        for _ in 0..<40 where closing.state != .closed {
            let event: Event
            switch random.next() % 6 {
            case 0: event = .close(try Self.closure(.normal))
            case 1 where !peerHasClosed && closing.state != .draining:
                peerHasClosed = true
                event = .received(.empty)
            case 2: event = .failed(.maskedFrame)
            case 3 where isTimerRunning:
                isTimerRunning = false
                event = .timedOut
            case 4: event = .ended
            default: continue
            }
            let actions = closing.handle(event)
            if actions.frame != nil { frames += 1 }
            if actions.outcome != nil { outcomes += 1 }
            switch actions.timer {
            case .start: isTimerRunning = true
            case .cancel: isTimerRunning = false
            case .keep: break
            }
            #expect(isTimerRunning == (closing.state != .open && closing.state != .closed))
        }
        #expect(frames <= 1)
        if closing.state == .open { #expect(outcomes == 0) }
        if closing.state == .closed { #expect(outcomes == 1) }
        #expect(outcomes <= 1)
    }
}
