// SPDX-License-Identifier: MIT

@testable import LupineTransport

/// Ports of 127.0.0.1 for servers that take a port number: free when they are returned, each returned once per process.
///
/// They lie below the range that the kernel uses for outgoing connections.
enum PortSupply {
    private static let given = Lock<Set<UInt16>>([])

    /// Returns a port on which nothing listens.
    static func next() throws(Errno) -> UInt16 {
        while true {
            let port = UInt16.random(in: 12_000..<32_000)
            if given.withLock({ $0.insert(port).inserted }), try isFree(port) { return port }
        }
    }

    private static func isFree(_ port: UInt16) throws(Errno) -> Bool {
        let address = SocketAddress.ipv4(.loopback, port: port)
        let socket = try Socket.stream(for: address)
        do throws(Errno) {
            try socket.bind(to: address)
            return true
        } catch {
            guard error == .addressInUse else { throw error }
            return false
        }
    }
}
