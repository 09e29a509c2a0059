// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Receives the response of a task. There is one implementation for each kind of task and each way to wait for its result.
///
/// `receivedResponse`, `receivedContent`, `spliced`, `upgraded` and `willCache` are called by the driver, on any thread, one at a
/// time. They must not block. To call the program, they use `TaskCore.call`, `enqueue` or `ask`, which run the callbacks on the
/// delegate queue.
protocol TaskSink: AnyObject, Sendable {
    /// The final response has arrived, and the core has stored it. Returns the plan, which says how the driver delivers the
    /// content.
    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan
    /// Whether the sink wants each chunk of a chunked body (RFC 9112 §7.1) as a separate piece (T-7). No effect on content that
    /// is decoded.
    var wantsSeparateChunks: Bool { get }
    /// Receives a piece of the content, never empty. The core has counted its bytes.
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand
    /// Another `count` bytes of content have been written to the file of the plan. The core has counted them.
    func spliced(_ task: TaskCore, _ count: Int) -> Demand
    /// The connection has switched from HTTP to another protocol. Returns the handler of the bytes that arrive.
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// Delivers a piece of content that the sink has queued with `TaskCore.enqueue`. Called on the delegate queue.
    func deliver(_ data: Data, _ context: CallbackContext)
    /// The response may be stored in the cache. The sink replies with the response to store, or with nil.
    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The load has ended, and all queued calls and content have been delivered. Always called, once, on the delegate queue. The
    /// sink may queue more calls and content: the core delivers them before it reports the metrics.
    ///
    /// - Returns: The error that the task completes with; nil for a success.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)?
    /// Returns the error that a cancelled task completes with if `ended` has returned `error`.
    func errorOfCancelledTask(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)?
    /// Ends the task so that another task can resume its download. Calls `handler` once with the resume data or nil, on the
    /// delegate queue, before the task completes.
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void)
    /// Whether the sink defers all calls of the program's code to the delegate queue while the task has a delegate. `willCache`
    /// is an exception.
    var defersCallbacks: Bool { get }
    /// Whether `ended` and `completed` may be called on any thread if the task has no delegate, because they call no code of the
    /// program.
    var completesOnAnyThread: Bool { get }
    /// The task has completed. The last call, on the delegate queue, after the metrics have been reported. Reports the completion
    /// to the program.
    func completed(_ context: CallbackContext, _ error: (any Error)?)
}

extension TaskSink {
    var wantsSeparateChunks: Bool { false }
    func spliced(_ task: TaskCore, _ count: Int) -> Demand { .more }
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        connection.close()
        return UnexpectedUpgradeHandler()
    }
    func deliver(_ data: Data, _ context: CallbackContext) {}
    func willCache(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(proposal) }
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? { error }
    func errorOfCancelledTask(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)? {
        (error as? URLError)?.code == .cancelled ? error : cancellation
    }
    func askForResumeData(_ task: TaskCore, _ handler: @escaping @Sendable (Data?) -> Void) {
        task.cancel(callingFirst: { handler(nil) })
    }
    var defersCallbacks: Bool { false }
    var completesOnAnyThread: Bool { false }
    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        context.delegates.task?.urlSession(context.session, task: context.task, didCompleteWithError: error)
    }
}

/// Ignores the bytes of an upgraded connection, for a sink that expects no upgrade. The connection is closed.
private final class UnexpectedUpgradeHandler: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}

/// The session, task, sink and delegates of the callbacks that one job on the delegate queue makes. A class, so that passing the
/// value from call to call costs one retain.
final class CallbackContext: Sendable {
    /// The objects that take part in the callbacks, as the task's state retains them.
    struct Participants: Sendable {
        let session: URLSession
        let task: URLSessionTask
        let sink: any TaskSink
        /// The task's own delegate; nil if it has none.
        let ownDelegates: DelegateSet?
    }

    let session: URLSession
    let task: URLSessionTask
    let sink: any TaskSink
    let delegates: DelegateChain

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - participants: The session, the task, its sink and its own delegate.
    ///   - callsDelegates: Whether the delegates are called.
    init(_ participants: consuming Participants, callsDelegates: Bool = true) {
        session = participants.session
        task = participants.task
        sink = participants.sink
        delegates =
            callsDelegates
            ? DelegateChain(
                ownDelegates: participants.ownDelegates,
                sessionDelegates: participants.session.core.delegates)
            : DelegateChain(ownDelegates: nil, sessionDelegates: nil)
    }
}

/// The delegates of a task: its own delegate and the session's. For each protocol, only the first delegate that conforms to it
/// has to be called. If that delegate does not implement a method, the default implementation calls
/// the session's delegate (`URLSession.successor(of:for:)`).
struct DelegateChain: Sendable {
    /// The task's own delegate; nil if it has none.
    let ownDelegates: DelegateSet?
    /// The session's delegate; nil if it has none.
    let sessionDelegates: DelegateSet?

    var isEmpty: Bool { ownDelegates == nil && sessionDelegates == nil }
    var task: (any URLSessionTaskDelegate)? { ownDelegates?.task ?? sessionDelegates?.task }
    var data: (any URLSessionDataDelegate)? { ownDelegates?.data ?? sessionDelegates?.data }
    var download: (any URLSessionDownloadDelegate)? { ownDelegates?.download ?? sessionDelegates?.download }
    var stream: (any URLSessionStreamDelegate)? { ownDelegates?.stream ?? sessionDelegates?.stream }
    var webSocket: (any URLSessionWebSocketDelegate)? {
        ownDelegates?.webSocket ?? sessionDelegates?.webSocket
    }
}
