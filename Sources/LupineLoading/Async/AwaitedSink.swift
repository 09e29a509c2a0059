// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Collects content in memory for an `async` call (U-4.7). If no delegate has to be called first, the caller is resumed from
/// the thread on which the load ended, without going through the delegate queue.
final class AwaitedSink: TaskSink {
    private let content: CollectedContent
    private let awaiter: TaskAwaiter<(Data, URLResponse)>

    /// - Parameter limit: A longer body fails the task.
    init(limit: CollectedBodyLimit, _ awaiter: TaskAwaiter<(Data, URLResponse)>) {
        content = CollectedContent(limit: limit)
        self.awaiter = awaiter
    }

    var completesAnywhere: Bool { true }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        content.expect(response, task)
        return .deliver
    }

    func received(_ task: TaskCore, _ data: Data) -> Demand { content.add(data, task) }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        if let error { return awaiter.give(.failure(error)) }
        // A program's `URLProtocol` may end without a response (U-17.5), but the call has to return one.
        guard let response = context.task.response else {
            return awaiter.give(.failure(URLError.noResponse(context.task.currentRequest?.url)))
        }
        awaiter.give(.success((content.take(), response)))
    }
}
