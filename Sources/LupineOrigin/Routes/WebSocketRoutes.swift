// SPDX-License-Identifier: MIT

/// Web sockets: `/websocket`, which echoes and does what `WebSocketBehaviour` reads in the query.
enum WebSocketRoutes {
    static func add(to router: inout Router) {
        router.add(
            ["GET"], "/websocket",
            .webSocket { request throws(Refusal) in try WebSocketBehaviour(request) })
    }
}
