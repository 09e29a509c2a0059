// SPDX-License-Identifier: MIT

extension HTTPURLResponse {
    /// The head of a response (status line and header lines) as received; the value of `response.lupine`.
    ///
    /// `allHeaderFields` joins lines of the same name and has no order, so it cannot be used to display a head.
    public struct Wire: Sendable {
        /// The protocol version, such as `HTTP/1.1`.
        public let version: String
        /// The reason phrase; empty if the server sent none.
        public let reason: String
        /// The header lines, in the order and with the spelling in which they were received.
        public let fields: [(name: String, value: String)]
    }
}
