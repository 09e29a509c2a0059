// SPDX-License-Identifier: MIT

/// A socket that is connecting to one address. Confined to its loop.
final class ConnectAttempt: LoopChannel {
    let address: SocketAddress
    private var socket: Socket?
    private var registration: Registration?
    private let loop: EventLoop
    /// Called with nil when connected. Set to nil once it has been called, or when it will not be.
    private var report: ((Errno?) -> Void)?

    /// Creates the socket and starts connecting. `report` is called later, once, unless `close()` is called first. `speaksFirst`
    /// is true if the client sends first after connecting.
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
            // The option only saves a packet; if it cannot be set, the attempt goes on.
            if speaksFirst { try? socket.setConnectsWithData() }
        case .unix, .unixAbstract, .unixUnnamed: break
        }
        let progress = try socket.connect(to: address)
        registration = try loop.register(socket.descriptor, self)
        self.socket = consume socket
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
        // Writable without an error flag: the connection is established. While it is connecting, a socket is not writable.
        if readiness.contains(.writable) { finish(mayHaveFailed: false) }
    }

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
    /// Whether the loop has reported input or the end of the stream; the event is edge-triggered and does not come again.
    private(set) var sawInput = false

    func loopWillClose() { close() }

    /// Abandons the attempt and closes the socket.
    func close() {
        report = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
    }

    /// The socket's registration with the loop, once it is connected.
    var established: Registration? { registration }

    /// Returns the connected socket. Its registration goes with it; the registered channel is still this attempt.
    func takeSocket() -> Socket? {
        registration = nil
        return socket.take()
    }
}
