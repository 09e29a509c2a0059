// SPDX-License-Identifier: MIT

/// A socket that is connecting to one address. Confined to its loop.
final class ConnectAttempt: LoopChannel {
    let address: SocketAddress
    private var socket: Socket?
    /// The socket's registration with the loop; nil once `close` or `takeSocket` was called.
    private(set) var registration: Registration?
    private let loop: EventLoop
    /// Called with nil when the socket is connected, or with the error. Set to nil once it has been called, and by `close`.
    private var report: ((Errno?) -> Void)?
    /// Whether the loop has reported input or the end of the stream. Events are edge-triggered, so the loop will not repeat it.
    private(set) var mayRead = false

    /// Creates the socket and starts connecting. `report` is called later, once, unless `close()` is called first. `binding` is a
    /// local address or the name of an interface; nil to let the kernel choose. `clientSpeaksFirst` is true if the client sends
    /// before the peer does.
    init(
        _ address: SocketAddress, binding: String?, clientSpeaksFirst: Bool, on loop: EventLoop,
        report: @escaping (Errno?) -> Void
    ) throws(Errno) {
        self.address = address
        self.loop = loop
        self.report = report
        let socket = try Socket.stream(for: address)
        switch address {
        case .ipv4, .ipv6:
            if let binding { try Self.bind(socket, to: binding, for: address) }
            try socket.setNoDelay()
            // The option only saves a packet of the TCP handshake; if it cannot be set, the attempt continues.
            if clientSpeaksFirst { try? socket.setConnectsWithData() }
        case .unix, .unixAbstract, .unixUnnamed: break
        }
        let progress = try socket.connect(to: address)
        registration = try loop.register(socket.descriptor, self)
        self.socket = consume socket
        // Deferred, so that `report` is called only after the caller has stored the attempt.
        if progress == .connected { loop.executeOnLoop { [self] in finish(mayHaveFailed: true) } }
    }

    /// Binds to `binding`: a local address or the name of an interface.
    private static func bind(
        _ socket: borrowing Socket, to binding: String, for address: SocketAddress
    ) throws(Errno) {
        guard let local = SocketAddress(literal: binding, port: 0) else {
            return try socket.bind(toInterface: binding)
        }
        // A socket for IPv4 cannot be bound to an IPv6 address, nor the reverse.
        guard local.isIPv6 == address.isIPv6 else { throw .invalidArgument }
        // Lets `connect` choose the port instead of `bind`, so that connections to different peers can share a local port.
        try socket.setBindAddressNoPort()
        try socket.bind(to: local)
    }

    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .closed]) { mayRead = true }
        if !readiness.isDisjoint(with: [.failed, .hungUp]) { return finish(mayHaveFailed: true) }
        // A socket that is still connecting is not writable: writable without an error flag means connected.
        if readiness.contains(.writable) { finish(mayHaveFailed: false) }
    }

    /// Reports that the socket is connected. If the attempt may have failed, first asks the kernel for the socket's error.
    private func finish(mayHaveFailed: Bool) {
        guard registration != nil, let report else { return }
        self.report = nil
        do throws(Errno) {
            if mayHaveFailed { try socket?.finishConnect() }
            report(nil)
        } catch {
            close()
            report(error)
        }
    }

    func loopWillClose() { close() }

    /// Abandons the attempt and closes the socket.
    func close() {
        report = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
    }

    /// Returns the connected socket. The caller reads `registration` before. It then owns the registration, and gives it another
    /// channel, because its channel is still this attempt.
    func takeSocket() -> Socket? {
        registration = nil
        return socket.take()
    }
}
