// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Consumes a task's response. There is one implementation for each kind of task and each way to wait for its result.
///
/// `receivedResponse`, `receivedContent`, `spliced`, `upgraded` and `willCache` are called by the driver, on any thread, one at a
/// time; they must not block. They call the program only through the core (`call`, `queue`, `ask`), which runs the callbacks on
/// the delegate queue.
protocol TaskSink: AnyObject, Sendable {
    /// The final response has arrived; the core has stored it. The returned plan says how the driver delivers its content.
    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan
    /// Whether the sink wants each chunk of the transfer coding as a separate piece (T-7). No effect on content that is decoded.
    var wantsSeparateChunks: Bool { get }
    /// Receives a piece of the content, never empty. The core has counted its bytes.
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand
    /// `count` bytes of content went directly into the file of the plan. The core has counted them.
    func spliced(_ task: TaskCore, _ count: Int) -> Demand
    /// The connection has switched from HTTP.
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// Delivers a piece of content that the sink has queued with `TaskCore.queue`. Called on the delegate queue.
    func deliver(_ data: Data, _ context: CallbackContext)
    /// The response may be stored in the cache. The sink replies with the response to store, or with nil.
    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The load has ended, and all queued calls and content have been delivered. Always called, once, on the delegate queue. The
    /// core delivers calls and content that the sink queues now before it reports the metrics.
    ///
    /// - Returns: The error that the task completes with.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)?
    /// Returns the error that a cancelled task completes with if `ended` has returned `error`.
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)?
    /// Ends the task so that its download can be resumed later. Calls `handler` once with the resume data or nil, on the delegate
    /// queue, before the task completes.
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void)
    /// Whether the driver's calls, except `willCache`, call no code of the program's while the task has a delegate, but queue it
    /// for the delegate queue.
    var defersCallbacks: Bool { get }
    /// Whether `ended` and `completed` may be called on any thread if the task has no delegate, because they call no code of the
    /// program's.
    var completesOnAnyThread: Bool { get }
    /// The task is completed. The last call, on the delegate queue, after the metrics have been reported.
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

/// Handles an upgraded connection whose sink expects none.
private final class ClosedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}

/// The session, task, sink and delegates of a batch of callbacks. A class, so that passing it from call to call retains one
/// object.
final class CallbackContext: Sendable {
    /// The participants as the task's state holds them.
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

/// The delegates of a task: its own, then the session's. Only the first one that conforms to a protocol has to be called: if it
/// does not implement a method, the default implementation calls the second one (`URLSession.successor(of:for:)`).
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
