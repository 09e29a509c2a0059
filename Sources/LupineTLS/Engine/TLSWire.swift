// SPDX-License-Identifier: MIT

/// What an engine reads its ciphertext from and writes it to: a socket, or a channel over another one.
///
/// The engine holds its wire; a wire must not hold its engine. Neither function waits, and both are called only from within
/// calls into the engine, on the thread of these.
package protocol TLSWire: AnyObject {
    /// Receives into the free part of `output`, which has some: OpenSSL's own buffer.
    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome
    /// Sends the beginning of `bytes`, which are not empty. What is not taken stays with the engine.
    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome
    /// Whether there is nothing to receive, as far as is known without asking. An engine that has given plaintext goes on
    /// receiving only where this is false.
    var isDrained: Bool { get }
}

extension TLSWire {
    /// Who does not know better is asked once for each read.
    package var isDrained: Bool { true }
}

/// What came of giving bytes to a wire, or of taking some.
package enum TLSWireOutcome: Hashable, Sendable {
    /// So many bytes moved, at least one.
    case bytes(Int)
    /// None can move now.
    case wouldBlock
    /// The peer will send no more. Not for sending.
    case end
    /// The wire is broken, and its owner knows why.
    case failed
}

/// What came of reading from an engine.
package enum TLSReadOutcome: Hashable, Sendable {
    /// So many bytes of plaintext, at least one; there may be more.
    case bytes(Int)
    /// Nothing, until the wire has more.
    case wouldBlock
    /// The peer has closed its side with close_notify, and everything was read.
    case end
}
