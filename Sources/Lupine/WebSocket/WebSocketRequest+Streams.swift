// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

// Methods that add handlers to a WebSocket request. An event occurs on the session's root queue. A decoding queue converts its
// message, and then enqueues the call of the handler on the handler's queue.

extension WebSocketRequest {
    /// Calls `handler` on `queue` with each event.
    @preconcurrency
    @discardableResult
    public func streamMessageEvents(
        on queue: DispatchQueue = .main,
        handler: @escaping @Sendable (_ event: Event<URLSessionWebSocketTask.Message, Never>) -> Void
    ) -> Self {
        addHandler(handler, on: queue) { .receivedMessage($0) }
    }

    /// Calls `handler` on `queue` with each message.
    @preconcurrency
    @discardableResult
    public func streamMessages(
        on queue: DispatchQueue = .main,
        handler: @escaping @Sendable (_ message: URLSessionWebSocketTask.Message) -> Void
    ) -> Self {
        streamMessageEvents(on: queue) { event in
            if let message = event.message { handler(message) }
        }
    }

    /// Calls `handler` on `queue` with each event; `serializer` converts the messages.
    @preconcurrency
    @discardableResult
    public func streamSerializer<Serializer: WebSocketMessageSerializer>(
        _ serializer: Serializer, on queue: DispatchQueue = .main,
        handler: @escaping @Sendable (_ event: Event<Serializer.Output, Serializer.Failure>) -> Void
    ) -> Self where Serializer.Failure == any Error {
        addHandler(handler, on: queue) { message in
            do {
                return .receivedMessage(try serializer.decode(message))
            } catch {
                return .serializerFailed(error)
            }
        }
    }

    /// Calls `handler` on `queue` with each event; messages are decoded to values.
    @preconcurrency
    @discardableResult
    public func streamDecodableEvents<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        handler: @escaping @Sendable (_ event: Event<Value, any Error>) -> Void
    ) -> Self {
        streamSerializer(
            DecodableWebSocketMessageDecoder<Value>(decoder: decoder), on: queue, handler: handler)
    }

    /// Calls `handler` on `queue` with the value of each message that can be decoded.
    @preconcurrency
    @discardableResult
    public func streamDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        handler: @escaping @Sendable (_ value: Value) -> Void
    ) -> Self {
        streamDecodableEvents(Value.self, on: queue, using: decoder) { event in
            if let value = event.message { handler(value) }
        }
    }

    /// Adds a handler; `decode` converts a message to the handler's event.
    private func addHandler<Success: Sendable, Failure: Error>(
        _ handler: @escaping @Sendable (Event<Success, Failure>) -> Void, on queue: DispatchQueue,
        decode: @escaping @Sendable (URLSessionWebSocketTask.Message) -> Event<Success, Failure>.Kind
    ) -> Self {
        let consumer = EventConsumer { request, event in
            request.decodingQueue.async {
                switch event {
                case .connected(let subprotocol):
                    request.deliver(.connected(protocol: subprotocol), to: handler, on: queue)
                case .message(let message):
                    let weight = event.weight
                    // After a cancellation, the message is not decoded, and leaves the backlog.
                    guard !request.deliversOnlyCompletion else { return request.changeBacklog(by: -weight) }
                    request.deliverUnlessCancelled(decode(message), weighing: weight, to: handler, on: queue)
                case .disconnected(let code, let reason):
                    request.deliverUnlessCancelled(
                        .disconnected(closeCode: code, reason: reason), to: handler, on: queue)
                }
            }
        }
        socketState.write { $0.consumers.append(consumer) }
        // The end of the request is delivered as a serializer of `Request`, which runs when the request has finished. It passes
        // through the decoding queue, so that it follows all messages.
        pass.append(needsSerializationQueue: false) { _ in
            self.pass.complete {
                self.decodingQueue.async {
                    let completion = Completion(
                        request: self.request, response: self.response, metrics: self.metrics,
                        error: self.error)
                    self.deliver(.completed(completion), to: handler, on: queue)
                }
            }
        }
        return self
    }

    /// Whether handlers receive no further event except the end of the request, because it was cancelled.
    private var deliversOnlyCompletion: Bool { socketState.read { $0.deliversOnlyCompletion } }

    /// Calls the handler on `queue` with an event.
    private func deliver<Success: Sendable, Failure: Error>(
        _ kind: Event<Success, Failure>.Kind,
        to handler: @escaping @Sendable (Event<Success, Failure>) -> Void, on queue: DispatchQueue
    ) {
        queue.async { handler(Event(request: self, kind: kind)) }
    }

    /// Calls the handler on `queue` with an event, unless the request has been cancelled by then. Removes `weight` from the
    /// backlog, even if the handler is not called.
    private func deliverUnlessCancelled<Success: Sendable, Failure: Error>(
        _ kind: Event<Success, Failure>.Kind, weighing weight: Int = 0,
        to handler: @escaping @Sendable (Event<Success, Failure>) -> Void, on queue: DispatchQueue
    ) {
        queue.async {
            if !self.deliversOnlyCompletion { handler(Event(request: self, kind: kind, weight: weight)) }
            if weight > 0 { self.changeBacklog(by: -weight) }
        }
    }
}
