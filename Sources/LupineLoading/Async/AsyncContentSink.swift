// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink (receiver of a task's response) of an `async` method that returns the content: collects the content in memory
/// (U-4.7).
///
/// If no delegate has to be called first, this sink resumes the caller on the thread on which the load has ended, not on the
/// delegate queue.
final class AsyncContentSink: TaskSink {
    private let content: CollectedContent
    private let awaiter: TaskAwaiter<(Data, URLResponse)>

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - limit: The maximum length of the content; a longer content fails the task.
    ///   - awaiter: Receives the content and the response when the task completes.
    init(limit: CollectedBodyLimit, _ awaiter: TaskAwaiter<(Data, URLResponse)>) {
        content = CollectedContent(limit: limit)
        self.awaiter = awaiter
    }

    var completesOnAnyThread: Bool { true }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        content.recordExpectedLength(of: response, for: task)
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { content.add(data, for: task) }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        if let error { return awaiter.complete(.failure(error)) }
        // The load of a program's `URLProtocol` may end without a response (U-17.5), but the method has to return one.
        guard let response = context.task.response else {
            return awaiter.complete(.failure(URLError.noResponse(context.task.currentRequest?.url)))
        }
        awaiter.complete(.success((content.takeAll(), response)))
    }
}
