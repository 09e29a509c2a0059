// SPDX-License-Identifier: MIT

/// The source and destination of an engine's ciphertext: a socket, or a channel over another one.
///
/// The engine retains its wire; a wire must not retain its engine. Neither function may block, and both are called only from
/// within calls into the engine, on the same thread.
package protocol TLSWire: AnyObject {
    /// Receives into the free part of `output`, which is not empty: OpenSSL's own buffer.
    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome
    /// Sends a prefix of `bytes`, which is not empty. The engine stores the other bytes.
    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome
    /// False if the wire knows that more bytes are available. An engine that has decrypted some plaintext continues receiving
    /// only then.
    var isDrained: Bool { get }
}

extension TLSWire {
    /// True by default: an engine then stops receiving as soon as it has plaintext.
    package var isDrained: Bool { true }
}

/// The result of sending to or receiving from a wire.
package enum TLSWireOutcome: Hashable, Sendable {
    /// This number of bytes was transferred, at least one.
    case bytes(Int)
    /// No bytes can be transferred now.
    case wouldBlock
    /// The peer sends no more. Never returned for sending.
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
    /// The peer has sent close_notify, and everything was read.
    case end
}
