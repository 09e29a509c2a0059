// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

/// A message to a WebSocket server, with a completion handler.
struct OutgoingMessage: Sendable {
    let message: URLSessionWebSocketTask.Message
    /// The queue on which the completion handler is called.
    let queue: DispatchQueue
    /// Called once, when the message was sent or cannot be sent.
    let completionHandler: @Sendable (Result<Void, any Error>) -> Void

    /// Sends the message through a task.
    func send(through task: URLSessionWebSocketTask) {
        task.send(message) { [queue, completionHandler] error in
            let result: Result<Void, any Error> = if let error { .failure(error) } else { .success(()) }
            queue.async { completionHandler(result) }
        }
    }

    /// Calls the completion handler with an error, in place of sending the message.
    func fail(with error: AFError) {
        queue.async { [completionHandler] in completionHandler(.failure(error)) }
    }
}
