// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

extension WebSocketRequest {
    /// What a handler hears. It does not keep the request alive.
    public struct Event<Success: Sendable, Failure: Error>: Sendable {
        /// What has happened.
        public enum Kind: Sendable {
            /// The connection was made, and that protocol agreed on.
            case connected(protocol: String?)
            /// A message has come.
            case receivedMessage(Success)
            /// A message has come of which no value could be made.
            case serializerFailed(Failure)
            /// The connection was closed.
            case disconnected(closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
            /// The request has ended. Nothing more comes.
            case completed(Completion)
        }

        private weak var request: WebSocketRequest?
        /// What has happened.
        public let kind: Kind
        /// What the message weighs that it is made of.
        let weight: Int

        init(request: WebSocketRequest, kind: Kind, weight: Int = 0) {
            self.request = request
            self.kind = kind
            self.weight = weight
        }

        /// The message, when one has come.
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

        /// Sends a ping; a request that is gone answers that it was not sent.
        public func sendPing(
            respondingOn queue: DispatchQueue = .main,
            onResponse: @escaping @Sendable (PingResponse) -> Void
        ) {
            guard let request else { return queue.async { onResponse(.unsent) } }
            request.sendPing(respondingOn: queue, onResponse: onResponse)
        }
    }

    /// How a request ended.
    public struct Completion: Sendable {
        /// The request that was sent last.
        public let request: URLRequest?
        /// The response to it.
        public let response: HTTPURLResponse?
        /// What was measured of it.
        public let metrics: URLSessionTaskMetrics?
        /// Why it failed; nil when it did not.
        public let error: AFError?
    }

    /// What has become of a ping.
    public enum PingResponse: Sendable {
        /// An answer to a ping.
        public struct Pong: Sendable {
            /// When the ping was sent.
            public let start: Date
            /// When the pong had come.
            public let end: Date
            /// The seconds between, by a clock that nobody sets.
            public let latency: TimeInterval
        }

        /// It was answered.
        case pong(Pong)
        /// It will not be answered.
        case error(any Error)
        /// It was not sent: the request is not resumed or has no task.
        case unsent
    }
}
