// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineOrigin

@Suite struct ScriptTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func expectAndSend() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.answer), .expectBytes(3), .send("end"), .close)
        try await withClient(.scripted(plan)) { client, origin in
            try client.send("GET / HTTP/1.1\r\n\r")
            try client.send("\nabc")
            #expect(try text(client.receiveAll()) == Self.answer + "end")
            #expect(text(origin.received(on: 0)) == "GET / HTTP/1.1\r\n\r\nabc")
        }
    }

    @Test func byteByByte() async throws {
        let plan = ScriptPlan(.sendByteByByte(Array(Self.answer.utf8)))
        try await withClient(.scripted(plan)) { client, _ in
            let received = try client.receiveAll()
            #expect(text(received) == Self.answer)
        }
    }

    @Test func aScriptMayGoOnAsHTTP() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.answer), .speakHTTP)
        try await withClient(.scripted(plan)) { client, _ in
            // The next request has already arrived.
            try client.send("GET / HTTP/1.1\r\n\r\nGET /status/201 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveResponse().text == "ok")
            #expect(try client.receiveResponse().status == 201)
            #expect(try client.get("/status/202").status == 202)
        }
    }

    @Test func exactBytesAreExact() async throws {
        let plan = ScriptPlan(.expectExactly(Array("exact".utf8)), .send(Self.answer))
        try await withOrigin(.scripted(plan)) { origin in
            let right = try RawClient(port: origin.port)
            try right.send("exa")
            try right.send("ct")
            #expect(try text(right.receiveAll()) == Self.answer)
            for wrong in ["exacd", "e act", "Exact"] {
                let client = try RawClient(port: origin.port)
                try client.send(wrong)
                #expect(throws: RawClient.Failure.self) { try client.receiveAll() }
            }
        }
    }

    @Test func aResetIsAReset() async throws {
        try await withClient(.scripted(ScriptPlan(.expectHead, .send("HTTP/1.1 2"), .reset))) { client, _ in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            do {
                _ = try client.receiveAll()
                Issue.record("an orderly end")
            } catch RawClient.Failure.system(let number) {
                #expect(number == 104, "ECONNRESET")
            }
        }
    }

    @Test func halfClosedItStillListens() async throws {
        let plan = ScriptPlan(.send("one"), .halfClose, .expectBytes(4), .signal("heard"), .stall)
        try await withClient(.scripted(plan)) { client, origin in
            #expect(try text(client.receiveAll()) == "one")
            try client.send("more")
            await origin.gate("heard").wait()
            #expect(text(origin.received(on: 0)) == "more")
        }
    }

    @Test func signalsInBothDirections() async throws {
        let own = Gate()
        let plan = ScriptPlan(
            .expectHead, .signal("asked"), .waitForSignal("answer"), .waitForGate(own),
            .pause(.milliseconds(1)), .send("ok"))
        try await withClient(.scripted(plan)) { client, origin in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            await origin.gate("asked").wait()
            origin.gate("answer").open()
            own.open()
            #expect(try text(client.receiveAll()) == "ok")
        }
    }

    @Test func acceptedAndClosed() async throws {
        try await withClient(.scripted(ScriptPlan(.close))) { client, origin in
            let received = try client.receiveAll()
            #expect(received == [])
            #expect(origin.received(on: 0) == [])
        }
    }

    @Test func closingWithUnreadInputIsNoReset() async throws {
        let plan = ScriptPlan(.waitForSignal("sent"), .close)
        try await withClient(.scripted(plan)) { client, origin in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            origin.gate("sent").open()
            let received = try client.receiveAll()
            #expect(received == [])
        }
    }

    @Test func aStallLastsUntilTheShutdown() async throws {
        let origin = try Origin.start(configuration: .scripted(ScriptPlan(.signal("here"), .stall)))
        let client = try RawClient(port: origin.port)
        await origin.gate("here").wait()
        #expect(origin.counts.connectionsOpen == 1)
        await origin.shutdown()
        #expect(try client.receiveAll() == [])
        #expect(origin.counts.connectionsOpen == 0)
    }

    @Test func anEarlyResponseLeavesTheBodyUnread() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.answer), .expectBytes(1_000_000), .send("!"))
        try await withClient(.scripted(plan)) { client, _ in
            try client.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
            #expect(try client.receiveResponse().text == "ok")
            try client.send([UInt8](repeating: 1, count: 1_000_000))
            #expect(try text(client.receiveAll()) == "!")
        }
    }

    @Test func aSlowReaderReadsAllTheSame() async throws {
        let plan = ScriptPlan(
            .slowRead(bytes: 7_000, every: .microseconds(100)), .expectBytes(100_000), .send("done"))
        var configuration = OriginConfiguration.scripted(plan)
        configuration.socketBufferSize = 4_096
        try await withClient(configuration) { client, origin in
            let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            try client.send(body)
            #expect(try text(client.receiveAll()) == "done")
            #expect(origin.received(on: 0) == body)
        }
    }

    @Test func theEndOfTheClient() async throws {
        try await withClient(.scripted(ScriptPlan(.expectEnd, .send("bye")))) { client, _ in
            try client.send("whatever")
            client.closeOurHalf()
            #expect(try text(client.receiveAll()) == "bye")
        }
    }

    @Test func aClientThatEndsTooEarlyIsLet() async throws {
        try await withClient(.scripted(ScriptPlan(.expectBytes(10), .send("never")))) { client, _ in
            try client.send("short")
            client.closeOurHalf()
            #expect(try client.receiveAll() == [])
        }
    }

    @Test func eachConnectionItsScript() async throws {
        let scripts = [Script([.send("one")]), Script([.send("two")])]
        try await withOrigin(.scripted(ScriptPlan(scripts))) { origin in
            let answers = try (0..<3).map { _ in text(try RawClient(port: origin.port).receiveAll()) }
            #expect(answers == ["one", "two", "two"])
        }
        try await withOrigin(.scripted(ScriptPlan(scripts, afterwards: .refuse))) { origin in
            let answers = try (0..<3).map { _ in text(try RawClient(port: origin.port).receiveAll()) }
            #expect(answers == ["one", "two", ""])
        }
        try await withOrigin(.scripted(ScriptPlan(scripts, afterwards: .stopListening))) { origin in
            for _ in 0..<2 { _ = try RawClient(port: origin.port).receiveAll() }
            _ = try? RawClient(port: origin.port).receiveAll()
            #expect(throws: RawClient.Failure.self) { try RawClient(port: origin.port) }
        }
    }

    @Test func aPathThatFollowsAScript() async throws {
        try await withClient { client, origin in
            origin.script("POST", "/odd", ScriptPlan(.expectBytes(3), .send("HTTP/1.1 200 OK\n\nodd")))
            #expect(try client.get("/get").status == 200)
            try client.send("POST /odd HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try text(client.receiveAll()) == "HTTP/1.1 200 OK\n\nodd")
        }
    }

    @Test func aPathThatChoosesRequestByRequest() async throws {
        try await withClient { client, origin in
            origin.route(
                "GET", "/turn/{name}",
                .chosen { request throws(Refusal) in
                    switch request.parameters.first {
                    case "odd": .follow(Script([.send("HTTP/1.1 200 OK\n\nodd"), .close]))
                    case "even": .respond(try OriginResponse(200, "text/plain", Array("even".utf8)))
                    default: throw .badRequest("neither")
                    }
                })
            for _ in 0..<2 {
                let response = try client.get("/turn/even")
                #expect(response.status == 200 && response.text == "even", "the connection lives on")
            }
            #expect(try client.get("/turn/neither").status == 400)
            try client.send("GET /turn/odd HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try text(client.receiveAll()) == "HTTP/1.1 200 OK\n\nodd")
        }
    }
}
