// SPDX-License-Identifier: MIT

import LupineTLS

/// Carries the records of a TLS connection: on a socket, or inside the TLS connection to a proxy.
///
/// `TLSEngine` reads and writes through the members of `TLSWire`; `TLSChannel` and `TLSHandshake` use the others. Confined to the
/// connection's loop.
protocol ChannelWire: TLSWire {
    /// Whether a read would certainly return `wouldBlock`, until `becameReadable` is called.
    var isDrained: Bool { get }
    /// Whether the wire holds octets that the kernel has not accepted.
    var hasPendingOutput: Bool { get }
    /// The total number of octets that the kernel has accepted. If output is pending and the number grows, the peer is slow; if
    /// the number does not grow, the peer is stuck.
    var octetsSent: UInt64 { get }
    /// The total number of octets that the peer's kernel has acknowledged; nil if the local kernel does not report it.
    var octetsAcknowledged: UInt64? { get }
    /// The reason why a call of `receive` or `send` returned `failed`; nil if none has.
    var failure: ChannelFailure? { get }

    /// Called when the loop reports that there may be more to read. `isClosing` says that the peer has closed its end.
    func becameReadable(isClosing: Bool)
    /// Passes the octets that the wire holds to the kernel, as far as it accepts them.
    func flush() throws(ChannelFailure)
    /// Announces the last `send`, which `close` follows. The wire may ask the kernel to hold the last octets back, so that they
    /// leave in one packet with the end of the stream.
    func willClose()
    /// Ends the sending half; the wire can still be read.
    func closeWriting()
    /// Closes the underlying socket.
    func close()
    /// Turns on TCP keep-alive for the underlying connection.
    func setKeepAlive(_ probes: KeepAliveProbes)
    /// The local address of the underlying socket; nil if the socket is closed or the kernel does not report the address.
    var localAddress: SocketAddress? { get }
}
