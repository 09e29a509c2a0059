// SPDX-License-Identifier: MIT

import LupineTLS

/// The bytes of a connection in both directions, over a plain socket or over TLS.
///
/// Only this type decides whether the kernel can move content without the process reading it (`isTransparent`). A channel belongs
/// to one loop, and its owner passes the loop's readiness events on to it.
struct ByteChannel: ~Copyable {
    private var link: Link

    /// What carries the bytes.
    private enum Link: ~Copyable {
        case closed
        case plain(Socket)
        case secure(TLSChannel)
    }

    /// Creates a channel that sends and receives bytes unchanged on a socket.
    init(socket: consuming Socket) { link = .plain(socket) }

    /// Creates a channel inside TLS.
    init(secure channel: TLSChannel) { link = .secure(channel) }

    /// Closes the descriptor. Nothing may be read or written afterwards.
    mutating func close() {
        secure?.close()
        link = .closed
    }

    /// Whether the kernel can move content between the socket and a file, because the bytes are not encrypted.
    var isTransparent: Bool {
        switch link {
        case .plain: true
        case .secure: false
        case .closed: false
        }
    }

    /// The TLS channel; nil without TLS.
    private var secure: TLSChannel? {
        switch link {
        case .secure(let channel): channel
        case .plain: nil
        case .closed: nil
        }
    }

    /// The negotiated TLS parameters; nil without TLS.
    var details: TLSDetails? { secure?.details }

    /// What the TLS handshake has shown about the peer; nil without TLS.
    var evidence: PeerEvidence? { secure?.evidence }

    /// Whether the peer has asked for a TLS renegotiation, which was refused.
    var hasRefusedRenegotiation: Bool { secure?.hasRefusedRenegotiation ?? false }

    /// The local address.
    var localAddress: SocketAddress? {
        switch link {
        case .plain(let socket): (try? socket.localAddress()) ?? nil
        case .secure(let channel): channel.localAddress
        case .closed: nil
        }
    }

    /// Turns on TCP keep-alive with these intervals. A failure is ignored: the connection works without keep-alive.
    func setKeepAlive(_ probes: KeepAliveProbes) {
        switch link {
        case .plain(let socket): try? socket.setKeepAlive(probes)
        case .secure(let channel): channel.setKeepAlive(probes)
        case .closed: break
        }
    }

    /// Returns a wire on which another TLS connection sends its records through this channel, and consumes the channel. Returns
    /// nil if the channel is closed.
    consuming func wire(mayRead: Bool, on loop: EventLoop) -> (any ChannelWire)? {
        switch consume link {
        case .plain(let socket): SocketWire(socket, isDrained: !mayRead)
        case .secure(let channel): TunnelledWire(channel, on: loop)
        case .closed: nil
        }
    }

    // MARK: receiving

    /// Called when the loop reports that there may be more to read. `isClosing` says that the peer has closed its end.
    func becameReadable(isClosing: Bool) {
        secure?.becameReadable(isClosing: isClosing)
    }

    /// Reads into the beginning of `buffer`.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(ChannelFailure) -> ReadOutcome {
        switch link {
        case .plain(let socket):
            do throws(Errno) { return try socket.receive(into: &buffer) } catch { throw .system(error) }
        case .secure(let channel): return try channel.receive(into: &buffer)
        case .closed: throw .system(.canceled)
        }
    }

    /// Whether there may be more to read now, after `count` bytes were read into a buffer of `room`. A short read has emptied
    /// a socket; TLS delivers record by record.
    func mayHoldMore(after count: Int, of room: Int) -> Bool {
        switch link {
        case .plain: count == room
        case .secure(let channel): !channel.isDrained
        case .closed: false
        }
    }

    /// Has the kernel move up to `count` received bytes into a pipe. Only for a transparent channel.
    func fill(_ pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        switch link {
        case .plain(let socket): return try pipe.fill(from: socket, count: count)
        case .secure: throw .canceled
        case .closed: throw .canceled
        }
    }

    // MARK: sending

    /// Writes `framing` from `start` on, followed by `content`, as much as fits, in one system call or one record.
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

    /// Has the kernel write up to `count` bytes of a file from `offset` on, and advances `offset`. Returns `end` if the file has
    /// no bytes there. Only for a transparent channel.
    func send(
        file: borrowing Descriptor, offset: inout Int64, count: Int
    ) throws(Errno) -> ReadOutcome {
        switch link {
        case .plain(let socket): return try socket.send(file: file, offset: &offset, count: count)
        case .secure: throw .canceled
        case .closed: throw .canceled
        }
    }

    /// Whether the channel holds output that the kernel has not accepted yet.
    var hasPendingOutput: Bool { secure?.hasPendingOutput ?? false }

    /// The total number of octets that the kernel has accepted from TLS; always 0 without TLS, where no output can be pending.
    var octetsSent: UInt64 { secure?.octetsSent ?? 0 }

    /// The total number of octets that the peer's kernel has acknowledged, as far as the local kernel reports it.
    var octetsAcknowledged: UInt64? {
        switch link {
        case .plain(let socket): socket.octetsAcknowledged
        case .secure(let channel): channel.octetsAcknowledged
        case .closed: nil
        }
    }

    /// Shuts down writing after the bytes sent so far; reading continues. Nothing may be sent afterwards, but pending output
    /// must still be flushed.
    func closeWriting() {
        switch link {
        // Fails only when the peer is gone, which reading reports.
        case .plain(let socket): try? socket.shutdownWrite()
        case .secure(let channel): channel.closeWriting()
        case .closed: break
        }
    }

    /// Writes as much pending output as the kernel accepts.
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
