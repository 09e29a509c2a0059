// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A loopback port to which connections fail: without a listener, or with a listener that never accepts and whose queue is full,
/// so that the kernel drops new connections. The port is held for the life of the object.
final class UnreachablePort: Sendable {
    let port: UInt16
    private let listener: Descriptor
    private let waiting: [QueuedConnection]

    /// Binds a port.
    init(isListening: Bool) throws {
        guard let any = SocketAddress(literal: "127.0.0.1", port: 0) else { throw Errno.invalidArgument }
        let socket = try Socket.stream(for: any)
        try socket.bind(to: any)
        guard let address = try socket.localAddress(), let port = address.port else {
            throw Errno.invalidArgument
        }
        self.port = port
        var waiting: [QueuedConnection] = []
        if isListening {
            try socket.listen(backlog: 0)
            for _ in 0..<4 {
                let client = try Socket.stream(for: address)
                _ = try client.connect(to: address)
                waiting.append(QueuedConnection(client.intoDescriptor()))
            }
        }
        self.waiting = waiting
        listener = socket.intoDescriptor()
    }

    /// A connection that occupies a place in the queue.
    private final class QueuedConnection: Sendable {
        private let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }
}
