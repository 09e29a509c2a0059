// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `WebSockets.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct WebSocketSnippets {
    @Test func aConversation() async throws {
        try await API.serve { api in
            let address = "\(api)/websocket".replacing("http:", with: "ws:")
            var heard: [String] = []
            let socket = AF.webSocketRequest(to: address).webSocketTask()
            let messages = socket.streamingMessages()
            try await socket.send(.string("lupin"))
            for await message in messages {
                print(message)
                if case .string(let text) = message { heard.append(text) }  // not on the page
                socket.close(sending: .normalClosure)
            }
            #expect(heard == ["lupin"])
        }
    }

    @Test func handlers() async throws {
        try await API.serve { api in
            let address = "\(api)/websocket".replacing("http:", with: "ws:")
            let code: URLSessionWebSocketTask.CloseCode? = await handed { hand in
                let request = AF.webSocketRequest(to: address, configuration: .pingInterval(30))
                request.streamMessageEvents { event in
                    switch event.kind {
                    case .connected(let name): print("connected", name ?? "")
                    case .receivedMessage(let message):
                        print(message)
                        event.close(sending: .normalClosure)
                    case .disconnected(let closeCode, _):
                        print(closeCode)
                        hand(closeCode)  // not on the page
                    case .completed(let completion): print(completion.error ?? "no error")
                    }
                }
                request.send(.string("lupin")) { result in print(result) }
            }
            #expect(code == .normalClosure)
        }
    }

    @Test func decoding() async throws {
        try await API.serve { api in
            let address = "\(api)/websocket".replacing("http:", with: "ws:")
            var names: [String] = []
            struct Flower: Codable, Sendable {
                let name: String
            }

            let socket = AF.webSocketRequest(to: address).webSocketTask()
            let flowers = socket.streamingDecodable(Flower.self)
            try await socket.send(.string(#"{"name": "bluebonnet"}"#))
            for await flower in flowers {
                print(flower.name)
                names.append(flower.name)  // not on the page
                socket.close(sending: .normalClosure)
            }
            #expect(names == ["bluebonnet"])
        }
    }
}
