// SPDX-License-Identifier: MIT

extension HTTPURLResponse {
    /// A response's head as it came: `response.lupine`. A value.
    ///
    /// The dictionary of Apple's type joins lines of one name and has no order; whoever shows a head to people wants neither.
    public struct Wire: Sendable {
        /// The protocol's version, as in `HTTP/1.1`.
        public let version: String
        /// The words behind the status; empty when the server sent none.
        public let reason: String
        /// The header fields line by line, in the order and with the spelling in which they came.
        public let fields: [(name: String, value: String)]
    }
}
