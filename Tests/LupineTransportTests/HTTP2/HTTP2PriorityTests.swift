// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// The effects of an exchange's priority over HTTP/2: what is sent to the server, and whose content goes first.
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
        var own: String?
        let said: String
    }

    @Test(
        "[H-12.5] what a request says of its priority",
        arguments: [
            Row(testDescription: "the usual one", testedHTTP: .http2, priority: 0.5, said: "nothing"),
            Row(testDescription: "a high one", testedHTTP: .http2, priority: 0.75, said: "u=1"),
            Row(testDescription: "a low one", testedHTTP: .http2, priority: 0.25, said: "u=5"),
            Row(
                testDescription: "what the program says itself", testedHTTP: .http2, priority: 1,
                own: "u=6, i",
                said: "u=6, i"),
            Row(testDescription: "over HTTP/1.1", testedHTTP: .http1, priority: 1, said: "nothing"),
            Row(
                testDescription: "what the program says itself, over HTTP/1.1", testedHTTP: .http1,
                priority: 1,
                own: "u=2", said: "u=2"),
        ])
    func field(_ row: Row) async throws {
        try await withPool(over: row.testedHTTP) { stage in
            stage.origin.route("GET", "/said") { request throws(Refusal) in
                let values = request.head.fields.values(of: .priority)
                let said = values.isEmpty ? "nothing" : values.joined(separator: " and ")
                return OriginResponse(body: .bytes(Array(said.utf8)))
            }
            let made = try stage.exchange(
                .get, "/said", fields: row.own.map { [(FieldName.priority, $0)] } ?? [])
            made.exchange.priority = row.priority
            stage.pool.submit(made.exchange)
            await made.sink.ended.wait()
            #expect(made.sink.text == row.said)
        }
    }

    /// Runs `body` with a request whose response is held back. An earlier request has made sure that the server's settings have
    /// arrived.
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
            let made = try stage.exchange(.get, "/held", fields: fields)
            stage.pool.submit(made.exchange)
            while stage.origin.counts.requests < 2 { await Task.yield() }
            try await body(stage, made.exchange)
            gate.open()
            await made.sink.ended.wait()
            #expect(made.sink.failure == nil)
        }
    }

    @Test("[H-12.6] a priority that changes is told, the last one of a turn") func update() async throws {
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

    @Test("[H-12.6] a server that does not say that it listens is told nothing")
    func deafServer() async throws {
        var behaviour = HTTP2Behaviour()
        behaviour.announcesPriorities = false
        try await withHeldRequest(http2: behaviour) { stage, exchange in
            exchange.priority = 1
            await stage.settle()
            try await stage.send(.get, "/get")
            #expect(stage.origin.priorities == [])
        }
    }

    @Test("[H-12.6] what the program has said itself is not overruled") func ownField() async throws {
        try await withHeldRequest(fields: [(.priority, "u=2")]) { stage, exchange in
            exchange.priority = 1
            await stage.settle()
            try await stage.send(.get, "/get")
            #expect(stage.origin.priorities == [])
        }
    }

    @Test("[H-12.6] a response that is whole has no priority any more") func wholeResponse() async throws {
        let plan = ScriptPlan(
            .expectRequest(1),
            .send(ServerFrames([Setting(.noRFC7540Priorities, 1)]).reply().settings()),
            .expectAcknowledgement, .expectAcknowledgement, .signal("answered"), .expectRequest(3),
            .send(ServerFrames.bare.reply(3)),
            .stall)
        try await withPool(plan, over: .http2) { stage in
            let made = try stage.exchange(sink: RecordingSink(demand: { _ in .pause }))
            stage.pool.submit(made.exchange)
            await stage.origin.gate("answered").wait()
            await stage.settle()
            made.exchange.priority = 1
            await stage.settle()
            try await stage.send()
            #expect(Self.frames(stage.origin.received(on: 0)).allSatisfy { $0.type != 16 })
            made.exchange.cancel()
            await made.sink.ended.wait()
        }
    }

    // MARK: what goes first

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

    @Test("[H-12.7] content of urgent requests goes first, in turn among equals", arguments: [false, true])
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
            var made: [(exchange: Exchange, sink: RecordingSink)] = []
            for priority in priorities {
                let one = try stage.exchange(
                    .post, content: .bytes([UInt8](repeating: 1, count: 48 << 10)))
                if !changesLater { one.exchange.priority = priority }
                made.append(one)
                stage.pool.submit(one.exchange)
            }
            await stage.origin.gate("asked").wait()
            if changesLater {
                for (one, priority) in zip(made, priorities) { one.exchange.priority = priority }
                await stage.settle()
            }
            stage.origin.gate("open").open()
            for one in made {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil)
            }
            let sent = Self.frames(stage.origin.received(on: 0)).filter { $0.type == 0 }.map(\.stream)
            #expect(sent == [5, 7, 5, 7, 5, 7, 3, 3, 3])
        }
    }

    /// The connection's window opens for one piece at a time: the streams take turns, as they would with an open window.
    @Test("[H-12.7] a narrow connection starves no stream") func turnsOverANarrowConnection() async throws {
        let start = ServerFrames([Setting(.initialWindowSize, 0)])
        let opening = ServerFrames.bare.settings([Setting(.initialWindowSize, 1 << 20)])
        let more = ServerFrames.bare.frame(8, 0, [0, 0, 0x40, 0])
        let plan = ScriptPlan(
            .expectRequest(1), .send(start.reply()), .expectRequest(3), .expectRequest(5), .send(opening),
            .expectFrame(type: 0, stream: 3), .expectFrame(type: 0, stream: 5),
            .expectFrame(type: 0, stream: 3), .expectFrame(type: 0, stream: 5),
            .send(more), .expectFrame(type: 0, stream: 3), .send(more), .expectFrame(type: 0, stream: 5),
            .send(more), .expectFrame(type: 0, stream: 3), .send(more), .expectFrame(type: 0, stream: 5),
            .send(ServerFrames.bare.reply(3).reply(5)), .stall)
        try await withPool(plan, over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            try await stage.send()
            let made = try (0..<2).map { _ in
                try stage.exchange(.post, content: .bytes([UInt8](repeating: 1, count: 200_000)))
            }
            for one in made { stage.pool.submit(one.exchange) }
            for one in made {
                await one.sink.ended.wait()
                #expect(one.sink.failure == nil)
            }
        }
    }
}
