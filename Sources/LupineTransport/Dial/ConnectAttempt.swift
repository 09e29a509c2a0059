// SPDX-License-Identifier: MIT

/// A socket that is connecting to one address. Confined to its loop.
final class ConnectAttempt: LoopChannel {
    let address: SocketAddress
    private var socket: Socket?
    private var registration: Registration?
    private let loop: EventLoop
    /// Called with nil when connected. Set to nil once it has been called, or when it will not be.
    private var report: ((Errno?) -> Void)?
    /// Whether the loop has reported input or the end of the stream. The event is edge-triggered, so the loop will not repeat it.
    private(set) var sawInput = false

    /// Creates the socket and starts connecting. `report` is called later, once, unless `close()` is called first. `speaksFirst`
    /// is true if the client sends before the peer does.
    init(
        _ address: SocketAddress, binding: String?, speaksFirst: Bool, on loop: EventLoop,
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
            // The option only saves a packet of the handshake; if it cannot be set, the attempt continues.
            if speaksFirst { try? socket.setConnectsWithData() }
        case .unix, .unixAbstract, .unixUnnamed: break
        }
        let progress = try socket.connect(to: address)
        registration = try loop.register(socket.descriptor, self)
        self.socket = consume socket
        // Deferred, so that `report` is not called before the caller has the attempt.
        if progress == .connected { loop.executeOnLoop { [self] in finish(mayHaveFailed: true) } }
    }

    /// Binds to `binding`: a local address or the name of an interface.
    private static func bind(
        _ socket: borrowing Socket, to binding: String, for address: SocketAddress
    ) throws(Errno) {
        guard let local = SocketAddress(literal: binding, port: 0) else {
            return try socket.bind(toInterface: binding)
        }
        guard local.isIPv6 == address.isIPv6 else { throw .invalidArgument }
        try socket.setBindAddressNoPort()
        try socket.bind(to: local)
    }

    func channelReady(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.readable, .closed]) { sawInput = true }
        if !readiness.isDisjoint(with: [.failed, .hungUp]) { return finish(mayHaveFailed: true) }
        // A socket that is still connecting is not writable: writable without an error flag means connected.
        if readiness.contains(.writable) { finish(mayHaveFailed: false) }
    }

    /// Reports that the socket is connected; if the attempt may have failed, asks the kernel for its error first.
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

    /// The socket's registration with the loop; nil once `close` or `takeSocket` was called.
    var established: Registration? { registration }

    /// Returns the connected socket and leaves its registration to the caller, who must reassign it: the registered channel is
    /// still this attempt.
    func takeSocket() -> Socket? {
        registration = nil
        return socket.take()
    }
}
