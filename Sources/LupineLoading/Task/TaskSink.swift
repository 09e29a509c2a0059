// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What becomes of a task's answer: there is one for each kind of task and way to wait for it.
///
/// The first calls come from the driver, on any thread and never two at once: they must not block. What is to be called
/// back goes through the core (`call`, `queue`, `ask`), which calls on the delegate queue.
protocol TaskSink: AnyObject, Sendable {
    /// The final response; the core holds it already. The answer says how its content flows.
    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan
    /// Whether the chunks of a transfer coding are to come as pieces of their own (T-7), where content is not decoded.
    var keepsChunks: Bool { get }
    /// A piece of the content, never empty. The core has counted it.
    func received(_ task: TaskCore, _ data: Data) -> Demand
    /// So many bytes went straight into the file that `responded` named. The core has counted them.
    func spliced(_ task: TaskCore, _ count: Int) -> Demand
    /// The connection has left HTTP.
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// A piece of content that the sink has queued (`TaskCore.queue`) has come to its turn, on the delegate queue.
    func delivers(_ data: Data, _ stage: TaskStage)
    /// A response that may be cached; the answer is what is to be stored.
    func caches(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The load is over and what was queued has been delivered; once, always, on the delegate queue. What is called or
    /// queued from here on comes before the metrics.
    ///
    /// - Returns: The error that the task completes with.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)?
    /// What a task completes with that has been cancelled, where `ended` had answered `error`.
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)?
    /// Ends the task for somebody who wants to go on with it later; `asker` hears once, on the delegate queue, before the
    /// task completes.
    func askForResumeData(_ task: TaskCore, _ asker: @escaping @Sendable (Data?) -> Void)
    /// Whether the calls from the driver put on the delegate queue what they are told, as long as the task has a delegate, and do nothing
    /// else; but for `caches`.
    var onlyQueues: Bool { get }
    /// Whether `ended` and `completed` may come on any thread when the task has no delegate: they call nothing of the
    /// program's.
    var completesAnywhere: Bool { get }
    /// The last call of all, on the delegate queue, when the metrics have been told.
    func completed(_ stage: TaskStage, _ error: (any Error)?)
}

extension TaskSink {
    var keepsChunks: Bool { false }
    func spliced(_ task: TaskCore, _ count: Int) -> Demand { .more }
    func upgraded(_ task: TaskCore, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    {
        connection.close()
        return ClosedUpgrade()
    }
    func delivers(_ data: Data, _ stage: TaskStage) {}
    func caches(
        _ task: TaskCore, _ proposal: CachedURLResponse,
        reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(proposal) }
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? { error }
    func errorOfCancelled(_ error: (any Error)?, _ cancellation: URLError) -> (any Error)? {
        (error as? URLError)?.code == .cancelled ? error : cancellation
    }
    func askForResumeData(_ task: TaskCore, _ asker: @escaping @Sendable (Data?) -> Void) {
        task.cancel(first: { asker(nil) })
    }
    var onlyQueues: Bool { false }
    var completesAnywhere: Bool { false }
    func completed(_ stage: TaskStage, _ error: (any Error)?) {
        stage.delegates.task?.urlSession(stage.session, task: stage.task, didCompleteWithError: error)
    }
}

/// Nobody speaks the other protocol.
private final class ClosedUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}

/// Who takes part in a call back: made anew for each batch of them. A class: it is handed from one to the other.
final class TaskStage: Sendable {
    /// Who takes part, as the task has it.
    struct Cast: Sendable {
        let session: URLSession
        let task: URLSessionTask
        let sink: any TaskSink
        let own: DelegateSet?
    }

    let session: URLSession
    let task: URLSessionTask
    let sink: any TaskSink
    let delegates: DelegateChain

    /// - Parameter isHeard: Whether the delegates hear of it.
    init(_ cast: consuming Cast, isHeard: Bool = true) {
        session = cast.session
        task = cast.task
        sink = cast.sink
        delegates =
            isHeard
            ? DelegateChain(own: cast.own, session: cast.session.core.delegates)
            : DelegateChain(own: nil, session: nil)
    }
}

/// Whom a task asks: its own delegate first, then the session's. A default implementation of the first passes on to the
/// second (`URLSession.successor(of:for:)`), so that only the first that conforms is to be called.
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
