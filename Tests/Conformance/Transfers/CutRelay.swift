// SPDX-License-Identifier: MIT

import Foundation
import Glibc

@testable import LupineTransport

/// A relay between clients and a server on this machine that simulates network failures: after a given number of bytes from the
/// server, it resets the client's connection or sends nothing more. Without a `Cut` it relays everything.
///
/// One thread accepts, and each connection has its own thread, which ends with either side. Any thread may call `cutNext`.
final class CutRelay: Sendable {
    /// The end of a connection after `after` bytes have been sent to the client.
    struct Cut: Sendable {
        enum Ending: Sendable {
            case reset
            case stall
        }

        let after: Int
        let ending: Ending
    }

    private struct State: Sendable {
        var cut: Cut?
        var isOver = false
    }

    /// The port to which clients connect.
    let port: UInt16
    private let server: SocketAddress
    private let listener: Socket
    private let state = Lock(State())

    /// A connection that a thread owns.
    private final class Client: @unchecked Sendable {
        var socket: Socket?

        init(_ socket: consuming Socket) { self.socket = consume socket }
    }

    /// Runs `body` with a relay to a server port.
    static func with(_ server: UInt16, _ body: (CutRelay) async throws -> Void) async throws {
        let relay = try CutRelay(server)
        let result: Result<Void, any Error>
        do { result = .success(try await body(relay)) } catch { result = .failure(error) }
        relay.stop()
        try result.get()
    }

    private init(_ server: UInt16) throws {
        let any = SocketAddress.ipv4(.loopback, port: 0)
        listener = try Socket.stream(for: any)
        try listener.bind(to: any)
        try listener.listen()
        port = try listener.localAddress()?.port ?? 0
        self.server = .ipv4(.loopback, port: server)
        Thread.detachNewThread { self.accept() }
    }

    /// Sets the cut of the next connection.
    func cutNext(_ cut: Cut?) { state.withLock { $0.cut = cut } }

    /// Stops accepting: the accepting thread ends when this connection wakes it.
    private func stop() {
        state.withLock { $0.isOver = true }
        let here = SocketAddress.ipv4(.loopback, port: port)
        guard let knock = try? Socket.stream(for: here) else { return }
        _ = try? knock.connect(to: here)
        Self.wait(knock.descriptor.rawValue, for: POLLOUT)
    }

    private func accept() {
        while true {
            Self.wait(listener.descriptor.rawValue, for: POLLIN)
            if state.withLock({ $0.isOver }) { return }
            guard let client = accepted() else { continue }
            let cut = state.withLock { $0.cut.take() }
            Thread.detachNewThread { try? self.relay(client, cut) }
        }
    }

    private func accepted() -> Client? {
        do {
            guard let socket = try listener.accept() else { return nil }
            return Client(socket)
        } catch { return nil }
    }

    /// Relays in both directions until one side ends.
    private func relay(_ client: Client, _ cut: Cut?) throws {
        guard let socket = client.socket.take() else { return }
        let upstream = try Socket.stream(for: server)
        _ = try upstream.connect(to: server)
        Self.wait(upstream.descriptor.rawValue, for: POLLOUT)
        try upstream.finishConnect()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var left = cut?.after ?? .max
        while true {
            if left == 0, cut?.ending == .reset { return try socket.reset() }
            let ready = Self.ready(
                socket.descriptor.rawValue, left > 0 ? upstream.descriptor.rawValue : -1)
            if ready.first {
                guard let count = try Self.receive(from: socket, into: &buffer, atMost: .max)
                else { return }
                try Self.send(buffer.span.extracting(first: count), to: upstream)
            }
            if ready.second {
                guard let count = try Self.receive(from: upstream, into: &buffer, atMost: left) else {
                    return
                }
                try Self.send(buffer.span.extracting(first: count), to: socket)
                left -= count
            }
        }
    }

    /// Returns the number of received bytes; nil at the end.
    private static func receive(
        from socket: borrowing Socket, into buffer: inout [UInt8], atMost limit: Int
    ) throws -> Int? {
        let room = min(limit, buffer.count)
        var whole = buffer.mutableSpan
        var space = whole._mutatingExtracting(first: room)
        switch try socket.receive(into: &space) {
        case .bytes(let count): return count
        case .wouldBlock: return 0
        case .end: return nil
        }
    }

    private static func send(_ bytes: Span<UInt8>, to socket: borrowing Socket) throws {
        var sent = 0
        while sent < bytes.count {
            switch try socket.send(bytes.extracting(sent...)) {
            case .bytes(let count): sent += count
            case .wouldBlock: wait(socket.descriptor.rawValue, for: POLLOUT)
            }
        }
    }

    private static func wait(_ descriptor: Int32, for events: Int32) {
        var one = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = unsafe poll(&one, 1, -1)
    }

    /// Returns which of two descriptors is readable or at its end; a negative descriptor never is.
    private static func ready(_ first: Int32, _ second: Int32) -> (first: Bool, second: Bool) {
        var both = [
            pollfd(fd: first, events: Int16(POLLIN), revents: 0),
            pollfd(fd: second, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&both, 2, -1)
        return (both[0].revents != 0, both[1].revents != 0)
    }
}
