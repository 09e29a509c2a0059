// SPDX-License-Identifier: MIT

package import Foundation
import LupineTransport
import Synchronization

/// Takes the content and the end of a data task in place of the session's delegate, as long as the delegate would only pass them
/// on to it. There is then no turn of the delegate queue between the connection and the consumer. The delegate hears of the end
/// all the same if a call of it is being made, or waits to be made, at that time.
package protocol TaskConsumer: AnyObject, Sendable {
    /// Whether the delegate's calls about the task would have no effect but on the consumer. Any thread; must not block.
    var isOnlyListener: Bool { get }
    /// Takes a piece of the content. Any thread, in order; must not block.
    ///
    /// - Parameters:
    ///   - data: Never empty.
    ///   - total: The length of the content as the response states it; -1 if it does not.
    ///   - limit: The greatest length that the session collects.
    /// - Returns: False if the content is longer than `limit`: the task then fails.
    func receive(_ data: Data, of total: Int64, upTo limit: CollectedBodyLimit) -> Bool
    /// The task has ended. Any thread; must not block. No call follows.
    func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

/// Delivers content to the delegate, in the pieces in which it arrived (T-7), once the delegate has allowed it (U-5.5). If the
/// task has a consumer that is the only listener, the consumer gets it instead, directly.
final class DelegateSink: TaskSink {
    /// The sink of all tasks without a consumer: it has no state.
    static let shared = DelegateSink()

    /// Takes the place of the delegate; nil for none.
    let consumer: (any TaskConsumer)?
    private let limit: CollectedBodyLimit
    /// Whether the delegate has been called for the response: it then gets the rest too.
    private let isForDelegate: Atomic<Bool>

    private init() {
        (consumer, limit) = (nil, .standard)
        isForDelegate = Atomic(true)
    }

    /// Content longer than `limit` is not passed to the consumer.
    init(_ consumer: any TaskConsumer, upTo limit: CollectedBodyLimit) {
        (self.consumer, self.limit) = (consumer, limit)
        isForDelegate = Atomic(false)
    }

    var wantsSeparateChunks: Bool { true }
    var defersCallbacks: Bool { true }

    /// The consumer, if nobody else has to be told of what happens to the task now.
    var onlyListener: (any TaskConsumer)? {
        guard let consumer, !isForDelegate.load(ordering: .relaxed) else { return nil }
        if consumer.isOnlyListener { return consumer }
        isForDelegate.store(true, ordering: .relaxed)
        return nil
    }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        // A delegate of the task's own, which is set before it is resumed, is told of everything.
        if task.ownDelegates != nil { isForDelegate.store(true, ordering: .relaxed) }
        // So is content that is announced as too long.
        if consumer != nil, limit.isExceeded(by: response, to: task.currentRequest) {
            isForDelegate.store(true, ordering: .relaxed)
        }
        if onlyListener == nil, task.hasDelegate { task.ask(ResponseQuestion(task, about: response)) }
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        if let consumer = onlyListener {
            if consumer.receive(data, of: task.counts.expectedToReceive, upTo: limit) { return .more }
            task.fail(limit.error(of: task.currentRequest?.url))
            return .enough
        }
        return task.hasDelegate ? task.queue(data) : .more
    }

    func deliver(_ data: Data, _ context: CallbackContext) {
        guard let dataTask = context.task as? URLSessionDataTask else { return }
        context.delegates.data?.urlSession(context.session, dataTask: dataTask, didReceive: data)
    }

    func willCache(
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
        } completion: {
            reply($0)
        }
    }
}
