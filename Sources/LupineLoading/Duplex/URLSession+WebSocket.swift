// SPDX-License-Identifier: MIT

import Foundation

/// Creates WebSocket tasks.
extension URLSession {
    /// Creates a WebSocket task for a request.
    func makeWebSocketTask(_ request: URLRequest) -> URLSessionWebSocketTask {
        let socket = WebSocketCore()
        let definition = TaskDefinition(kind: .webSocket, request: request, body: .request)
        let task = core.makeTask(originalRequest: request, sink: WebSocketSink(socket)) { [core] task in
            WebSocketLoad(
                socket, task,
                offersCompression: core.context.settings.lupine.offersWebSocketCompression
            ) { client, addHandshakeFields in
                // Creates the task driver of the handshake.
                var definition = definition
                definition.addHandshakeFields = addHandshakeFields
                return core.makeLoad(definition, reportingTo: client)
            }
        }
        socket.setPoster { [weak task] job in task?.callUnconditionally(job) }
        return task.begin(as: URLSessionWebSocketTask(task, socket), in: self)
    }
}
