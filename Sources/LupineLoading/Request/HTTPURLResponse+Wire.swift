// SPDX-License-Identifier: MIT

extension HTTPURLResponse {
    /// A response's head as received: `response.lupine`. A value.
    ///
    /// Apple's dictionary joins lines of the same name and has no order, which does not suit code that displays a head.
    public struct Wire: Sendable {
        /// The protocol version, such as `HTTP/1.1`.
        public let version: String
        /// The reason phrase; empty when the server sent none.
        public let reason: String
        /// The header lines, in the order and with the spelling in which they were received.
        public let fields: [(name: String, value: String)]
    }
}
