// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin

@testable import Lupine

typealias Message = URLSessionWebSocketTask.Message

extension PipelineStage {
    /// An address of the origin's web sockets, which do what the query asks for.
    func socketURL(_ query: String = "", path: String = "/websocket", scheme: String = "ws") -> String {
        "\(scheme)://origin.test:\(origin.port)\(path)?\(query)"
    }

    /// A web socket.
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
    /// The text, or how much data there is.
    var brief: String {
        switch self {
        case .string(let text): text
        case .data(let data): "\(data.count) bytes"
        }
    }
}

extension WebSocketRequest.Event {
    /// What has happened, in a word or a few.
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

    /// Whether nothing more comes.
    var isLast: Bool { if case .completed = kind { true } else { false } }
}

/// What the handler of a web socket heard.
final class SocketLog: Sendable {
    let events = Heard<String>()
    let isOver = Heard<Bool>()

    /// Notes an event.
    func note<Success, Failure>(_ event: WebSocketRequest.Event<Success, Failure>) {
        events.add(event.brief)
        if event.isLast { isOver.add(true) }
    }

    /// Everything, when it is over.
    var all: [String] {
        get async {
            await isOver.wait(for: 1)
            return events.all
        }
    }
}

extension WebSocketRequest {
    /// Notes the events, on a queue of its own, and does with each of them what the test wants.
    func log(
        _ doing: @escaping @Sendable (Event<Message, Never>) -> Void = { _ in }
    ) -> SocketLog {
        let log = SocketLog()
        streamMessageEvents(on: DispatchQueue(label: "handler")) { event in
            log.note(event)
            doing(event)
        }
        return log
    }

    /// Sends a message; what became of it is told in brief.
    func sends(_ text: String, _ outcomes: Heard<String>) {
        send(.string(text), queue: DispatchQueue(label: "sent")) { result in
            switch result {
            case .success: outcomes.add("\(text) sent")
            case .failure(let error): outcomes.add("\(text) \(brief(error))")
            }
        }
    }

    /// Pings and waits for what becomes of it.
    func pinged() async -> PingResponse {
        await withCheckedContinuation { continuation in
            sendPing(respondingOn: DispatchQueue(label: "pong")) { continuation.resume(returning: $0) }
        }
    }
}

extension WebSocketRequest.PingResponse {
    /// What it is, in a word or two.
    var brief: String {
        switch self {
        case .pong: "pong"
        case .error(let error): "error \(LupineTests.brief(error))"
        case .unsent: "unsent"
        }
    }
}
