// SPDX-License-Identifier: MIT

import LupineTLS

/// The bytes of a connection, in and out, whatever lies between them and the wire: nothing, or TLS.
///
/// What can be handed to the kernel without a look at it (`isTransparent`) is asked here and nowhere else. It belongs to
/// one loop, and its owner tells it when the loop says that there is something to read.
struct ByteChannel: ~Copyable {
    private var link: Link

    private enum Link: ~Copyable {
        case closed
        case plain(Socket)
        case secure(TLSChannel)
    }

    /// Bytes as they are on the socket.
    init(socket: consuming Socket) { link = .plain(socket) }

    /// Bytes inside TLS.
    init(secure channel: TLSChannel) { link = .secure(channel) }

    /// Closes the descriptor. Nothing may be read or written afterwards.
    mutating func close() {
        secure?.close()
        link = .closed
    }

    /// Whether files may be sent and received by the kernel alone.
    var isTransparent: Bool {
        switch link {
        case .plain: true
        case .secure: false
        case .closed: false
        }
    }

    private var secure: TLSChannel? {
        switch link {
        case .secure(let channel): channel
        case .plain: nil
        case .closed: nil
        }
    }

    /// What TLS has agreed on; nil without TLS.
    var details: TLSDetails? { secure?.details }

    /// What the handshake of TLS has shown; nil without TLS.
    var evidence: PeerEvidence? { secure?.evidence }

    /// Whether the peer has asked for another handshake of TLS, and was refused.
    var hasRefusedRenegotiation: Bool { secure?.hasRefusedRenegotiation ?? false }

    /// Our end.
    var localAddress: SocketAddress? {
        switch link {
        case .plain(let socket): (try? socket.localAddress()) ?? nil
        case .secure(let channel): channel.localAddress
        case .closed: nil
        }
    }

    /// Has the kernel probe the peer when the connection is silent. A connection that cannot be probed is used all the same.
    func probe(_ probes: KeepAliveProbes) {
        switch link {
        case .plain(let socket): try? socket.setKeepAlive(probes)
        case .secure(let channel): channel.probe(probes)
        case .closed: break
        }
    }

    /// What carries the ciphertext of another TLS inside this channel; the channel is used up. Nil when it is closed.
    consuming func wire(mayRead: Bool, on loop: EventLoop) -> (any ChannelWire)? {
        switch consume link {
        case .plain(let socket): SocketWire(socket, isDrained: !mayRead)
        case .secure(let channel): TunnelledWire(channel, on: loop)
        case .closed: nil
        }
    }

    // MARK: in

    /// The loop says that there may be more to read; `isClosing` that the peer's end is among it.
    func becameReadable(isClosing: Bool) {
        secure?.becameReadable(isClosing: isClosing)
    }

    /// Reads over the beginning of `buffer`.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(ChannelFailure) -> ReadOutcome {
        switch link {
        case .plain(let socket):
            do throws(Errno) { return try socket.receive(into: &buffer) } catch { throw .system(error) }
        case .secure(let channel): return try channel.receive(into: &buffer)
        case .closed: throw .system(.canceled)
        }
    }

    /// Whether there may be more to read now, after `count` bytes came into room for `room`. A short read has emptied a
    /// socket; TLS gives record by record.
    func mayHoldMore(after count: Int, of room: Int) -> Bool {
        switch link {
        case .plain: count == room
        case .secure(let channel): !channel.isDrained
        case .closed: false
        }
    }

    /// Has the kernel move up to `count` bytes that have come into a pipe; only where the channel is transparent.
    func fill(_ pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        switch link {
        case .plain(let socket): return try pipe.fill(from: socket, count: count)
        case .secure: throw .canceled
        case .closed: throw .canceled
        }
    }

    // MARK: out

    /// Writes the beginning of what `framing` holds from `start` on, and of `content` behind it, with one call or in one
    /// record.
    func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(ChannelFailure) -> WriteOutcome {
        switch link {
        case .plain(let socket):
            do throws(Errno) { return try socket.send(framing, from: start, content) } catch {
                throw .system(error)
            }
        case .secure(let channel): return try channel.send(framing, from: start, content)
        case .closed: throw .system(.canceled)
        }
    }

    /// Has the kernel write a piece of a file; `offset` moves along. Only where the channel is transparent.
    func send(
        file: borrowing Descriptor, offset: inout Int64, count: Int
    ) throws(Errno) -> ReadOutcome {
        switch link {
        case .plain(let socket): return try socket.send(file: file, offset: &offset, count: count)
        case .secure: throw .canceled
        case .closed: throw .canceled
        }
    }

    /// Whether bytes that were taken still wait for the kernel.
    var hasPendingOutput: Bool { secure?.hasPendingOutput ?? false }

    /// How many octets the kernel has taken in all, where bytes can wait for it.
    var octetsSent: UInt64 { secure?.octetsSent ?? 0 }

    /// How many octets the peer's kernel has acknowledged in all, as far as ours says.
    var octetsAcknowledged: UInt64? {
        switch link {
        case .plain(let socket): socket.octetsAcknowledged
        case .secure(let channel): channel.octetsAcknowledged
        case .closed: nil
        }
    }

    /// Ends our half behind what was sent; reading goes on. Nothing may be sent afterwards, but what waits is to be flushed.
    func closeWriting() {
        switch link {
        // Refused only for a socket whose peer is gone, which reading tells.
        case .plain(let socket): try? socket.shutdownWrite()
        case .secure(let channel): channel.closeWriting()
        case .closed: break
        }
    }

    /// Hands what waits to the kernel, as far as it takes it.
    func flush() throws(ChannelFailure) {
        try secure?.flush()
    }
}

extension Socket {
    fileprivate func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        if start == framing.count { return try send(content) }
        let first = framing.span.extracting(droppingFirst: start)
        return content.isEmpty ? try send(first) : try send(first, content)
    }
}
