// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTransport

/// Clients that have misbehaving peers, are cancelled, dropped or shut down: descriptors and threads must be as before.
enum StackScenario {
    /// The script of each peer.
    private static let misdeeds: [[Script.Step]] = [
        [.close], [.reset], [.expectHead, .close], [.expectHead, .reset],
        [.expectHead, .halfClose, .expectEnd],
        [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close],
        [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .reset],
        [.expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), .stall],
        [.expectHead, .send("no HTTP at all\r\n\r\n"), .stall],
        [.send("HTTP/1.1 408 Request Timeout\r\n\r\n"), .close],
        [.expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokforged"), .stall],
        [.expectHead, .stall],
    ]

    static func run(round: Int) async throws {
        for steps in misdeeds {
            var serving = OriginConfiguration()
            serving.script = ScriptPlan([Script(steps)])
            let origin = try LupineOrigin.Origin.start(configuration: serving)
            var configuration = HTTPClient.Configuration()
            configuration.ownLoops = 2
            configuration.firstByteTimeout = .milliseconds(20)
            configuration.idleReadTimeout = .milliseconds(20)
            configuration.idleWriteTimeout = .milliseconds(20)
            let client = HTTPClient(configuration: configuration)
            for size in [0, 1_000, 8 << 20] {
                let request = try HTTPRequest(
                    method: size == 0 ? .get : .post, url: origin.url + "/",
                    body: size == 0 ? .none : .bytes([UInt8](repeating: 0, count: size)))
                do throws(TransportError) {
                    _ = try await client.send(request).body.collect()
                } catch {}
            }
            await client.shutdown()
            await origin.shutdown()
        }
        try await wellBehaved(dropped: round % 2 == 0)
    }

    /// Shuts down the client, or drops its requests, with requests in every state.
    private static func wellBehaved(dropped: Bool) async throws {
        let origin = try LupineOrigin.Origin.start()
        origin.script("GET", "/stall", ScriptPlan(.signal("stalled"), .stall))
        var configuration = HTTPClient.Configuration()
        configuration.ownLoops = 2
        let client = HTTPClient(configuration: configuration)
        await withTaskGroup(of: Void.self) { group in
            for path in [
                "/stall", "/infinite", "/get", "/bytes/100000", "/delay/60", "/drip?duration=60", "/get",
                "/get",
            ] {
                group.addTask { _ = try? await client.get(origin.url + path).body.collect(upTo: 10 << 20) }
            }
            await origin.gate("stalled").wait()
            if dropped { group.cancelAll() } else { await client.shutdown() }
        }
        await client.shutdown()
        await origin.shutdown()
    }
}
