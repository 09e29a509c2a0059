// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

extension WebSocketRequest {
    /// The argument of a handler: an event of the connection or of the request. It does not retain the request.
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// The kind of an event.
        public enum Kind: Sendable {
            /// The connection was opened, with this subprotocol.
            case connected(protocol: String?)
            /// A message was received.
            case receivedMessage(Success)
            /// The serializer could not convert a received message.
            case serializerFailed(Failure)
            /// The connection was closed.
            case disconnected(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
            /// The request has ended. This is the last event.
            case completed(Completion)
        }

        private weak var request: WebSocketRequest?
        /// The kind of this event.
        public let kind: Kind
        /// The number of bytes that the backlog (the events that wait for handlers) counts for a received message; 0 for other
        /// events.
        let weight: Int

        init(request: WebSocketRequest, kind: Kind, weight: Int = 0) {
            self.request = request
            self.kind = kind
            self.weight = weight
        }

        /// The message; nil for other events.
        public var message: Success? {
            guard case .receivedMessage(let message) = kind else { return nil }
            return message
        }

        /// Closes the connection, with a code and a reason for the server.
        public func close(sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil) {
            request?.close(sending: closeCode, reason: reason)
        }

        /// Cancels the request.
        public func cancel() { request?.cancel() }

        /// Sends a ping. If the request no longer exists, the response is `unsent`.
        public func sendPing(
            respondingOn queue: DispatchQueue = .main,
            onResponse: @escaping @Sendable (PingResponse) -> Void
        ) {
            guard let request else { return queue.async { onResponse(.unsent) } }
            request.sendPing(respondingOn: queue, onResponse: onResponse)
        }
    }

    /// The outcome of a request.
    public struct Completion: Sendable {
        /// The `URLRequest` of the last attempt.
        public let request: URLRequest?
        /// The response to `request`.
        public let response: HTTPURLResponse?
        /// The metrics of the last attempt's task.
        public let metrics: URLSessionTaskMetrics?
        /// The error; nil if the request succeeded.
        public let error: AFError?
    }

    /// The outcome of a ping.
    public enum PingResponse: Sendable {
        /// An answer to a ping.
        public struct Pong: Sendable {
            /// The time at which the ping was sent.
            public let start: Date
            /// The time at which the pong was received.
            public let end: Date
            /// The seconds between sending the ping and receiving the pong, measured with a monotonic clock.
            public let latency: TimeInterval
        }

        /// The ping was answered.
        case pong(Pong)
        /// The ping will not be answered.
        case error(any Error)
        /// The ping was not sent: the request is not resumed or has no task.
        case unsent
    }
}
