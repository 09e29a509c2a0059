// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// The messages of a WebSocket as asynchronous sequences, and methods to send messages. Can be used on any thread.
///
/// Each `streaming…` method adds a handler to the request when it is called: the request may start at once, and received
/// messages are buffered for the sequence. During the iteration, an iteration that is slower than the server slows the server
/// down, as any slow handler does.
public struct WebSocketTask: Sendable {
    /// The events of a connection: connected, messages, disconnected, completed.
    public typealias EventStreamOf<Success: Sendable, Failure: Error> = StreamOf<
        WebSocketRequest.Event<Success, Failure>
    >

    private let request: WebSocketRequest

    fileprivate init(request: WebSocketRequest) { self.request = request }

    /// Returns all events.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingMessageEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: EventStreamOf<URLSessionWebSocketTask.Message, Never>.BufferingPolicy = .unbounded
    ) -> EventStreamOf<URLSessionWebSocketTask.Message, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            // Each event is an element.
            $0
        } addHandler: {
            request.streamMessageEvents(on: .streamCompletion(of: request), handler: $0)
        }
    }

    /// Returns only the messages.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingMessages(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: StreamOf<URLSessionWebSocketTask.Message>.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionWebSocketTask.Message> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            // An event without a message is skipped.
            $0.message
        } addHandler: {
            request.streamMessageEvents(on: .streamCompletion(of: request), handler: $0)
        }
    }

    /// Returns all events, with values decoded from the messages.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
        bufferingPolicy: EventStreamOf<Value, any Error>.BufferingPolicy = .unbounded
    ) -> EventStreamOf<Value, any Error> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            // Each event is an element.
            $0
        } addHandler: {
            request.streamDecodableEvents(
                Value.self, on: .streamCompletion(of: request), using: decoder, handler: $0)
        }
    }

    /// Returns only the values that can be decoded from the messages.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        using decoder: any DataDecoder = JSONDecoder(),
        bufferingPolicy: StreamOf<Value>.BufferingPolicy = .unbounded
    ) -> StreamOf<Value> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            // An event without a value is skipped: its `message` is nil.
            $0.message
        } addHandler: {
            request.streamDecodableEvents(
                Value.self, on: .streamCompletion(of: request), using: decoder, handler: $0)
        }
    }

    /// Sends a message. Returns when the message has been written to the connection, and throws if that fails.
    public func send(_ message: URLSessionWebSocketTask.Message) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            request.send(message, queue: .streamCompletion(of: request)) { continuation.resume(with: $0) }
        }
    }

    /// Closes the connection with a close code and a reason.
    public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
        request.close(sending: closeCode, reason: reason)
    }

    /// Cancels the request, which ends all its streams.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }

    /// Returns a sequence of the elements that `element` makes of the request's events. Skips an event if `element` returns nil.
    /// `addHandler` adds a handler to the request, which passes the events to the sequence.
    private func stream<Element, Success: Sendable, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: StreamOf<Element>.BufferingPolicy,
        choosing element: @escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Element?,
        addHandler: (@escaping @Sendable (WebSocketRequest.Event<Success, Failure>) -> Void) -> Void
    ) -> StreamOf<Element> {
        let request = request
        let limit = request.collectedBodyLimit
        let bufferedBytes = BufferedByteCount(
            upTo: limit.bytes, onOverflow: { [weak request] in request?.fail(exceeding: limit) },
            changeBacklog: { [weak request] byteCount in request?.changeBacklog(by: byteCount) })
        return StreamOf(bufferingPolicy: bufferingPolicy, bufferedBytes: bufferedBytes) {
            // The iteration has ended before the request.
            if shouldAutomaticallyCancel { request.cancelUnlessEnded() }
        } source: { source in
            addHandler { event in
                if let element = element(event) { source.send(element, weighing: event.weight) }
                if case .completed = event.kind { source.finish() }
            }
        }
    }
}

extension WebSocketRequest {
    /// Returns an object that provides the request's messages as asynchronous sequences and sends messages.
    public func webSocketTask() -> WebSocketTask { WebSocketTask(request: self) }
}
