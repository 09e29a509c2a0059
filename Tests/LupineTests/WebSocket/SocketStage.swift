// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin

@testable import Lupine

typealias Message = URLSessionWebSocketTask.Message

extension PipelineStage {
    /// Returns a WebSocket URL of the origin, which does what the query requests.
    func socketURL(_ query: String = "", path: String = "/websocket", scheme: String = "ws") -> String {
        "\(scheme)://origin.test:\(origin.port)\(path)?\(query)"
    }

    /// Returns a WebSocket request.
    func socket(
        _ query: String = "", path: String = "/websocket",
        configuration: WebSocketRequest.Configuration = .default,
        interceptor: (any RequestInterceptor)? = nil, resumes: Bool? = nil
    ) -> WebSocketRequest {
        session.webSocketRequest(
            to: socketURL(query, path: path), configuration: configuration, interceptor: interceptor,
            shouldAutomaticallyResume: resumes)
    }
}

extension Message {
    /// The text, or the number of bytes.
    var brief: String {
        switch self {
        case .string(let text): text
        case .data(let data): "\(data.count) bytes"
        }
    }
}

extension WebSocketRequest.Event {
    /// A short description of the event.
    var brief: String {
        switch kind {
        case .connected(let name): return "connected \(name ?? "-")"
        case .receivedMessage(let message):
            return "message \((message as? Message)?.brief ?? String(describing: message))"
        case .serializerFailed: return "failed"
        case .disconnected(let code, let reason):
            return
                "disconnected \(code.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")"
        case .completed(let completion): return "completed \(LupineTests.brief(completion.error))"
        }
    }

    /// Whether it is the last event.
    var isLast: Bool { if case .completed = kind { true } else { false } }
}

/// The events that the handler of a WebSocket request received.
final class SocketLog: Sendable {
    let events = ValueLog<String>()
    let completed = ValueLog<Bool>()

    /// Records an event.
    func record<Success, Failure>(_ event: WebSocketRequest.Event<Success, Failure>) {
        events.add(event.brief)
        if event.isLast { completed.add(true) }
    }

    /// All events, once the request has completed.
    var all: [String] {
        get async {
            await completed.wait(for: 1)
            return events.all
        }
    }
}

extension WebSocketRequest {
    /// Records the events on a separate queue, and calls `doing` with each of them.
    func log(
        _ doing: @escaping @Sendable (Event<Message, Never>) -> Void = { _ in }
    ) -> SocketLog {
        let log = SocketLog()
        streamMessageEvents(on: DispatchQueue(label: "handler")) { event in
            log.record(event)
            doing(event)
        }
        return log
    }

    /// Sends a message, and adds a short description of the outcome to `outcomes`.
    func sendText(_ text: String, _ outcomes: ValueLog<String>) {
        send(.string(text), queue: DispatchQueue(label: "sent")) { result in
            switch result {
            case .success: outcomes.add("\(text) sent")
            case .failure(let error): outcomes.add("\(text) \(brief(error))")
            }
        }
    }

    /// Sends a ping, and returns its response.
    func pingAndWait() async -> PingResponse {
        await withCheckedContinuation { continuation in
            sendPing(respondingOn: DispatchQueue(label: "pong")) { continuation.resume(returning: $0) }
        }
    }
}

extension WebSocketRequest.PingResponse {
    /// A short description of the response.
    var brief: String {
        switch self {
        case .pong: "pong"
        case .error(let error): "error \(LupineTests.brief(error))"
        case .unsent: "unsent"
        }
    }
}
