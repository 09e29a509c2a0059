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
            let result: Result<Void, any Error> = if let error { .failure(error) } else { .success(()) }
            queue.async { completionHandler(result) }
        }
    }

    /// Completes with an error. The message will not be sent.
    func fail(with error: AFError) {
        queue.async { [completionHandler] in completionHandler(.failure(error)) }
    }
}
