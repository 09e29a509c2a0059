// SPDX-License-Identifier: MIT

import LupineTLS

/// The bytes of a connection in both directions, over a plain socket or over TLS.
///
/// Only this type decides whether the kernel can move content without the process reading it (`isTransparent`). A channel belongs
/// to one loop, and its owner passes the loop's readiness events on to it.
struct ByteChannel: ~Copyable {
    private var link: Link

    /// The socket or the TLS channel that carries the bytes.
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
        tlsChannel?.close()
        // Without TLS, the assignment closes the descriptor: it releases the socket, whose `deinit` does that.
        link = .closed
    }

    /// Whether the kernel can move content between the socket and a file. It can if the bytes are not encrypted.
    var isTransparent: Bool {
        switch link {
        case .plain: true
        case .secure: false
        case .closed: false
        }
    }

    /// The TLS channel; nil without TLS.
    private var tlsChannel: TLSChannel? {
        switch link {
        case .secure(let channel): channel
        case .plain: nil
        case .closed: nil
        }
    }

    /// The negotiated TLS parameters; nil without TLS.
    var details: TLSDetails? { tlsChannel?.details }

    /// What the TLS handshake has shown about the peer; nil without TLS.
    var evidence: PeerEvidence? { tlsChannel?.evidence }

    /// Whether the peer has asked for a TLS renegotiation, which was refused.
    var hasRefusedRenegotiation: Bool { tlsChannel?.hasRefusedRenegotiation ?? false }

    /// The local address; nil if the channel is closed or the kernel does not report the address.
    var localAddress: SocketAddress? {
        switch link {
        case .plain(let socket): try? socket.localAddress()
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

    /// Consumes the channel, and returns a wire that carries the records of a new TLS connection through the channel. Returns nil
    /// if the channel is closed. `mayRead` says whether there may be input that the loop has already reported.
    consuming func wire(mayRead: Bool, on loop: EventLoop) -> (any ChannelWire)? {
        switch consume link {
        case .plain(let socket): SocketWire(socket, isDrained: !mayRead)
        // A TLS channel knows itself whether there may be input.
        case .secure(let channel): TunnelledWire(channel, on: loop)
        case .closed: nil
        }
    }

    // MARK: receiving

    /// Called when the loop reports that there may be more to read. `isClosing` says that the peer has closed its end.
    func becameReadable(isClosing: Bool) {
        tlsChannel?.becameReadable(isClosing: isClosing)
    }

    /// Reads into the beginning of `buffer`. Throws `canceled` if the channel is closed.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(ChannelFailure) -> ReadOutcome {
        switch link {
        case .plain(let socket):
            do throws(Errno) { return try socket.receive(into: &buffer) } catch { throw .system(error) }
        case .secure(let channel): return try channel.receive(into: &buffer)
        case .closed: throw .system(.canceled)
        }
    }

    /// Whether there may be more to read, after a read of `count` bytes into a buffer of `capacity` bytes. A read that does not
    /// fill its buffer has emptied a plain socket. Over TLS, a short read says nothing, because each read returns one record.
    func mayHoldMore(after count: Int, of capacity: Int) -> Bool {
        switch link {
        case .plain: count == capacity
        case .secure(let channel): !channel.isDrained
        case .closed: false
        }
    }

    /// Reads into the beginning of `buffer`, and says whether there may be more to read: see `receive` and `mayHoldMore`.
    func receiveAvailable(
        into buffer: inout MutableSpan<UInt8>
    ) throws(ChannelFailure) -> (outcome: ReadOutcome, mayHoldMore: Bool) {
        let capacity = buffer.count
        let outcome = try receive(into: &buffer)
        guard case .bytes(let count) = outcome else { return (outcome, false) }
        return (outcome, mayHoldMore(after: count, of: capacity))
    }

    /// Has the kernel move up to `count` received bytes into a pipe. Throws `canceled` unless the channel is transparent.
    func fill(_ pipe: borrowing SplicePipe, count: Int) throws(Errno) -> ReadOutcome {
        switch link {
        case .plain(let socket): return try pipe.fill(from: socket, count: count)
        case .secure: throw .canceled
        case .closed: throw .canceled
        }
    }

    // MARK: sending

    /// Writes the bytes of `framing`, such as a message head, from the index `start` on, and then `content`. Writes as much as
    /// the kernel or TLS accepts at once, and returns how many bytes of the two together were accepted.
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
    /// no bytes there. Throws `canceled` unless the channel is transparent.
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
    var hasPendingOutput: Bool { tlsChannel?.hasPendingOutput ?? false }

    /// The total number of octets that the kernel has accepted from TLS. Always 0 without TLS, where the channel holds no output.
    var octetsSent: UInt64 { tlsChannel?.octetsSent ?? 0 }

    /// The total number of octets that the peer's kernel has acknowledged; nil if the local kernel does not report it.
    var octetsAcknowledged: UInt64? {
        switch link {
        case .plain(let socket): socket.octetsAcknowledged
        case .secure(let channel): channel.octetsAcknowledged
        case .closed: nil
        }
    }

    /// Ends the sending half after the bytes sent so far; reading continues. The caller sends nothing afterwards, but still calls
    /// `flush` until no output is pending.
    func closeWriting() {
        switch link {
        // The error is ignored: the call fails only when the peer is gone, which reading reports.
        case .plain(let socket): try? socket.shutdownWrite()
        case .secure(let channel): channel.closeWriting()
        case .closed: break
        }
    }

    /// Writes as much pending output as the kernel accepts.
    func flush() throws(ChannelFailure) {
        try tlsChannel?.flush()
    }
}

extension Socket {
    /// Writes `framing` from the index `start` on, followed by `content`, in one system call.
    fileprivate func send(
        _ framing: [UInt8], from start: Int, _ content: Span<UInt8>
    ) throws(Errno) -> WriteOutcome {
        if start == framing.count { return try send(content) }
        let unsentFraming = framing.span.extracting(droppingFirst: start)
        return content.isEmpty ? try send(unsentFraming) : try send(unsentFraming, content)
    }
}
