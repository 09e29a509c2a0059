// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Delivers content to the delegate, in the pieces in which it arrived (T-7), once the delegate has allowed it (U-5.5).
final class DelegateSink: TaskSink {
    /// It has no state, so all tasks share one instance.
    static let shared = DelegateSink()

    private init() {}

    var keepsChunks: Bool { true }
    var onlyQueues: Bool { true }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        guard task.hasDelegate else { return .deliver }
        task.ask(ResponseQuestion(task, about: response))
        return .deliver
    }

    func received(_ task: TaskCore, _ data: Data) -> Demand {
        task.hasDelegate ? task.queue(data) : .more
    }

    func delivers(_ data: Data, _ context: CallbackContext) {
        guard let dataTask = context.task as? URLSessionDataTask else { return }
        context.delegates.data?.urlSession(context.session, dataTask: dataTask, didReceive: data)
    }

    func caches(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard task.asksWhatIsStored else { return reply(proposal) }
        task.ask(fallback: nil) { context, answer in
            guard let delegate = context.delegates.data, let dataTask = context.task as? URLSessionDataTask
            else {
                return answer(proposal)
            }
            delegate.urlSession(
                context.session, dataTask: dataTask, willCacheResponse: proposal, completionHandler: answer)
        } taken: {
            reply($0)
        }
    }
}
