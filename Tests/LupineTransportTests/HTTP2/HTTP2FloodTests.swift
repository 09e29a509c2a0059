// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Floods that need more than one request, or a socket that is not read, through the whole stack. Those that a script of frames
/// can produce are in `HTTP2MisbehaviourTests`.
@Suite struct HTTP2FloodTests {
    /// Returns whether the connection failed because of `limit`. The clock of `withPool` stands still, so that no allowance is
    /// replenished.
    private static func isFlood(_ error: TransportError?, _ limit: String) -> Bool {
        guard case .http2(_, _, .connection(.enhanceYourCalm, let reason))? = error else { return false }
        return reason.contains(limit)
    }

    @Test("[H-11.9] CVE-2019-9514, a server that resets streams again and again")
    func resets() async throws {
        let plan = ScriptPlan([
            Script([
                .expectRequest(1), .send(ServerFrames().reply()), .expectRequest(3),
                .send(ServerFrames.bare.times(2_000) { $0.reset(1, .cancel) }), .stall,
            ]),
            Script([.expectRequest(1), .send(ServerFrames().reply(1, "again")), .stall]),
        ])
        try await withPool(plan, over: .http2) { stage in
            #expect(try await stage.send().text == "ok")
            let sink = try await stage.send(.post)
            #expect(Self.isFlood(sink.failure, "resets"), "\(String(describing: sink.failure))")
            #expect(try await stage.send().text == "again")
        }
    }

    /// Each response fails its request; all of them together end their connection, and no other one.
    @Test(
        "[H-11.9] [H-11.10] CVE-2023-44487 and CVE-2025-8671, a server that ends every stream",
        arguments: [
            (StreamScript([.reset(.cancel)]), "resets"),
            (StreamScript([.head([("a", "b")])]), "provokedResets"),
            (StreamScript([.frame(type: 8, .own, [0, 0, 0, 0])]), "provokedResets"),
        ])
    func endedStreams(_ script: StreamScript, _ limit: String) async throws {
        try await withPool(over: .http2, limits: PoolLimits(perHost: 1)) { stage in
            stage.origin.route(nil, "/ended", .chosen { _ in .perform(script) })
            let held = Gate()
            stage.origin.route(nil, "/held") { _ throws(Refusal) in
                var response = OriginResponse(200)
                response.gate = held
                return response
            }
            // Another host name has another connection.
            let other = try stage.exchange(.get, "/held", host: "other.test")
            stage.pool.submit(other.exchange)
            var hasFailed = false
            for _ in 0..<30 where !hasFailed {
                let pairs = try (0..<50).map { _ in try stage.exchange(.post, "/ended") }
                for pair in pairs { stage.pool.submit(pair.exchange) }
                for pair in pairs { await pair.sink.ended.wait() }
                hasFailed = pairs.contains { Self.isFlood($0.sink.failure, limit) }
                #expect(pairs.allSatisfy { $0.sink.failure != nil && $0.sink.log.value.ends == 1 })
            }
            #expect(hasFailed)
            #expect(try await stage.send(.get, "/get").failure == nil)
            held.open()
            await other.sink.ended.wait()
            #expect(other.sink.failure == nil)
            #expect(stage.pool.connectionsOpened == 3)
        }
    }

    /// The windows are wide open, but the socket is not read: the source is not asked for content that cannot be sent.
    @Test("[H-11.7] CVE-2019-9517, a server that opens its windows and reads nothing")
    func bufferedData() async throws {
        let open = ServerFrames([Setting(.initialWindowSize, 0x7FFF_FFFF)])
            .frame(8, 0, [0x7F, 0xFE, 0, 0])
        let plan = ScriptPlan([
            Script([.expectRequest(1), .send(open), .signal("open"), .waitForSignal("never")]),
            Script([.expectRequest(1), .send(ServerFrames().reply()), .stall]),
        ])
        try await withPool(plan, over: .http2, buffers: 16 << 10) { stage in
            let source = EndlessSource()
            let upload = try stage.exchange(.post, content: .stream(source, length: nil))
            stage.pool.submit(upload.exchange)
            await stage.origin.gate("open").wait()
            #expect(try await stage.send(host: "other.test").text == "ok")
            // Each round would ask for another piece if the last one had been sent.
            for _ in 0..<2_000 { await stage.settle() }
            // Limited by the two kernel buffers, far from the 125 MB that the rounds could have asked for.
            #expect(source.askCount.value > 0 && source.askCount.value < 400, "\(source.askCount.value)")
            upload.exchange.cancel()
            await upload.sink.ended.wait()
            #expect(upload.sink.failure == .cancelled)
        }
    }
}

/// A source that always has a piece of 64 KiB.
private final class EndlessSource: ContentSource {
    let askCount = Box(0)
    private let piece = [UInt8](repeating: 0x61, count: 64 << 10)

    var isReplayable: Bool { false }
    func rewind() -> Bool { false }
    func abandon() {}

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        askCount.update { $0 += 1 }
        reply(.bytes(piece))
    }
}
