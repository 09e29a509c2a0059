// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the stream states of RFC 9113 §5.1: every event in every state, for both roles.
@Suite struct HTTP2StreamMachineTests {
    typealias Machine = HTTP2StreamMachine

    /// The states, which are the table's columns, with the events that lead to each in a client's and in a server's machine; nil
    /// if the role cannot have the state.
    ///
    /// `id` is idle, `rl` and `rr` are reserved (local, remote), `op` is open, `hl` and `hr` are half-closed (local, remote).
    /// `ce` is closed because both ends have ended the stream, `cs` by a reset sent, `cr` by a reset received.
    ///
    /// The client opens the stream, except for `rl` and `rr`, which the server promises: its stream is `rl`, the client's `rr`.
    static let columns: [(name: String, client: [Machine.Event]?, server: [Machine.Event]?)] = [
        ("id", [], []),
        ("rl", nil, [.send(.promised)]),
        ("rr", [.receive(.promised)], nil),
        ("op", [.send(.headers(endsStream: false))], [.receive(.headers(endsStream: false))]),
        (
            "hl", [.send(.headers(endsStream: true))],
            [.receive(.headers(endsStream: false)), .send(.headers(endsStream: true))]
        ),
        (
            "hr", [.send(.headers(endsStream: false)), .receive(.headers(endsStream: true))],
            [.receive(.headers(endsStream: true))]
        ),
        (
            "ce", [.send(.headers(endsStream: true)), .receive(.headers(endsStream: true))],
            [.receive(.headers(endsStream: true)), .send(.headers(endsStream: true))]
        ),
        (
            "cs", [.send(.headers(endsStream: false)), .send(.reset)],
            [.receive(.headers(endsStream: false)), .send(.reset)]
        ),
        (
            "cr", [.send(.headers(endsStream: false)), .receive(.reset)],
            [.receive(.headers(endsStream: false)), .receive(.reset)]
        ),
    ]

    static let frames: [String: Machine.Frame] = [
        "H": .headers(endsStream: false), "H+ES": .headers(endsStream: true), "D": .data(endsStream: false),
        "D+ES": .data(endsStream: true), "PP": .pushPromise, "promise": .promised, "RST": .reset,
        "WU": .windowUpdate, "PRIO": .priority,
    ]

    /// `=`: proceed, same state; a state's name: proceed, new state; `.`: ignore; `x`: may not be sent; `P`: connection error
    /// PROTOCOL_ERROR; `C`: connection error STREAM_CLOSED; `s`: stream error STREAM_CLOSED; `-`: no such state. The client's
    /// result is before the slash, the server's after it; without a slash, both are the same.
    static let table = """
                      id     rl     rr     op     hl     hr     ce     cs     cr
        send H        op/x   -/hr   x/-    =      x      =      x      x      x
        send H+ES     hl/x   -/ce   x/-    hl     x      ce     x      x      x
        send D        x      -/x    x/-    =      x      =      x      x      x
        send D+ES     x      -/x    x/-    hl     x      ce     x      x      x
        send PP       x      -/x    x/-    x/=    x      x/=    x      x      x
        send promise  x      -/x    x/-    x      x      x      x      x      x
        send RST      x      -/cs   cs/-   cs     cs     cs     x      x      cs
        send WU       x      -/x    =/-    =      =      =      x      x      x
        send PRIO     =      -/=    =/-    =      =      =      =      =      =
        recv H        P/op   -/P    hl/-   =      =      s      C      .      s
        recv H+ES     P/hr   -/P    ce/-   hr     ce     s      C      .      s
        recv D        P      -/P    P/-    =      =      s      C      .      s
        recv D+ES     P      -/P    P/-    hr     ce     s      C      .      s
        recv PP       P      -/P    P/-    =/P    =/P    P      P      ./P    P
        recv promise  P      -/P    P/-    P      P      P      P      P      P
        recv RST      P      -/cr   cr/-   cr     cr     cr     .      .      .
        recv WU       P      -/=    P/-    =      =      =      .      .      .
        recv PRIO     .      -/.    ./-    .      .      .      .      .      .
        """

    struct Cell: CustomTestStringConvertible {
        let role: HTTP2Role
        let column: Int
        let row: String
        let code: String
        var testDescription: String { "\(role) \(HTTP2StreamMachineTests.columns[column].name): \(row)" }
    }

    static let cells: [Cell] = {
        let lines = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        return lines.dropFirst().flatMap { words in
            words.dropFirst(2).enumerated().flatMap { column, word in
                let codes = word.split(separator: "/").map(String.init)
                return [(HTTP2Role.client, codes[0]), (.server, codes[codes.count - 1])].map { role, code in
                    Cell(role: role, column: column, row: "\(words[0]) \(words[1])", code: code)
                }
            }
        }
    }()

    static func machine(_ role: HTTP2Role, in column: Int) -> Machine? {
        let state = columns[column]
        guard let events = role == .client ? state.client : state.server else { return nil }
        let isPromised = state.name == "rl" || state.name == "rr"
        var machine = Machine(role, StreamID(isPromised ? 2 : 1))
        for event in events { #expect(machine.handle(event) == .proceed) }
        return machine
    }

    static func name(_ state: Machine.State) -> String {
        switch state {
        case .idle: "id"
        case .reservedLocal: "rl"
        case .reservedRemote: "rr"
        case .open: "op"
        case .halfClosedLocal: "hl"
        case .halfClosedRemote: "hr"
        case .closed(.ended): "ce"
        case .closed(.resetSent): "cs"
        case .closed(.resetReceived): "cr"
        }
    }

    @Test func theTableIsComplete() {
        #expect(Self.cells.count == 18 * 9 * 2)
        #expect(Set(Self.cells.map(\.row)).count == Self.frames.count * 2)
        for role in HTTP2Role.allCases {
            for column in Self.columns.indices {
                guard let machine = Self.machine(role, in: column) else { continue }
                #expect(Self.name(machine.state) == Self.columns[column].name)
            }
        }
    }

    @Test("[H-5.10] every event in every state", arguments: cells) func transitions(_ cell: Cell) throws {
        guard var machine = Self.machine(cell.role, in: cell.column) else {
            #expect(cell.code == "-")
            return
        }
        let words = cell.row.split(separator: " ").map(String.init)
        let frame = try #require(Self.frames[words[1]])
        let before = machine.state
        let verdict = machine.handle(words[0] == "send" ? .send(frame) : .receive(frame))
        let result =
            switch verdict {
            case .proceed: machine.state == before ? "=" : Self.name(machine.state)
            case .ignore: "."
            case .mayNotSend: "x"
            case .connectionError(.protocolError): "P"
            case .connectionError(.streamClosed): "C"
            case .streamError(.streamClosed): "s"
            case .connectionError(let code), .streamError(let code): "\(code)"
            }
        #expect(result == cell.code)
        if verdict != .proceed { #expect(machine.state == before) }
    }

    /// Tests a promised stream from its promise on, which the table's columns for client streams do not cover.
    @Test func aPromisedStream() {
        for role in HTTP2Role.allCases {
            var machine = Machine(role, StreamID(2))
            let isServer = role == .server
            #expect(machine.handle(.send(.headers(endsStream: false))) == .mayNotSend)
            #expect(machine.handle(.receive(.headers(endsStream: false))) == .connectionError(.protocolError))
            #expect(machine.handle(isServer ? .receive(.promised) : .send(.promised)) != .proceed)
            #expect(machine.handle(isServer ? .send(.promised) : .receive(.promised)) == .proceed)
            #expect(Self.name(machine.state) == (isServer ? "rl" : "rr"))
            let head = Machine.Frame.headers(endsStream: false)
            #expect(machine.handle(isServer ? .send(head) : .receive(head)) == .proceed)
            #expect(Self.name(machine.state) == (isServer ? "hr" : "hl"))
            // PUSH_PROMISE is only allowed on streams that the client has opened.
            #expect(machine.handle(.send(.pushPromise)) == .mayNotSend)
            #expect(machine.handle(.receive(.pushPromise)) == .connectionError(.protocolError))
            let end = Machine.Frame.data(endsStream: true)
            #expect(machine.handle(isServer ? .send(end) : .receive(end)) == .proceed)
            #expect(machine.state == .closed(.ended))
        }
    }
}
