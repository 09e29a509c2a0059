// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// WebSocket over HTTP/2 (RFC 8441) with a foreign server: hypercorn, on Python's h2 and wsproto.
struct HTTP2WebSocketTests {
    private func withServer(
        isSecure: Bool, _ body: (URLSession, String) async throws -> Void
    ) async throws {
        try await ServerProcess.with(HypercornServer(isSecure: isSecure)) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configuration.timeoutIntervalForRequest = 3_600
            configuration.lupine.httpVersions = isSecure ? [.http11, .http2] : .http2
            configuration.lupine.tls.roots = .certificates(
                try Certificate.bundle(file: PKI.path("root.pem")))
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            try await body(session, "127.0.0.1:\(server.place.port)")
        }
    }

    private func socket(
        _ session: URLSession, _ address: String, _ protocols: [String] = []
    ) throws -> URLSessionWebSocketTask {
        let task = session.webSocketTask(with: try #require(URL(string: address)), protocols: protocols)
        task.resume()
        return task
    }

    @Test("[H-13.1, H-13.2, H-13.5] messages, a subprotocol and the server's close") func withoutTLS()
        async throws
    {
        try await withServer(isSecure: false) { session, host in
            let task = try socket(session, "ws://\(host)/socket", ["other", "lupine"])
            task.maximumMessageSize = 2 << 20
            for size in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
                let octets = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                try await task.send(.data(octets))
                guard case .data(let back) = try await task.receive(), back == octets else {
                    Issue.record("\(size) bytes")
                    return
                }
            }
            let response = try #require(task.response as? HTTPURLResponse)
            #expect(response.statusCode == 200 && response.lupine.version == "HTTP/2")
            #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "lupine")
            try await task.sendPing()
            // The server's close may arrive before the completion of the send.
            try? await task.send(.string("close"))
            await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(task.closeCode == .invalid && task.closeReason == Data("bye".utf8))
            let refused = try socket(session, "ws://\(host)/nothing")
            await #expect(throws: URLError.self) { _ = try await refused.receive() }
            #expect((refused.response as? HTTPURLResponse)?.statusCode == 403)
        }
    }

    @Test("[H-13.3] many on the connection that is there") func shared() async throws {
        try await withServer(isSecure: true) { session, host in
            let page = try #require(URL(string: "https://\(host)/digest"))
            _ = try await session.data(from: page)
            let sockets = try (0..<20).map { _ in try socket(session, "wss://\(host)/socket") }
            for (number, task) in sockets.enumerated() { try await task.send(.string("\(number)")) }
            for (number, task) in sockets.enumerated() {
                guard case .string(let text) = try await task.receive(), text == "\(number)" else {
                    Issue.record("not \(number)")
                    return
                }
                #expect((task.response as? HTTPURLResponse)?.lupine.version == "HTTP/2")
            }
            _ = try await session.data(from: page)
            for task in sockets { task.cancel(with: .normalClosure, reason: nil) }
        }
    }
}
