// SPDX-License-Identifier: MIT

import LupineTLS

/// What carries the ciphertext of a TLS channel: a socket, or another TLS channel to the proxy in between.
///
/// The engine reads and writes it through `TLSWire`; the rest is what the channel asks of it. On its loop.
protocol ChannelWire: TLSWire {
    /// Whether reading is known to give nothing until `becameReadable` is called.
    var isDrained: Bool { get }
    /// Whether the wire itself keeps octets that the kernel has not taken.
    var hasPendingOutput: Bool { get }
    /// How many octets the kernel has taken in all: what tells a slow peer from a stuck one.
    var octetsSent: UInt64 { get }
    /// How many octets the peer's kernel has acknowledged in all, as far as ours says.
    var octetsAcknowledged: UInt64? { get }
    /// Why the last call failed.
    var failure: ChannelFailure? { get }

    /// The loop says that there may be more to read; `isClosing` that the peer's end is to be read, too.
    func becameReadable(isClosing: Bool)
    /// Hands what the wire keeps to the kernel, as far as it takes it.
    func flush() throws(ChannelFailure)
    /// What is sent from here on may wait for `close`, which is called next.
    func willClose()
    /// Ends our half: nothing is sent any more, reading goes on.
    func closeWriting()
    /// Closes the descriptor underneath.
    func close()
    /// Has the kernel probe the peer when the connection underneath is silent.
    func probe(_ probes: KeepAliveProbes)
    /// Our end of the socket underneath.
    var localAddress: SocketAddress? { get }
}
