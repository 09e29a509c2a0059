// SPDX-License-Identifier: MIT

import LupineTLS

/// Carries the ciphertext of a TLS channel: a socket, or the TLS channel to a proxy.
///
/// The engine reads and writes through `TLSWire`; the other members are for the channel. Used on its loop.
protocol ChannelWire: TLSWire {
    /// Whether reading is known to give nothing until `becameReadable` is called.
    var isDrained: Bool { get }
    /// Whether the wire itself holds octets that the kernel has not accepted.
    var hasPendingOutput: Bool { get }
    /// The total number of octets that the kernel has accepted: distinguishes a slow peer from a stuck one.
    var octetsSent: UInt64 { get }
    /// The total number of octets that the peer's kernel has acknowledged, if the local kernel reports it.
    var octetsAcknowledged: UInt64? { get }
    /// The reason why the last call failed.
    var failure: ChannelFailure? { get }

    /// The loop has reported that there may be more to read; `isClosing` if the peer's end may be read, too.
    func becameReadable(isClosing: Bool)
    /// Passes the held octets to the kernel, as far as it accepts them.
    func flush() throws(ChannelFailure)
    /// Octets sent from now on may be held back until `close`, which is called next.
    func willClose()
    /// Ends the sending half; the wire can still be read.
    func closeWriting()
    /// Closes the descriptor underneath.
    func close()
    /// Makes the kernel probe the peer when the underlying connection is silent.
    func setKeepAlive(_ probes: KeepAliveProbes)
    /// The local address of the underlying socket.
    var localAddress: SocketAddress? { get }
}
