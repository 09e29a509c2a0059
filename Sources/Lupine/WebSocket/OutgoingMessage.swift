// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

/// A message to a WebSocket server, with a completion handler that is called once.
struct OutgoingMessage: Sendable {
    let message: URLSessionWebSocketTask.Message
    let queue: DispatchQueue
    let completionHandler: @Sendable (Result<Void, any Error>) -> Void

    /// Sends the message through a task.
    func send(through task: URLSessionWebSocketTask) {
        task.send(message) { [queue, completionHandler] error in
            queue.async { completionHandler(error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Completes with an error: the message will not be sent.
    func refuse(_ error: AFError) {
        queue.async { [completionHandler] in completionHandler(.failure(error)) }
    }
}
