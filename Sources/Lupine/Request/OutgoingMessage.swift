// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

/// A message for the server of a web socket, and whom to tell what has become of it: once.
struct OutgoingMessage: Sendable {
    let message: URLSessionWebSocketTask.Message
    let queue: DispatchQueue
    let completionHandler: @Sendable (Result<Void, any Error>) -> Void

    /// Has a task send it.
    func send(through task: URLSessionWebSocketTask) {
        task.send(message) { [queue, completionHandler] error in
            queue.async { completionHandler(error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// It will not be sent.
    func refuse(_ error: AFError) {
        queue.async { [completionHandler] in completionHandler(.failure(error)) }
    }
}
