// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The messages of a WebSocket as asynchronous sequences, and ways to answer. Any thread.
///
/// Each `streaming…` method is a handler of the request from the moment of its call: the request may start at once, and
/// what comes is gathered for the sequence. Once it is iterated, an iteration that is slower than the server slows it down,
/// as any handler does.
public struct WebSocketTask: Sendable {
    /// The events of a connection: connected, messages, disconnected, completed.
    public typealias EventStreamOf<Success: Sendable, Failure: Error> = StreamOf<
        WebSocketRequest.Event<Success, Failure>
    >

    private let request: WebSocketRequest

    fileprivate init(request: WebSocketRequest) { self.request = request }

    /// All events.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingMessageEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: EventStreamOf<URLSessionWebSocketTask.Message, Never>.BufferingPolicy = .unbounded
    ) -> EventStreamOf<URLSessionWebSocketTask.Message, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            $0
        } adding: {
            request.streamMessageEvents(on: .streamCompletion(of: request), handler: $0)
        }
    }

    /// The messages alone.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingMessages(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: StreamOf<URLSessionWebSocketTask.Message>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionWebSocketTask.Message> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            $0.message
        } adding: {
            request.streamMessageEvents(on: .streamCompletion(of: request), handler: $0)
        }
    }

    /// All events, with values decoded from the messages.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
        bufferingPolicy: EventStreamOf<Value, any Error>.BufferingPolicy = .unbounded
    ) -> EventStreamOf<Value, any Error> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            $0
        } adding: {
            request.streamDecodableEvents(
                Value.self, on: .streamCompletion(of: request), using: decoder, handler: $0)
        }
    }

    /// The values alone that can be decoded from the messages.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
        bufferingPolicy: StreamOf<Value>.BufferingPolicy = .unbounded
    ) -> StreamOf<Value> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            $0.message
        } adding: {
            request.streamDecodableEvents(
                Value.self, on: .streamCompletion(of: request), using: decoder, handler: $0)
        }
    }

    /// Sends a message; returns when it has been handed to the connection, throws when it could not be.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            request.send(message, queue: .streamCompletion(of: request)) { continuation.resume(with: $0) }
        }
    }

    /// Closes the connection, with a code and a reason for the server.
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// Cancels the request, for all its streams.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }

    private func stream<Element, Success: Sendable, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        choosing element: @escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Element?,
        adding: (@escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Void) -> Void
    ) -> StreamOf<Element> {
        let request = request
        let limit = request.collectedBodyLimit
        let gathered = GatheredBytes(
            upTo: limit.bytes, overflow: { [weak request] in request?.fail(limit) },
            weigh: { [weak request] bytes in request?.weigh(bytes) })
        return StreamOf(bufferingPolicy: bufferingPolicy, gathered: gathered) {
            if shouldAutomaticallyCancel { request.cancelUnlessEnded() }
        } source: { source in
            adding { event in
                if let element = element(event) { source.send(element, weighing: event.weight) }
                if case .completed = event.kind { source.finish() }
            }
        }
    }
}

extension WebSocketRequest {
    /// The request's messages as asynchronous sequences, and ways to answer.
    public func webSocketTask() -> WebSocketTask { WebSocketTask(request: self) }
}
