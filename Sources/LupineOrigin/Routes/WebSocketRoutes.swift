// SPDX-License-Identifier: MIT

/// Web sockets: `/websocket` echoes messages, with the options that `WebSocketBehaviour` reads from the query.
enum WebSocketRoutes {
    static func add(to router: inout Router) {
        router.add(
            ["GET"], "/websocket",
            .webSocket { request throws(Refusal) in try WebSocketBehaviour(request) })
    }
}
