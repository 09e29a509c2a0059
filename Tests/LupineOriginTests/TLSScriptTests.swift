// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Tests of scripts inside TLS, below it, and around its beginning.
@Suite struct TLSScriptTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the error of a handshake with an origin that follows the plan.
    private func failure(
        _ plan: ScriptPlan, _ version: TLSVersion = .v1_3, ending: Bool = false
    ) async throws -> (any Error)? {
        let origin = try Origin.start(configuration: SecureOrigin.scripted(plan))
        let context = try SecureOrigin.client(version)
        if ending {
            Task {
                await origin.gate("stalled").wait()
                await origin.shutdown()
            }
        }
        // The handshake blocks, so it has its own thread and leaves those of the tasks free.
        let error = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do {
                    try RawClient(port: origin.port).startTLS(context, host: "good.test")
                    continuation.resume(returning: (any Error)?.none)
                } catch { continuation.resume(returning: error) }
            }
        }
        await origin.shutdown()
        return error
    }

    // MARK: inside

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func stepsComeBehindTheHandshake(_ version: TLSVersion) async throws {
        let plan = ScriptPlan(
            .expectHead, .send(Self.answer), .expectBytes(3), .sendByteByByte([1, 2]), .close)
        try await withSecureClient(SecureOrigin.scripted(plan), SecureOrigin.client(version)) {
            client, origin in
            try client.send("GET / HTTP/1.1\r\n\r\nabc")
            #expect(try client.receiveAll() == Array(Self.answer.utf8) + [1, 2])
            #expect(text(origin.received(on: 0)) == "GET / HTTP/1.1\r\n\r\nabc")
            #expect(origin.counts.handshakesCompleted == 1)
        }
    }

    @Test func aScriptThatNeverReadsMakesItsHandshake() async throws {
        try await withSecureClient(SecureOrigin.scripted(ScriptPlan(.signal("here"), .stall))) {
            client, origin in
            await origin.gate("here").wait()
            #expect(origin.counts.handshakesCompleted == 1)
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func anEndWithoutCloseNotifyIsATruncation(_ version: TLSVersion) async throws {
        let plan = ScriptPlan(.expectHead, .send("half"), .closeWithoutNotify)
        try await withSecureClient(SecureOrigin.scripted(plan), SecureOrigin.client(version)) { client, _ in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try text(client.receive()) == "half")
            #expect(throws: TLSError.truncated) { try client.receive() }
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func anEndWithCloseNotifyIsNone(_ version: TLSVersion) async throws {
        let plan = ScriptPlan(.expectHead, .send("whole"), .close)
        try await withSecureClient(SecureOrigin.scripted(plan), SecureOrigin.client(version)) { client, _ in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try text(client.receiveAll()) == "whole")
        }
    }

    @Test func closeNotifyAndNoEndOfTheStream() async throws {
        let plan = ScriptPlan(
            .send("all"), .sendCloseNotify, .signal("said"), .expectBytes(4), .signal("heard"), .stall)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, origin in
            #expect(try text(client.receiveAll()) == "all")
            await origin.gate("said").wait()
            try client.send("more")
            await origin.gate("heard").wait()
            #expect(text(origin.received(on: 0)) == "more")
        }
    }

    @Test func halfClosedItStillListens() async throws {
        let plan = ScriptPlan(.send("one"), .halfClose, .expectBytes(4), .signal("heard"), .stall)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, origin in
            #expect(try text(client.receiveAll()) == "one")
            try client.send("more")
            await origin.gate("heard").wait()
            #expect(text(origin.received(on: 0)) == "more")
        }
    }

    @Test func whatIsSentBehindTheOwnEndEndsTheConnection() async throws {
        let plan = ScriptPlan(.send("one"), .halfClose, .send("two"), .signal("never"))
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, _ in
            let received = try client.receiveAll()
            #expect(text(received) == "one")
            let rest = try client.receiveBeneathTLS()
            #expect(rest == [], "the socket has ended, too")
        }
    }

    @Test func aResetIsAReset() async throws {
        try await withSecureClient(SecureOrigin.scripted(ScriptPlan(.expectHead, .send("x"), .reset))) {
            client, _ in
            try client.send("GET / HTTP/1.1\r\n\r\n")
            do {
                _ = try client.receiveAll()
                Issue.record("an orderly end")
            } catch RawClient.Failure.system(let number) {
                #expect(number == 104, "ECONNRESET")
            }
        }
    }

    // MARK: between the records

    @Test func halfARecordIsATruncation() async throws {
        let plan = ScriptPlan(
            .send("first"), .expectBytes(1), .cutWire(WireCut(after: 12, .end)), .send("second"), .stall)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, _ in
            #expect(try text(client.receive()) == "first")
            try client.send("!")
            #expect(throws: TLSError.truncated) { try client.receive() }
        }
    }

    @Test func aRecordThatIsNone() async throws {
        let plan = ScriptPlan(
            .send("first"), .expectBytes(1), .sendBeneathTLS(Array("no record at all".utf8)), .stall)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, _ in
            #expect(try text(client.receive()) == "first")
            try client.send("!")
            #expect(throws: TLSError.self) { try client.receive() }
        }
    }

    @Test func aForgedRecord() async throws {
        let record: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32)
        let plan = ScriptPlan(.expectBytes(1), .sendBeneathTLS(record), .stall)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, _ in
            try client.send("!")
            #expect(throws: TLSError.self) { try client.receive() }
        }
    }

    @Test(arguments: [false, true])
    func newKeys(_ both: Bool) async throws {
        let plan = ScriptPlan(
            .send("old"), .updateKeys(both: both), .send("new"), .expectBytes(4), .updateKeys(both: both),
            .send("newer"),
            .close)
        try await withSecureClient(SecureOrigin.scripted(plan)) { client, origin in
            #expect(try text(client.receive(exactly: 6)) == "oldnew")
            try client.send("mine")
            #expect(try text(client.receiveAll()) == "newer")
            #expect(text(origin.received(on: 0)) == "mine")
        }
    }

    @Test func aRenegotiationIsAskedFor() async throws {
        let plan = ScriptPlan(.send("before"), .requestRenegotiation, .expectEnd)
        try await withSecureClient(SecureOrigin.scripted(plan), SecureOrigin.client(.v1_2)) { client, _ in
            let received = try text(client.receive())
            #expect(received == "before")
            #expect(throws: TLSError.self) { try client.receive() }
        }
    }

    // MARK: instead of the handshake

    @Test func anAlertInsteadOfAServerHello() async throws {
        let error = try await failure(ScriptPlan(on: .socket, .expectBytes(5), .sendAlert(80), .close))
        #expect(error as? TLSError == .alert(.internalError))
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}"])
    func garbageInsteadOfAServerHello(_ garbage: String) async throws {
        let error = try await failure(ScriptPlan(on: .socket, .expectBytes(5), .send(garbage), .stall))
        #expect(error as? TLSError == .notTLS)
    }

    @Test func theEndInsteadOfAServerHello() async throws {
        let error = try await failure(ScriptPlan(on: .socket, .expectBytes(5), .close))
        #expect(error as? TLSError == .closedInHandshake)
    }

    @Test func silenceInsteadOfAServerHello() async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .signal("stalled"), .stall)
        #expect(try await failure(plan, ending: true) as? TLSError == .closedInHandshake)
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func aHandshakeCutInTheMiddle(_ version: TLSVersion) async throws {
        for bytes in [1, 5, 6, 60, 127, 128, 200, 1_000] {
            let plan = ScriptPlan(on: .socket, .startTLS(cutting: WireCut(after: bytes, .end)))
            let error = try await failure(plan, version)
            #expect(error as? TLSError == .closedInHandshake, "\(version), cut after \(bytes)")
        }
    }

    @Test func aHandshakeThatEndsWithAReset() async throws {
        let plan = ScriptPlan(on: .socket, .startTLS(cutting: WireCut(after: 100, .reset)))
        guard case .system(let number) = try await failure(plan) as? RawClient.Failure else {
            Issue.record("no reset")
            return
        }
        #expect(number == 104, "ECONNRESET")
    }

    // MARK: within something else

    @Test func behindATunnel() async throws {
        let plan = ScriptPlan(
            on: .socket, .expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(), .expectHead,
            .send(Self.answer))
        try await withOrigin(SecureOrigin.scripted(plan)) { origin in
            let client = try RawClient(port: origin.port)
            try client.send("CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n")
            #expect(try client.receiveHead().status == 200)
            try client.startTLS(SecureOrigin.client(), host: "good.test")
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.receiveResponse().text == "ok")
            #expect(try client.receiveAll() == [])
            #expect(origin.counts.handshakesCompleted == 1)
        }
    }

    @Test(arguments: [TLSVersion.v1_2, .v1_3])
    func insideOfTLS(_ version: TLSVersion) async throws {
        let body = String(repeating: "0123456789", count: 30_000)
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(), .expectHead, .send(body), .close)
        try await withSecureClient(SecureOrigin.scripted(plan), SecureOrigin.client(version)) {
            client, origin in
            try client.send("CONNECT second.test:443 HTTP/1.1\r\nHost: second.test:443\r\n\r\n")
            #expect(try client.receiveHead().status == 200)
            try client.startTLS(SecureOrigin.client(version), host: "second.test")
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try text(client.receiveAll()) == body)
            #expect(origin.handshakes(on: 0).map(\.serverName) == ["good.test", "second.test"])
        }
    }

    @Test func aPathThatFollowsAScript() async throws {
        try await withSecureClient { client, origin in
            origin.script("GET", "/cut", ScriptPlan(.send("HTTP/1.1 200 OK\n\ncut"), .closeWithoutNotify))
            #expect(try client.get("/get").status == 200)
            try client.send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try text(client.receive()) == "HTTP/1.1 200 OK\n\ncut")
            #expect(throws: TLSError.truncated) { try client.receive() }
        }
    }

    @Test func withoutTLSSuchStepsEndTheConnection() async throws {
        for step in [
            Script.Step.startTLS(), .requestRenegotiation, .updateKeys(both: true), .sendCloseNotify,
        ] {
            try await withClient(.scripted(ScriptPlan(.send("a"), step, .send("b")))) { client, _ in
                let received = try text(client.receiveAll())
                #expect(received == "a")
            }
        }
    }
}
