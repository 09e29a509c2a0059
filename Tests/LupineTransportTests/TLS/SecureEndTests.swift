// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// The ends of connections over TLS, and their effect on the content.
@Suite struct SecureEndTests {
    static let untilClose = "HTTP/1.1 200 OK\r\n\r\nto the end"

    @Test func anOrderlyCloseEndsABody() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.untilClose), .close)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let text = try await client.get(SecureStage.url(origin)).body.text()
            #expect(text == "to the end")
        }
    }

    @Test func closeNotifyEndsABody() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.untilClose), .sendCloseNotify, .stall)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let text = try await client.get(SecureStage.url(origin)).body.text()
            #expect(text == "to the end")
        }
    }

    @Test func aBodyWithoutCloseNotifyIsTruncated() async throws {
        let plan = ScriptPlan(.expectHead, .send(Self.untilClose), .closeWithoutNotify)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let response = try await client.get(SecureStage.url(origin))
            let error = await failure { () throws(TransportError) in try await response.body.text() }
            #expect(error == .tls(host: "good.test", port: origin.port, .truncated))
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ])
    func aCompleteBodyNeedsNoCloseNotify(_ answer: String) async throws {
        let plan = ScriptPlan(.expectHead, .send(answer), .closeWithoutNotify)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            for _ in 0..<2 {
                let text = try await client.get(SecureStage.url(origin)).body.text()
                #expect(text == "hello")
            }
        }
    }

    @Test(arguments: [true, false]) func anIncompleteBodyIsAnError(_ isOrderly: Bool) async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"),
            isOrderly ? .close : .closeWithoutNotify)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let response = try await client.get(SecureStage.url(origin))
            let error = await failure { () throws(TransportError) in try await response.body.text() }
            guard case .http("good.test", _, .truncated) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    /// Input that may arrive while nothing was requested. It ends the connection; the next request uses another one.
    enum UnexpectedInput: CaseIterable, Sendable { case closeNotify, end, data }

    @Test(arguments: UnexpectedInput.allCases) func unexpectedInputEndsAnIdleConnection(
        _ input: UnexpectedInput
    ) async throws {
        let step: Script.Step =
            switch input {
            case .closeNotify: .sendCloseNotify
            case .end: .closeWithoutNotify
            case .data: .send("HTTP/1.1 200 OK\r\n\r\n")
            }
        let first = Script([.expectHead, .reply("one"), .waitForSignal("go"), step, .expectEnd])
        let second = Script([.expectHead, .reply("two"), .stall])
        let serving = try SecureStage.serving(["good"], ScriptPlan([first, second]))
        try await withSecurePool(serving) { stage in
            let profile = SecurePool.profile()
            let firstSink = try await stage.send(profile: profile)
            #expect(firstSink.text == "one")
            stage.origin.gate("go").open()
            // The client closes the connection, although no request is on it.
            while stage.pool.openCount > 0 { await stage.settle() }
            let secondSink = try await stage.send(profile: profile)
            #expect(secondSink.text == "two" && secondSink.metrics?.isReused == false)
        }
    }

    /// A key update is not data: an idle connection that receives one is used again.
    @Test func aKeyUpdateKeepsAnIdleConnection() async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("one"), .waitForSignal("go"), .updateKeys(both: true), .signal("gone"),
            .expectHead, .reply("two"), .stall)
        try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let profile = SecurePool.profile()
            try await stage.send(profile: profile)
            stage.origin.gate("go").open()
            await stage.origin.gate("gone").wait()
            await stage.settle()
            let secondSink = try await stage.send(profile: profile)
            #expect(secondSink.text == "two" && secondSink.metrics?.isReused == true)
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test func theClientSendsCloseNotify() async throws {
        let plan = ScriptPlan(
            .expectHead, .reply("one", "Connection: close\r\n"), .expectEnd, .signal("ended"), .stall)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let text = try await client.get(SecureStage.url(origin)).body.text()
            #expect(text == "one")
            // A close_notify satisfies the script's `expectEnd`; without one, the stream would have been cut off.
            await origin.gate("ended").wait()
        }
    }

    @Test func aBrokenRecordIsAnError() async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"),
            .sendBeneathTLS([23, 3, 3, 0, 20] + [UInt8](repeating: 9, count: 20)), .stall)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let response = try await client.get(SecureStage.url(origin))
            let error = await failure { () throws(TransportError) in try await response.body.text() }
            guard case .tls("good.test", _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}

extension SecurePool {
    /// Returns once the loop has run everything submitted to it.
    func settle() async {
        for _ in 0..<2 { await group.loops[0].run {} }
    }
}
