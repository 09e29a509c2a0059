// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// A public function that delivers the messages of a WebSocket connection.
struct LimitSocket: Sendable, CustomTestStringConvertible {
    let name: String
    let note: String
    /// Whether messages are buffered until the sequence is iterated.
    let gathers: Bool
    /// Starts taking the messages. The closure that it returns is called when the request has ended.
    let take: @Sendable (PipelineStage, WebSocketRequest) -> @Sendable () async -> Void

    init(
        _ name: String, _ note: String = "", gathers: Bool = false,
        _ take: @escaping @Sendable (PipelineStage, WebSocketRequest) -> @Sendable () async -> Void
    ) {
        self.name = name
        self.note = note
        self.gathers = gathers
        self.take = take
    }

    var testDescription: String { note.isEmpty ? name : "\(name), \(note)" }

    private struct Plain: WebSocketMessageSerializer {
        func decode(_ message: URLSessionWebSocketTask.Message) throws -> Int { 1 }
    }

    static let all = handlers + sequences

    private static let handlers = [
        LimitSocket("WebSocketRequest.streamMessageEvents") { stage, request in
            request.streamMessageEvents(on: stage.handlers) { _ in }
            return {}
        },
        LimitSocket("WebSocketRequest.streamMessages") { stage, request in
            request.streamMessages(on: stage.handlers) { _ in }
            return {}
        },
        LimitSocket("WebSocketRequest.streamSerializer") { stage, request in
            request.streamSerializer(Plain(), on: stage.handlers) { _ in }
            return {}
        },
        LimitSocket("WebSocketRequest.streamDecodableEvents") { stage, request in
            request.streamDecodableEvents(Int.self, on: stage.handlers) { _ in }
            return {}
        },
        LimitSocket("WebSocketRequest.streamDecodable") { stage, request in
            request.streamDecodable(Int.self, on: stage.handlers) { _ in }
            return {}
        },
    ]

    private static let sequences =
        both("WebSocketTask.streamingMessageEvents") { $0.streamingMessageEvents() }
        + both("WebSocketTask.streamingMessages") { $0.streamingMessages() }
        + both("WebSocketTask.streamingDecodableEvents") { $0.streamingDecodableEvents(Int.self) }
        + both("WebSocketTask.streamingDecodable") { $0.streamingDecodable(Int.self) }

    /// Returns two rows: a sequence that is iterated from the beginning, and one that is iterated when the request has ended.
    private static func both<Element: Sendable>(
        _ name: String, _ stream: @escaping @Sendable (WebSocketTask) -> StreamOf<Element>
    ) -> [LimitSocket] {
        [
            LimitSocket(name, "iterated") { stage, request in
                let task = request.webSocketTask()
                let events = stage.iterating { stream(task) }
                let reading = Task.detached {
                    var events = events
                    while await events.next() != nil {}
                }
                return { await reading.value }
            },
            LimitSocket(name, "not iterated", gathers: true) { _, request in
                let events = stream(request.webSocketTask())
                return { for await _ in events {} }
            },
        ]
    }
}
