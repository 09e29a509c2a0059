// SPDX-License-Identifier: MIT

/// What a web socket speaks over at the origin: a client's connection, or one stream of it (RFC 8441).
protocol EchoWire: AnyObject {
    /// What waits to be sent; appended to.
    var output: [UInt8] { get set }
    /// Whether more may be produced.
    var hasRoom: Bool { get }
    /// How many received octets have not been consumed.
    var inputCount: Int { get }
    /// The client sends no more.
    var peerEnded: Bool { get }
    /// Lends the received octets.
    func withInput<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
    /// Drops octets that have been understood.
    func consume(_ count: Int)
    /// Ends once everything is sent.
    func finish(_ ending: ServerConnection.Ending)
}

extension ServerConnection: EchoWire {}
