// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of an `async` call: collects the content in memory (U-4.7). If no delegate has to be called first, the caller is
/// resumed on the thread on which the load has ended, not on the delegate queue.
final class AwaitedSink: TaskSink {
    private let content: CollectedContent
    private let awaiter: TaskAwaiter<(Data, URLResponse)>

    /// - Parameters:
    ///   - limit: The maximum length of the content; a longer content fails the task.
    ///   - awaiter: Completed with the content and the response.
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
        // A program's `URLProtocol` may end without a response (U-17.5), but the call has to return one.
        guard let response = context.task.response else {
            return awaiter.complete(.failure(URLError.noResponse(context.task.currentRequest?.url)))
        }
        awaiter.complete(.success((content.takeAll(), response)))
    }
}
