// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

/// WebSocket tasks with a foreign server.
struct WebSocketServerTests {
    @Test("text and binary of many sizes come back as they went", arguments: [false, true])
    func echo(_ compresses: Bool) async throws {
        try await withSocket("/echo", compresses: compresses) { task in
            for size in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
                let text = String(repeating: "lupine é 🐺 ", count: size / 16 + 1)
                try await task.send(.string(text))
                guard case .string(let answer) = try await task.receive(), answer == text else {
                    Issue.record("text of about \(size)")
                    return
                }
                let octets = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                try await task.send(.data(octets))
                guard case .data(let back) = try await task.receive(), back == octets else {
                    Issue.record("\(size) bytes")
                    return
                }
            }
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    @Test("16 MiB come back whole", arguments: [false, true]) func large(_ compresses: Bool) async throws {
        try await withSocket("/echo", compresses: compresses) { task in
            task.maximumMessageSize = 16 << 20
            let octets = Data(repeating: 0x5A, count: 16 << 20)
            try await task.send(.data(octets))
            guard case .data(let back) = try await task.receive() else {
                Issue.record("text")
                return
            }
            #expect(back == octets)
            task.cancel()
        }
    }

    @Test("[U-8.5] fragments are put together", arguments: [false, true])
    func fragments(_ compresses: Bool) async throws {
        try await withSocket("/fragments", compresses: compresses) { task in
            let text = String(repeating: "wölfe ", count: 5000)
            try await task.send(.string(text))
            guard case .string(let answer) = try await task.receive() else {
                Issue.record("binary")
                return
            }
            #expect(answer == text)
            task.cancel()
        }
    }

    @Test(
        "[U-8.8] the server's close codes come through",
        arguments: [1000, 1001, 1003, 1008, 1011, 3000, 4999])
    func closes(_ code: Int) async throws {
        try await withSocket("/close/\(code)") { task in
            await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(task.closeCode == URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .invalid)
            #expect(task.closeReason == Data("bye".utf8))
        }
    }

    @Test("[U-8.8] messages before a close are not lost") func pushes() async throws {
        try await withSocket("/push/2000") { task in
            for number in 0..<2000 {
                guard case .string(let text) = try await task.receive(), text == String(number) else {
                    Issue.record("not \(number)")
                    return
                }
            }
            await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(task.closeCode == .normalClosure)
        }
    }

    @Test("[U-8.7] pings are answered, and ours are") func pings() async throws {
        try await withSocket("/ping") { task in
            guard case .string("ponged") = try await task.receive() else {
                Issue.record("no pong")
                return
            }
            try await task.sendPing()
            task.cancel()
        }
    }

    @Test("[U-8.11] a connection that is cut is lost") func cut() async throws {
        try await withSocket("/abort") { task in
            try await task.send(.string("bye"))
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .networkConnectionLost)
            #expect(task.closeCode == .invalid)
        }
    }

    @Test("[U-8.2] a subprotocol is agreed on") func subprotocol() async throws {
        try await withSocket("/echo", protocols: ["other", "lupine"]) { task in
            try await task.send(.string("a"))
            _ = try await task.receive()
            let response = try #require(task.response as? HTTPURLResponse)
            #expect(response.statusCode == 101)
            #expect(response.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "lupine")
            task.cancel()
        }
    }

    private func withSocket(
        _ path: String, compresses: Bool = false, protocols: [String] = [],
        _ body: (URLSessionWebSocketTask) async throws -> Void
    ) async throws {
        try await ServerProcess.with(WebSocketServer(compresses: compresses)) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configuration.lupine.offersWebSocketCompression = compresses
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: "ws" + server.url.dropFirst(4) + path))
            let task = session.webSocketTask(with: url, protocols: protocols)
            task.resume()
            try await body(task)
        }
    }
}
