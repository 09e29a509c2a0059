// SPDX-License-Identifier: MIT

public import Foundation

extension WebSocketRequest {
    /// What a request agrees on with its server, and how it looks after the connection.
    public struct Configuration: Sendable {
        /// No protocol, messages of up to 1 MiB, no pings.
        public static var `default`: Self { Self() }

        /// The protocol that is offered to the server.
        public static func `protocol`(_ protocol: String) -> Self { Self(protocol: `protocol`) }

        /// The largest message that is received; a larger one fails the request.
        public static func maximumMessageSize(_ maximumMessageSize: Int) -> Self {
            Self(maximumMessageSize: maximumMessageSize)
        }

        /// Pings that are sent by themselves: so many seconds after connecting, and after each pong.
        public static func pingInterval(_ pingInterval: TimeInterval) -> Self {
            Self(pingInterval: pingInterval)
        }

        /// The protocol that is offered to the server.
        public let `protocol`: String?
        /// The largest message that is received; a larger one fails the request.
        public let maximumMessageSize: Int
        /// How many seconds after connecting, and after each pong, a ping is sent by itself; nil sends none.
        public let pingInterval: TimeInterval?

        init(
            protocol: String? = nil, maximumMessageSize: Int = 1_048_576, pingInterval: TimeInterval? = nil
        ) {
            self.protocol = `protocol`
            self.maximumMessageSize = maximumMessageSize
            self.pingInterval = pingInterval
        }
    }
}
