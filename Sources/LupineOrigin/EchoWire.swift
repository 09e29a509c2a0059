// SPDX-License-Identifier: MIT

/// The transport of a web socket at the origin: a client's connection, or one HTTP/2 stream (RFC 8441).
protocol EchoWire: AnyObject {
    /// Output not yet sent; the web socket appends to it.
    var output: [UInt8] { get set }
    /// Whether more output may be produced.
    var hasRoom: Bool { get }
    /// The number of received octets not consumed.
    var inputCount: Int { get }
    /// Whether the client has ended its half.
    var peerEnded: Bool { get }
    /// Lends the received octets.
    func withInput<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
    /// Removes octets that have been parsed.
    func consume(_ count: Int)
    /// Ends once everything is sent.
    func finish(_ ending: ServerConnection.Ending)
}

extension ServerConnection: EchoWire {}
