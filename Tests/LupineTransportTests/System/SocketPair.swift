// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// Listens at `address`, connects to it, and returns both ends.
func connectedPair(_ address: SocketAddress) throws -> (client: Handover, server: Handover) {
    let listener = try Socket.stream(for: address)
    try listener.bind(to: address)
    try listener.listen()
    let target = try #require(try listener.localAddress())
    let client = try Socket.stream(for: target)
    if try client.connect(to: target) == .inProgress {
        // Over loopback, the handshake has finished when connect returns; only its result has to be read.
        try client.finishConnect()
    }
    while true {
        if let server = try listener.accept() { return (Handover(client), Handover(server)) }
    }
}

/// Carries a socket into a closure that runs on a loop.
final class Handover: Sendable {
    private let number: Lock<Int32?>

    init(_ socket: consuming Socket) {
        number = Lock(socket.intoDescriptor().release())
    }

    func take() -> Socket {
        let number = number.withLock { $0.take() }
        guard let number else { preconditionFailure("taken twice") }
        return Socket(adopting: Descriptor(adopting: number))
    }
}

/// Returns the error that `body` throws, for bodies that borrow noncopyable values, which the macros do not accept.
func thrown(_ body: () throws(Errno) -> Void) -> Errno? {
    do throws(Errno) {
        try body()
        return nil
    } catch {
        return error
    }
}
