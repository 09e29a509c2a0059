// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// Handshakes that fail.
@Suite struct HandshakeTests {
    @Test func aSilentServerMeetsTheHandshakeTimeout() async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .stall)
        try await withSecureStack(
            SecureStage.serving(["good"], plan),
            settings: .with { $0.tlsHandshakeTimeout = .milliseconds(100) }
        ) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error?.isTimeOut(of: "good.test", .tlsHandshake) == true)
        }
    }

    /// The time-out for connecting does not run during the handshake, which has its own.
    @Test func theConnectTimeoutDoesNotCoverTheHandshake() async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .signal("hello"), .stall)
        let clock = ManualClock()
        let setTimeouts = { (dial: inout DialConfiguration) in
            dial.timeout = .milliseconds(50)
            dial.tlsHandshakeTimeout = .milliseconds(300)
        }
        try await withSecurePool(SecureStage.serving(["good"], plan), dial: setTimeouts, clock: clock) {
            stage in
            let pair = try stage.exchange(profile: SecurePool.profile())
            stage.pool.submit(pair.exchange)
            await stage.origin.gate("hello").wait()
            clock.advance(by: .milliseconds(200))
            await stage.settle()
            #expect(pair.sink.log.value.ends == 0)
            clock.advance(by: .milliseconds(200))
            await stage.settle()
            await pair.sink.ended.wait()
            #expect(pair.sink.failure?.isTimeOut(of: "good.test", .tlsHandshake) == true)
        }
    }

    @Test func aPeerThatSpeaksNoTLS() async throws {
        let plan = ScriptPlan(on: .socket, .send("HTTP/1.1 400 Bad Request\r\n\r\n"), .stall)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error == .tls(host: "good.test", port: origin.port, .notTLS))
        }
    }

    @Test func aPeerThatCloses() async throws {
        let plan = ScriptPlan(on: .socket, .expectBytes(5), .close)
        try await withSecureStack(SecureStage.serving(["good"], plan)) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            // The bytes that the client still sent are answered with a reset.
            let expected: [TransportError] = [
                .tls(host: "good.test", port: origin.port, .closedInHandshake),
                .connectionLost(host: "good.test", port: origin.port, .connectionReset),
            ]
            #expect(error.map(expected.contains) == true)
        }
    }

    @Test func anAlertIsReportedByName() async throws {
        try await withSecureStack(SecureStage.serving { $0.refusalAlert = .unrecognizedName }) {
            client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error == .tls(host: "good.test", port: origin.port, .alert(.unrecognizedName)))
            #expect(error?.description.contains("unrecognized_name") == true)
        }
    }

    @Test func noVersionInCommon() async throws {
        try await withSecureStack(
            SecureStage.serving { $0.maximumVersion = .v1_2 },
            settings: .with { $0.tls.minimumVersion = .v1_3 }
        ) { client, origin in
            let url = SecureStage.url(origin)
            let error = await failure { () throws(TransportError) in try await client.get(url) }
            #expect(error == .tls(host: "good.test", port: origin.port, .versionNotShared))
            // There is no second attempt with a lower version.
            #expect(origin.counts.connectionsAccepted == 1)
        }
    }

    @Test func missingRoots() async throws {
        try await withSecureStack(
            settings: .with {
                $0.tls.roots = TrustRoots(includesSystem: false, files: ["/nonexistent/roots.pem"])
            }
        ) { client, origin in
            let url = SecureStage.url(origin)
            for _ in 0..<2 {
                let error = await failure { () throws(TransportError) in try await client.get(url) }
                guard case .tls("good.test", _, .configuration(.roots)) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            #expect(origin.counts.connectionsAccepted == 0)
        }
    }

    /// Cancels at several points of the handshake: the server's flight stops after `bytes` bytes.
    @Test(arguments: [0, 1, 5, 100, 1_000, 2_500]) func cancelledAfter(_ bytes: Int) async throws {
        let plan = ScriptPlan([
            Script([.startTLS(cutting: WireCut(after: bytes, .stall)), .stall], on: .socket)
        ])
        try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let pair = try stage.exchange(profile: SecurePool.profile())
            stage.pool.submit(pair.exchange)
            while stage.origin.counts.connectionsAccepted == 0 { await stage.settle() }
            await stage.settle()
            pair.exchange.cancel(.cancelled)
            await pair.sink.ended.wait()
            #expect(pair.sink.failure == .cancelled && pair.sink.log.value.ends == 1)
        }
    }

    @Test func cancelledAtOnce() async throws {
        try await withSecurePool { stage in
            for _ in 0..<50 {
                let pair = try stage.exchange(profile: SecurePool.profile())
                stage.pool.submit(pair.exchange)
                pair.exchange.cancel(.cancelled)
                await pair.sink.ended.wait()
                // A dial that no exchange waits for ends in an idle connection, so a later exchange may finish before it is
                // cancelled.
                #expect(pair.sink.log.value.ends == 1)
                #expect(pair.sink.failure == .cancelled || pair.sink.failure == nil)
            }
        }
    }
}
