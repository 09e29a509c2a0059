// SPDX-License-Identifier: MIT

/// One socket on its way to one address. It belongs to its loop.
final class ConnectAttempt: LoopChannel {
    let address: SocketAddress
    private var socket: Socket?
    private var registration: Registration?
    private let loop: EventLoop
    /// Nil when connected. Let go of when it has been called, or will not be.
    private var report: ((Errno?) -> Void)?

    /// Makes the socket and starts; `report` is called later, once, unless `close` comes before. `speaksFirst` where bytes
    /// of ours will follow at once.
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
            // A packet more for a connection is no reason not to make it.
            if speaksFirst { try? socket.setConnectsWithData() }
        case .unix, .unixAbstract, .unixUnnamed: break
        }
        let progress = try socket.connect(to: address)
        registration = try loop.register(socket.descriptor, self)
        self.socket = consume socket
        if progress == .connected { loop.executeOnLoop { [self] in settle(mayHaveFailed: true) } }
    }

    /// A local address or the name of an interface.
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
        if !readiness.isDisjoint(with: [.failed, .hungUp]) { return settle(mayHaveFailed: true) }
        // Room to write, and no error beside it: a socket that is connecting has none.
        if readiness.contains(.writable) { settle(mayHaveFailed: false) }
    }

    private func settle(mayHaveFailed: Bool) {
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
    /// The loop has told of bytes, or of the end, and will not tell again.
    private(set) var sawInput = false

    func loopWillClose() { close() }

    /// Gives the race up.
    func close() {
        report = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        socket = nil
    }

    /// What the loop knows the socket by, once it is connected.
    var established: Registration? { registration }

    /// Hands out the connected socket; its registration goes with it, and its channel is still this attempt.
    func takeSocket() -> Socket? {
        registration = nil
        return socket.take()
    }
}
