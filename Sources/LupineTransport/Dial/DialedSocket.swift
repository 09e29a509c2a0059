// SPDX-License-Identifier: MIT

/// What a dial brings: a connected socket, registered with its loop, to be taken once. It belongs to that loop.
final class DialedSocket {
    private var socket: Socket?
    let registration: Registration
    let route: HTTP1Connection.Route
    /// Whether something may have come, of which the loop has told already.
    let mayRead: Bool

    init(
        _ socket: consuming Socket, _ registration: Registration, _ route: HTTP1Connection.Route,
        mayRead: Bool
    ) {
        self.socket = consume socket
        self.registration = registration
        self.route = route
        self.mayRead = mayRead
    }

    /// The socket; nil when it has been taken before.
    func takeSocket() -> Socket? { socket.take() }
}
