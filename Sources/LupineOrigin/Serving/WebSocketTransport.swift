// SPDX-License-Identifier: MIT

/// The transport of a web socket at the origin: a client's connection, or one stream of an HTTP/2 connection (RFC 8441).
protocol WebSocketTransport: AnyObject {
    /// The octets that wait to be sent; the web socket appends to them.
    var output: [UInt8] { get set }
    /// Whether more output may be produced.
    var hasOutputRoom: Bool { get }
    /// The number of received octets that have not been consumed.
    var inputCount: Int { get }
    /// Whether the client has closed its half of the transport.
    var hasPeerEnded: Bool { get }
    /// Calls `body` with the received octets.
    func withInput<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
    /// Removes octets from the front of the input.
    func consume(_ count: Int)
    /// Ends the transport when all output has been sent.
    func finish(_ ending: ServerConnection.Ending)
}

extension ServerConnection: WebSocketTransport {}
