// SPDX-License-Identifier: MIT

/// The source and destination of an engine's ciphertext: a socket, or another TLS connection to a proxy.
///
/// The engine retains its wire; a wire must not retain its engine. Neither `receive` nor `send` may block. The engine calls them
/// only while its owner calls the engine, on the owner's thread.
package protocol TLSWire: AnyObject {
    /// Receives bytes into the free capacity of `output`, which is part of OpenSSL's own buffer. There is capacity for at least
    /// one byte.
    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome
    /// Sends a prefix of `bytes`, which are not empty. The engine stores the bytes that the wire does not accept.
    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome
    /// False if the wire knows that more bytes have arrived; true if none have, or if it does not know. An engine that has
    /// decrypted some plaintext continues receiving only if this is false.
    var isDrained: Bool { get }
}

extension TLSWire {
    /// True by default, so that a `read` stops receiving as soon as it has plaintext.
    package var isDrained: Bool { true }
}

/// The result of sending to or receiving from a wire.
package enum TLSWireOutcome: Hashable, Sendable {
    /// This number of bytes was transferred, at least one.
    case bytes(Int)
    /// No bytes can be transferred now.
    case wouldBlock
    /// The peer sends no more. Only `receive` returns this.
    case end
    /// The wire has failed; its owner knows the reason.
    case failed
}

/// The result of reading from an engine.
package enum TLSReadOutcome: Hashable, Sendable {
    /// This number of bytes of plaintext was read, at least one; there may be more.
    case bytes(Int)
    /// There is no plaintext until the wire has more input.
    case wouldBlock
    /// The peer has sent close_notify, and all plaintext before it has been read.
    case end
}
