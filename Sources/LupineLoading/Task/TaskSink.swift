// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Consumes a task's response: there is one for each kind of task and way to wait for it.
///
/// The first calls come from the driver, on any thread and never two at once: they must not block. Callbacks to the program go
/// through the core (`call`, `queue`, `ask`), which makes them on the delegate queue.
protocol TaskSink: AnyObject, Sendable {
    /// The final response, which the core holds already. The returned plan says how its content is consumed.
    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan
    /// Whether the chunks of the transfer coding are delivered as pieces of their own (T-7), if content is not decoded.
    var wantsSeparateChunks: Bool { get }
    /// A piece of the content, never empty. The core has counted it.
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand
    /// `count` bytes went directly into the file that `responded` named. The core has counted them.
    func spliced(_ task: TaskCore, _ count: Int) -> Demand
    /// The connection has switched from HTTP.
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// Delivers a piece of content that the sink has queued (`TaskCore.queue`), in its turn on the delegate queue.
    func deliver(_ data: Data, _ context: CallbackContext)
    /// A response that may be cached; `reply` takes what is to be stored.
    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The load has ended, and everything that was queued has been delivered. Always called, once, on the delegate queue. Calls
    /// and content that are queued from here on come before the metrics.
    ///
    /// - Returns: The error that the task completes with.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)?
    /// The error that a cancelled task completes with, if `ended` has returned `error`.
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)?
    /// Ends the task for a caller that wants to resume it later; `handler` is called once, on the delegate queue, before the task
    /// completes.
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void)
    /// Whether the driver's calls, except `willCache`, call nothing of the program's as long as the task has a delegate: they
    /// queue work for the delegate queue, or do some of the library's.
    var defersCallbacks: Bool { get }
    /// Whether `ended` and `completed` may come on any thread if the task has no delegate: they call no code of the program's.
    var completesOnAnyThread: Bool { get }
    /// The last call, on the delegate queue, after the metrics.
    func completed(_ context: CallbackContext, _ error: (any Error)?)
}

extension TaskSink {
    var wantsSeparateChunks: Bool { false }
    func spliced(_ task: TaskCore, _ count: Int) -> Demand { .more }
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        connection.close()
        return ClosedUpgrade()
    }
    func deliver(_ data: Data, _ context: CallbackContext) {}
    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(proposal) }
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? { error }
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)? {
        (error as? URLError)?.code == .cancelled ? error : cancellation
    }
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        task.cancel(first: { handler(nil) })
    }
    var defersCallbacks: Bool { false }
    var completesOnAnyThread: Bool { false }
    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        context.delegates.task?.urlSession(context.session, task: context.task, didCompleteWithError: error)
    }
}

/// Handles an upgraded connection that has no consumer.
private final class ClosedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}

/// The participants of a batch of callbacks, created for each batch. A class, since it is passed from one call to the next.
final class CallbackContext: Sendable {
    /// The participants, as the task holds them.
    struct Participants: Sendable {
        let session: URLSession
        let task: URLSessionTask
        let sink: any TaskSink
        let own: DelegateSet?
    }

    let session: URLSession
    let task: URLSessionTask
    let sink: any TaskSink
    let delegates: DelegateChain

    /// - Parameter callsDelegates: Whether the delegates are called.
    init(_ participants: consuming Participants, callsDelegates: Bool = true) {
        session = participants.session
        task = participants.task
        sink = participants.sink
        delegates =
            callsDelegates
            ? DelegateChain(own: participants.own, session: participants.session.core.delegates)
            : DelegateChain(own: nil, session: nil)
    }
}

/// The delegates that a task asks: its own first, then the session's. A default implementation of the first forwards to the
/// second (`URLSession.successor(of:for:)`), so that only the first that conforms has to be called.
struct DelegateChain: Sendable {
    let own: DelegateSet?
    let session: DelegateSet?

    var isEmpty: Bool { own == nil && session == nil }
    var task: (any URLSessionTaskDelegate)? { own?.task ?? session?.task }
    var data: (any URLSessionDataDelegate)? { own?.data ?? session?.data }
    var download: (any URLSessionDownloadDelegate)? { own?.download ?? session?.download }
    var stream: (any URLSessionStreamDelegate)? { own?.stream ?? session?.stream }
    var webSocket: (any URLSessionWebSocketDelegate)? { own?.webSocket ?? session?.webSocket }
}
