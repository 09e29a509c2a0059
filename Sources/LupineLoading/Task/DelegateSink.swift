// SPDX-License-Identifier: MIT

package import Foundation
import LupineTransport
import Synchronization

/// Receives the content and the end of a data task directly, instead of through the session's delegate, as long as the delegate
/// would only pass them on to the consumer. This saves a turn of the delegate queue between connection and consumer. The delegate
/// still receives the end if one of its calls is in progress or queued at that time.
package protocol TaskConsumer: AnyObject, Sendable {
    /// Whether calls of the delegate about the task would have no other effect than calls of the consumer. Called on any thread;
    /// must not block.
    var isOnlyListener: Bool { get }
    /// Receives a piece of the content. Called on any thread, for one piece after the other; must not block.
    ///
    /// - Parameters:
    ///   - data: The piece, which is never empty.
    ///   - total: The length of the content that the response states; -1 if it states none.
    ///   - limit: The maximum length that the session collects.
    /// - Returns: False if the content is longer than `limit`; the task then fails.
    func receive(_ data: Data, of total: Int64, upTo limit: CollectedBodyLimit) -> Bool
    /// The task has ended. The last call, on any thread; must not block.
    func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

/// Delivers content to the delegate in the pieces in which it arrived (T-7), after the delegate has answered `.allow` for the
/// response (U-5.5). If the task's consumer is the only listener, the sink delivers the content directly to the consumer instead.
final class DelegateSink: TaskSink {
    /// The sink of all tasks without a consumer. They can share it, because its state never changes.
    static let shared = DelegateSink()

    /// Receives the content instead of the delegate; nil if the delegate always receives it.
    let consumer: (any TaskConsumer)?
    /// The maximum length of content that goes to the consumer.
    private let limit: CollectedBodyLimit
    /// Whether the delegate receives all calls instead of the consumer. Once true, it stays true. The order of memory accesses is
    /// relaxed, because no other memory depends on this flag.
    private let delegateReceivesAllCalls: Atomic<Bool>

    private init() {
        (consumer, limit) = (nil, .standard)
        delegateReceivesAllCalls = Atomic(true)
    }

    /// Creates the sink of a task with a consumer. The task fails if the content is longer than `limit`.
    init(_ consumer: any TaskConsumer, upTo limit: CollectedBodyLimit) {
        (self.consumer, self.limit) = (consumer, limit)
        delegateReceivesAllCalls = Atomic(false)
    }

    var wantsSeparateChunks: Bool { true }
    var defersCallbacks: Bool { true }

    /// The consumer if it is the only listener at this time; otherwise nil. After the first nil it is always nil, because a
    /// delegate that has received one call has to receive all later ones.
    var onlyListener: (any TaskConsumer)? {
        guard let consumer, !delegateReceivesAllCalls.load(ordering: .relaxed) else { return nil }
        if consumer.isOnlyListener { return consumer }
        delegateReceivesAllCalls.store(true, ordering: .relaxed)
        return nil
    }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        // A task's own delegate, which the program can set only before it resumes the task, receives all calls.
        if task.ownDelegates != nil { delegateReceivesAllCalls.store(true, ordering: .relaxed) }
        // If the response states a length beyond the limit, the delegate receives the calls instead of the consumer.
        if consumer != nil, limit.isExceeded(by: response, to: task.currentRequest) {
            delegateReceivesAllCalls.store(true, ordering: .relaxed)
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
        return task.hasDelegate ? task.enqueue(data) : .more
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
        let question = ClosureQuestion(of: task, fallback: nil) { context, answer in
            guard let delegate = context.delegates.data, let dataTask = context.task as? URLSessionDataTask
            else {
                return answer(proposal)
            }
            delegate.urlSession(
                context.session, dataTask: dataTask, willCacheResponse: proposal, completionHandler: answer)
        } completion: {
            reply($0)
        }
        task.ask(question)
    }
}
