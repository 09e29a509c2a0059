// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The effects of an exchange's priority over HTTP/2: on the fields and frames sent to the server, and on the order of content.
@Suite(.timeLimit(.minutes(30))) struct HTTP2PriorityTests {
    @Test(
        "[H-12.5] the urgency of each priority",
        arguments: [
            (0, 7), (0.1, 7), (0.125, 6), (0.2, 6), (0.25, 5), (0.3, 5), (0.375, 4), (0.4999, 4), (0.5, 3),
            (0.5001, 2), (0.66, 2), (0.7, 1), (0.75, 1), (0.83, 1), (0.84, 0), (1, 0), (-7, 7), (9, 0),
        ] as [(Float, UInt8)])
    func mapping(_ priority: Float, _ urgency: UInt8) {
        #expect(Urgency(priority: priority) == Urgency(urgency))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let testedHTTP: TestedHTTP
        let priority: Float
        var programValue: String?
        let expected: String
    }

    @Test(
        "[H-12.5] the Priority field of a request",
        arguments: [
            Row(testDescription: "the default", testedHTTP: .http2, priority: 0.5, expected: "nothing"),
            Row(testDescription: "a high one", testedHTTP: .http2, priority: 0.75, expected: "u=1"),
            Row(testDescription: "a low one", testedHTTP: .http2, priority: 0.25, expected: "u=5"),
            Row(
                testDescription: "set by the program", testedHTTP: .http2, priority: 1,
                programValue: "u=6, i",
                expected: "u=6, i"),
            Row(testDescription: "over HTTP/1.1", testedHTTP: .http1, priority: 1, expected: "nothing"),
            Row(
                testDescription: "set by the program, over HTTP/1.1", testedHTTP: .http1,
                priority: 1,
                programValue: "u=2", expected: "u=2"),
        ])
    func field(_ row: Row) async throws {
        try await withPool(over: row.testedHTTP) { stage in
            stage.origin.route("GET", "/said") { request throws(Refusal) in
                let values = request.head.fields.values(of: .priority)
                let expected = values.isEmpty ? "nothing" : values.joined(separator: " and ")
                return OriginResponse(body: .bytes(Array(expected.utf8)))
            }
            let pair = try stage.exchange(
                .get, "/said", fields: row.programValue.map { [(FieldName.priority, $0)] } ?? [])
            pair.exchange.priority = row.priority
            stage.pool.submit(pair.exchange)
            await pair.sink.ended.wait()
            #expect(pair.sink.text == row.expected)
        }
    }

    /// Runs `body` with a request whose response is held back. The server's settings have arrived, because an earlier request has
    /// been answered.
    private func withHeldRequest(
        http2: HTTP2Behaviour = HTTP2Behaviour(), fields: [(FieldName, String)] = [],
        _ body: (PoolStage, Exchange) async throws -> Void
    ) async throws {
        try await withPool(over: .http2, http2: http2) { stage in
            try await stage.send(.get, "/get")
            let gate = Gate()
            stage.origin.route("GET", "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = gate
                return response
            }
            let pair = try stage.exchange(.get, "/held", fields: fields)
            stage.pool.submit(pair.exchange)
            while stage.origin.counts.requests < 2 { await Task.yield() }
            try await body(stage, pair.exchange)
            gate.open()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == nil)
        }
    }

    @Test("[H-12.6] a change of priority is sent, the last one of a turn") func update() async throws {
        try await withHeldRequest { stage, exchange in
            let loop = stage.group.loops[0]
            func change(_ priorities: Float...) async throws {
                await loop.run { for priority in priorities { exchange.priority = priority } }
                // This request is sent after the frames that the change has caused.
                try await stage.send(.get, "/get")
            }
            // The priority may be set from any thread.
            exchange.priority = 1
            while stage.origin.priorities.isEmpty { await Task.yield() }
            try await change(0, 0.75, 0.25)
            try await change(0.7, 0.25)
            try await change(0.5)
            #expect(stage.origin.priorities.map(\.value) == ["u=0", "u=5", "u=3"])
            #expect(stage.origin.priorities.allSatisfy { $0.stream == 3 })
        }
    }

    @Test("[H-12.6] a server that does not announce support gets no PRIORITY_UPDATE")
    func serverWithoutSupport() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.announcesPriorities = false
        try await withHeldRequest(http2: behaviour) { stage, exchange in
            exchange.priority = 1
            await stage.settle()
            try await stage.send(.get, "/get")
            #expect(stage.origin.priorities == [])
        }
    }

    @Test("[H-12.6] a field that the program has set is not overridden") func ownField() async throws {
        try await withHeldRequest(fields: [(.priority, "u=2")]) { stage, exchange in
            exchange.priority = 1
            await stage.settle()
            try await stage.send(.get, "/get")
            #expect(stage.origin.priorities == [])
        }
    }

    @Test("[H-12.6] the priority of a complete response is not updated") func wholeResponse() async throws {
        let plan = ScriptPlan(
            .expectRequest(1),
            .send(ServerFrames([Setting(.noRFC7540Priorities, 1)]).reply().settings()),
            .expectAcknowledgement, .expectAcknowledgement, .signal("answered"), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)),
            .stall)
        try await withPool(plan, over: .http2) { stage in
            let pair = try stage.exchange(sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("answered").wait()
            await stage.settle()
            pair.exchange.priority = 1
            await stage.settle()
            try await stage.send()
            #expect(Self.frames(stage.origin.received(on: 0)).allSatisfy { $0.type != 16 })
            pair.exchange.cancel()
            await pair.sink.ended.wait()
        }
    }

    // MARK: the order of content

    /// Returns the types and streams of the frames that a client has sent.
    static func frames(_ octets: [UInt8]) -> [(type: UInt8, stream: UInt32)] {
        var rest = octets.dropFirst(FrameReader.clientPreface.count)
        var frames: [(type: UInt8, stream: UInt32)] = []
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            frames.append((head[3], head[5...].reduce(0) { $0 << 8 | UInt32($1) }))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    @Test("[H-12.7] content of urgent requests is sent first; equals take turns", arguments: [false, true])
    func urgentContentFirst(_ changesLater: Bool) async throws {
        let start = ServerFrames([Setting(.initialWindowSize, 0)]).frame(8, 0, [0, 0x10, 0, 0])
        let opening = ServerFrames.bare.settings([Setting(.initialWindowSize, 1 << 20)])
        let plan = ScriptPlan(
            .expectRequest(1), .send(start.reply()), .expectRequest(3), .expectRequest(5),
            .expectRequest(7), .signal("asked"), .waitForSignal("open"), .send(opening),
            .expectFrame(type: 0, stream: 3), .expectFrame(type: 0, stream: 3),
            .expectFrame(type: 0, stream: 3), .expectBytes(16_384),
            .send(ServerFrames.bare.reply(3).reply(5).reply(7)), .stall)
        try await withPool(plan, over: .http2) { stage in
            try await stage.send()
            let priorities: [Float] = [0.25, 0.75, 0.75]
            var pairs: [(exchange: Exchange, sink: RecordingSink)] = []
            for priority in priorities {
                let pair = try stage.exchange(
                    .post, content: .bytes([UInt8](repeating: 1, count: 48 << 10)))
                if !changesLater { pair.exchange.priority = priority }
                pairs.append(pair)
                stage.pool.submit(pair.exchange)
            }
            await stage.origin.gate("asked").wait()
            if changesLater {
                for (pair, priority) in zip(pairs, priorities) { pair.exchange.priority = priority }
                await stage.settle()
            }
            stage.origin.gate("open").open()
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil)
            }
            let sent = Self.frames(stage.origin.received(on: 0)).filter { $0.type == 0 }.map(\.stream)
            #expect(sent == [5, 7, 5, 7, 5, 7, 3, 3, 3])
        }
    }

    /// The connection's window opens for one piece at a time: the streams take turns, as they would with an open window.
    @Test("[H-12.7] a narrow connection starves no stream") func turnsOverANarrowConnection() async throws {
        let start = ServerFrames([Setting(.initialWindowSize, 0)])
        let opening = ServerFrames.bare.settings([Setting(.initialWindowSize, 1 << 20)])
        let windowUpdate = ServerFrames.bare.frame(8, 0, [0, 0, 0x40, 0])
        let plan = ScriptPlan(
            .expectRequest(1), .send(start.reply()), .expectRequest(3), .expectRequest(5), .send(opening),
            .expectFrame(type: 0, stream: 3), .expectFrame(type: 0, stream: 5),
            .expectFrame(type: 0, stream: 3), .expectFrame(type: 0, stream: 5),
            .send(windowUpdate), .expectFrame(type: 0, stream: 3), .send(windowUpdate),
            .expectFrame(type: 0, stream: 5),
            .send(windowUpdate), .expectFrame(type: 0, stream: 3), .send(windowUpdate),
            .expectFrame(type: 0, stream: 5),
            .send(ServerFrames.bare.reply(3).reply(5)), .stall)
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let pairs = try (0..<2).map { _ in
                try stage.exchange(.post, content: .bytes([UInt8](repeating: 1, count: 200_000)))
            }
            for pair in pairs { stage.pool.submit(pair.exchange) }
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil)
            }
        }
    }
}
