// SPDX-License-Identifier: MIT

import LupineHTTP

/// Asks a proxy for a tunnel over a connected channel: sends and receives the bytes of `TunnelMachine` or
/// `SocksMachine`.
///
/// Confined to its loop. It calls `report` once, unless `close` is called first.
final class ProxyHandshake: LoopChannel {
    /// The state machine for the protocol of the proxy: HTTP CONNECT or SOCKS 5.
    enum Machine {
        case tunnel(TunnelMachine)
        case socks(SocksMachine)
    }

    private var machine: Machine
    private var channel: ByteChannel?
    /// Whether there may be input that the loop has already reported.
    private var mayRead: Bool
    /// The socket's registration with the loop; nil once the handshake has ended.
    private var registration: Registration?
    private let loop: EventLoop
    private let proxy: ProxyServer
    /// The bytes for the proxy that the channel has not accepted yet.
    private var output: [UInt8] = []
    /// Whether bytes of the origin may follow the proxy's answer at once. If so, they become `firstOriginBytes`; if not, the
    /// handshake fails.
    private let originMaySpeakFirst: Bool
    /// The bytes of the origin that arrived together with the proxy's answer.
    private(set) var firstOriginBytes: [UInt8] = []
    private let report: (Result<Void, TransportError>) -> Void

    init(
        _ machine: Machine, over channel: consuming ByteChannel, _ registration: Registration, mayRead: Bool,
        proxy: ProxyServer, originMaySpeakFirst: Bool = false, on loop: EventLoop,
        report: @escaping (Result<Void, TransportError>) -> Void
    ) {
        self.machine = machine
        self.channel = consume channel
        self.registration = registration
        self.mayRead = mayRead
        self.proxy = proxy
        self.loop = loop
        self.originMaySpeakFirst = originMaySpeakFirst
        self.report = report
        loop.reassign(registration, to: self)
    }

    /// Sends the first bytes. Reads at once if the loop has already reported input, because it will not report that again.
    func start() {
        do throws(TransportError) {
            switch machine {
            case .tunnel(var tunnel):
                do throws(TunnelError) { output = try tunnel.start() } catch {
                    throw .tunnel(proxy: proxy.description, error)
                }
                machine = .tunnel(tunnel)
            case .socks(var socks):
                output = socks.start()
                machine = .socks(socks)
            }
            try flush()
            if mayRead { try read() }
        } catch { end(.failure(error)) }
    }

    func channelReady(_ readiness: Readiness) {
        do throws(TransportError) {
            let isReadable = !readiness.isDisjoint(with: [.readable, .closed])
            if isReadable { channel?.becameReadable(isClosing: !readiness.isDisjoint(with: .closed)) }
            if readiness.contains(.writable) { try flush() }
            if isReadable { try read() }
        } catch { end(.failure(error)) }
    }

    func loopWillClose() { end(.failure(.shutDown)) }

    /// Sends the output, as far as the channel accepts it.
    private func flush() throws(TransportError) {
        do throws(ChannelFailure) { try channel?.flush() } catch { throw transportError(error) }
        while !output.isEmpty, let count = try send() {
            output.removeFirst(count)
        }
    }

    /// Returns the error to report for a failure of the channel.
    private func transportError(_ failure: ChannelFailure) -> TransportError {
        failure.transportError(host: proxy.host, port: proxy.port)
    }

    /// Sends the beginning of the output. Returns the number of bytes sent, or nil if the channel accepts none now.
    private func send() throws(TransportError) -> Int? {
        do throws(ChannelFailure) {
            // All output is framing; the empty span says that no content follows it.
            guard case .bytes(let count)? = try channel?.send(output, from: 0, Span()) else { return nil }
            return count
        } catch { throw transportError(error) }
    }

    /// Reads until the channel would block or the handshake ends.
    private func read() throws(TransportError) {
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        while registration != nil {
            let outcome: ReadOutcome?
            do throws(ChannelFailure) {
                var space = buffer.mutableSpan
                outcome = try channel?.receive(into: &space)
                // A proxy that closes without close_notify gets the same error as one that closes with it: it has not answered.
            } catch { throw error == .tls(.truncated) ? closedError() : transportError(error) }
            switch outcome {
            case .bytes(let count): try received(buffer.span.extracting(first: count))
            case .end: throw closedError()
            case .wouldBlock, nil: return
            }
        }
    }

    /// Passes bytes of the proxy to the machine. Ends the handshake when the tunnel is established.
    private func received(_ bytes: Span<UInt8>) throws(TransportError) {
        // The number of bytes that belong to the proxy's answer: all of them, until the machine says where the answer ends.
        var consumed = bytes.count
        var isEstablished = false
        switch machine {
        case .tunnel(var tunnel):
            do throws(TunnelError) {
                if case .established(_, let count) = try tunnel.receive(bytes) {
                    (isEstablished, consumed) = (true, count)
                }
            } catch { throw .tunnel(proxy: proxy.description, error) }
            machine = .tunnel(tunnel)
        case .socks(var socks):
            do throws(SocksError) {
                switch try socks.receive(bytes) {
                case .needsMore: break
                case .send(let answer): output += answer
                case .established(let count): (isEstablished, consumed) = (true, count)
                }
            } catch { throw .socks(proxy: proxy.description, error) }
            machine = .socks(socks)
        }
        try flush()
        guard isEstablished else { return }
        // The bytes after the answer come from the origin, through the tunnel.
        if originMaySpeakFirst {
            firstOriginBytes.append(bytes, consumed..<bytes.count)
            return end(.success(()))
        }
        // The client sends first: bytes of the origin before the request would be a response to no request.
        guard consumed == bytes.count else {
            throw .http(host: proxy.host, port: proxy.port, .unexpectedBytes(octet: bytes[consumed]))
        }
        end(.success(()))
    }

    /// Returns the error for a proxy that has closed the connection.
    private func closedError() -> TransportError {
        // `receivedEnd` returns the error. The machines are copied, because it changes them; the handshake ends, and nobody uses
        // them afterwards.
        switch machine {
        case .tunnel(var tunnel): .tunnel(proxy: proxy.description, tunnel.receivedEnd())
        case .socks(var socks): .socks(proxy: proxy.description, socks.receivedEnd())
        }
    }

    /// Reports the result, once; after a failure, closes the channel first.
    private func end(_ result: Result<Void, TransportError>) {
        guard let registration else { return }
        self.registration = nil
        if case .failure = result {
            loop.deregister(registration)
            channel?.close()
        }
        report(result)
    }

    /// Closes the channel without a report.
    func close() {
        if let registration { loop.deregister(registration) }
        registration = nil
        channel?.close()
    }

    /// Returns the channel, once the tunnel is established. The caller must reassign the registration, which still belongs to
    /// this handshake.
    func takeChannel() -> ByteChannel? { channel.take() }
}

extension ProxyHandshake.Machine {
    /// Creates the machine that asks `proxy` for a tunnel to `origin`.
    init(
        _ proxy: ProxyServer, to origin: Origin, _ configuration: DialConfiguration
    ) throws(TransportError) {
        switch proxy.kind {
        case .http, .https:
            do throws(HTTPError) {
                let authority = try Authority(host: origin.host, port: origin.port)
                self = .tunnel(
                    TunnelMachine(
                        to: authority, credentials: proxy.credentials,
                        authorization: proxy.tunnelAuthorizer?.source
                            .authorization(forTunnelTo: authority.description),
                        fields: configuration.tunnelFields))
            } catch { throw .http(host: origin.host, port: origin.port, error) }
        case .socks5:
            // The proxy resolves a name itself.
            let destination =
                IPAddress(origin.host).map { SocksMachine.Destination.ip($0) } ?? .name(origin.host)
            do throws(SocksError) {
                self = .socks(
                    try SocksMachine(
                        destination: destination, port: origin.port, credentials: proxy.credentials))
            } catch { throw .socks(proxy: proxy.description, error) }
        }
    }
}
