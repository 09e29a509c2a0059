// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Content is collected in memory for an `async` call (U-4.7). Where no delegate is to be called before, the call goes on
/// from the thread on which the load ended, without a way through the delegate queue.
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

    func completed(_ stage: TaskStage, _ error: (any Error)?) {
        if let error { return awaiter.give(.failure(error)) }
        // A protocol of the program's may end without a response (U-17.5), for which there is no room here.
        guard let response = stage.task.response else {
            return awaiter.give(.failure(URLError.noResponse(stage.task.currentRequest?.url)))
        }
        awaiter.give(.success((content.take(), response)))
    }
}
