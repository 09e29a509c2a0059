// SPDX-License-Identifier: MIT

public import Foundation

extension WebSocketRequest {
    /// The configuration of a WebSocket request.
    public struct Configuration: Sendable {
        /// The default configuration: it offers no subprotocol, accepts messages of up to 1 MiB, and sends no automatic pings.
        public static var `default`: Self { Self() }

        /// Returns a configuration that offers a subprotocol to the server.
        public static func `protocol`(_ protocol: String) -> Self { Self(protocol: `protocol`) }

        /// Returns a configuration with a maximum size of received messages, in bytes; a larger message fails the request.
        public static func maximumMessageSize(_ maximumMessageSize: Int) -> Self {
            Self(maximumMessageSize: maximumMessageSize)
        }

        /// Returns a configuration that sends automatic pings: `pingInterval` seconds after connecting and after each pong.
        public static func pingInterval(_ pingInterval: TimeInterval) -> Self {
            Self(pingInterval: pingInterval)
        }

        /// The subprotocol that the request offers to the server; nil for none.
        public let `protocol`: String?
        /// The maximum size of a received message, in bytes; a larger one fails the request.
        public let maximumMessageSize: Int
        /// The seconds from connecting, and from each pong, to the next automatic ping; nil sends none.
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
