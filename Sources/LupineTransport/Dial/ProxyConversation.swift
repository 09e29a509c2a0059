// SPDX-License-Identifier: MIT

import LupineHTTP

/// Asks a proxy for a tunnel over a connected socket: moves the bytes of `TunnelMachine` or `SocksMachine`.
///
/// It belongs to its loop and reports once, unless it is closed before.
final class ProxyConversation: LoopChannel {
    /// Who is asked.
    enum Machine {
        case tunnel(TunnelMachine)
        case socks(SocksMachine)
    }

    private var machine: Machine
    private var socket: Socket?
    private var registration: Registration?
    private let loop: EventLoop
    private let proxy: String
    private var output: [UInt8] = []
    private let report: (Result<Void, TransportError>) -> Void

    init(
        _ machine: Machine, over socket: consuming Socket, _ registration: Registration, proxy: String,
        on loop: EventLoop, report: @escaping (Result<Void, TransportError>) -> Void
    ) {
        self.machine = machine
        self.socket = consume socket
        self.registration = registration
        self.proxy = proxy
        self.loop = loop
        self.report = report
        loop.hand(registration, to: self)
    }

    /// Sends the first bytes.
    func start() {
        do throws(TransportError) {
            switch machine {
            case .tunnel(var tunnel):
                do throws(TunnelError) { output = try tunnel.start() } catch {
                    throw .tunnel(proxy: proxy, error)
                }
                machine = .tunnel(tunnel)
            case .socks(var socks):
                output = socks.start()
                machine = .socks(socks)
            }
            try flush()
        } catch { end(.failure(error)) }
    }

    func channelReady(_ readiness: Readiness) {
        do throws(TransportError) {
            if readiness.contains(.writable) { try flush() }
            if !readiness.isDisjoint(with: [.readable, .closed]) { try read() }
        } catch { end(.failure(error)) }
    }

    func loopWillClose() { end(.failure(.shutDown)) }

    private func flush() throws(TransportError) {
        while !output.isEmpty, let outcome = try send() {
            output.removeFirst(outcome)
        }
    }

    private func send() throws(TransportError) -> Int? {
        let waiting = output
        do throws(Errno) {
            guard case .bytes(let count)? = try socket?.send(waiting.span) else { return nil }
            return count
        } catch { throw .connectionLost(host: proxy, error) }
    }

    private func read() throws(TransportError) {
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        while registration != nil {
            let outcome: ReadOutcome?
            do throws(Errno) {
                var space = buffer.mutableSpan
                outcome = try socket?.receive(into: &space)
            } catch { throw .connectionLost(host: proxy, error) }
            switch outcome {
            case .bytes(let count): try received(buffer.span.extracting(first: count))
            case .end: throw closed()
            case .wouldBlock, nil: return
            }
        }
    }

    private func received(_ bytes: Span<UInt8>) throws(TransportError) {
        var consumed = bytes.count
        var isEstablished = false
        switch machine {
        case .tunnel(var tunnel):
            do throws(TunnelError) {
                if case .established(_, let count) = try tunnel.receive(bytes) {
                    (isEstablished, consumed) = (true, count)
                }
            } catch { throw .tunnel(proxy: proxy, error) }
            machine = .tunnel(tunnel)
        case .socks(var socks):
            do throws(SocksError) {
                switch try socks.receive(bytes) {
                case .needsMore: break
                case .send(let answer): output += answer
                case .established(let count): (isEstablished, consumed) = (true, count)
                }
            } catch { throw .socks(proxy: proxy, error) }
            machine = .socks(socks)
        }
        try flush()
        guard isEstablished else { return }
        // The origin speaks second: bytes that come before our request are an answer to nothing.
        guard consumed == bytes.count else {
            throw .http(host: proxy, .unexpectedBytes(octet: bytes[consumed]))
        }
        end(.success(()))
    }

    private func closed() -> TransportError {
        switch machine {
        case .tunnel(var tunnel): .tunnel(proxy: proxy, tunnel.receivedEnd())
        case .socks(var socks): .socks(proxy: proxy, socks.receivedEnd())
        }
    }

    private func end(_ result: Result<Void, TransportError>) {
        guard let registration else { return }
        if case .failure = result { loop.deregister(registration) }
        self.registration = nil
        if case .failure = result { socket = nil }
        report(result)
    }

    /// Gives it up.
    func close() {
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
    }

    /// The socket, once the tunnel stands; its channel is still this conversation.
    func takeSocket() -> Socket? { socket.take() }
}
