// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Synchronization

/// The implementation of `URLSession`: its delegate, its tasks, and the progress of its invalidation.
///
/// May be called on any thread. Unfinished tasks keep the session alive (U-4.2): each retains its session until its last callback
/// has returned, and the core retains the tasks.
final class SessionCore: Sendable {
    private enum Life {
        case open  // → closing, cancelled
        /// No new tasks; the existing ones may finish.
        case closing  // → cancelled, closed
        /// The tasks were cancelled, but not all have completed. `unfinishedTasks` lists none of them.
        case cancelled  // → closed
        case closed
    }

    private struct State {
        var life = Life.open
        var delegates: DelegateSet?
        var description: String?
        /// The unfinished tasks by identifier.
        var tasks: [Int: TaskCore] = [:]
    }

    let context: SessionContext
    let queue: DelegateQueue
    private let isShared: Bool
    private let configuration: UncheckedSendable<URLSessionConfiguration>
    private let makeLoad: LoadMaker
    private let state: Lock<State>
    // `lastIdentifier` and `hadDelegate` are not guarded by `state`, because every new task reads them, and the lock would be
    // contended.
    private let lastIdentifier = Atomic(0)
    /// Whether the session was created with a delegate.
    let hadDelegate: Bool
    /// Whether `urlSession(_:didCreateTask:)` is called for new tasks.
    let needsDidCreateTask: Bool

    /// Creates the core of a session, with a copy of the configuration.
    init(
        _ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        isShared: Bool, makeLoad: @escaping LoadMaker = SessionCore.makeDriver
    ) {
        let copy = Self.copy(configuration)
        self.configuration = UncheckedSendable(copy)
        context = SessionContext(SessionSettings(copy), loads: isShared ? .shared : .standard)
        self.queue = DelegateQueue(queue)
        self.isShared = isShared
        self.makeLoad = makeLoad
        hadDelegate = delegate != nil
        needsDidCreateTask = (delegate as? any SelectiveDelegate)?.needsDidCreateTask ?? hadDelegate
        state = Lock(State(delegates: delegate.map { DelegateSet($0) }))
        if context.settings.cookieStorage != nil { PublicSuffixList.readAhead() }
    }

    private static func copy(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.copy() as? URLSessionConfiguration ?? URLSessionConfiguration(configuration.values)
    }

    /// A copy of the configuration that the session was made with.
    func copyOfConfiguration() -> URLSessionConfiguration { Self.copy(configuration.value) }

    /// The session's delegate; nil if it has none, and after its invalidation.
    var delegates: DelegateSet? { hadDelegate ? state.withLock { $0.delegates } : nil }

    /// A description for the program's use.
    var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: tasks

    /// Creates the core of a task. `TaskCore.begin(as:in:)` adds the task to the session.
    func makeTask(_ definition: TaskDefinition, sink: any TaskSink) -> TaskCore {
        makeTask(
            definition.request, sink, bodyLength: definition.bodyLength, created: definition.created,
            .definition(definition, context, maker: makeLoad))
    }

    /// Creates a load for `definition` that reports to `client`, which is another load.
    func load(_ definition: TaskDefinition, for client: any TaskDriverClient) -> any TaskLoad {
        makeLoad(definition, context, client)
    }

    /// Creates the core of a task with another kind of load.
    func makeTask(
        originalRequest: URLRequest?, sink: any TaskSink, bodyLength: Int64 = 0,
        created: Date = Date(),
        load: @escaping @Sendable (TaskCore) -> any TaskLoad
    ) -> TaskCore {
        makeTask(originalRequest, sink, bodyLength: bodyLength, created: created, .other(load))
    }

    private func makeTask(
        _ originalRequest: URLRequest?, _ sink: any TaskSink, bodyLength: Int64, created: Date,
        _ loadFactory: TaskCore.LoadFactory
    ) -> TaskCore {
        TaskCore(
            lastIdentifier.add(1, ordering: .relaxed).newValue, originalRequest: originalRequest,
            queue: queue, sink: sink, bodyLength: bodyLength, created: created, loadFactory: loadFactory)
    }

    /// Adds a task.
    ///
    /// - Returns: Whether the session is still open; otherwise the task does not belong to it.
    func admit(_ task: TaskCore) -> Bool {
        state.withLock { state in
            guard state.life == .open else { return false }
            state.tasks[task.identifier] = task
            return true
        }
    }

    /// Removes a task whose last callback has returned, and completes the invalidation if it was the last task.
    func taskFinished(_ identifier: Int, of session: URLSession) {
        let isLast = state.withLock { state in
            state.tasks[identifier] = nil
            return closeIfFinished(&state)
        }
        if isLast { completeInvalidation(of: session) }
    }

    /// Returns the tasks whose last callback has not returned, in the order of their creation. Returns none after
    /// `invalidateAndCancel()` (U-4.9).
    func unfinishedTasks() -> [URLSessionTask] {
        let tasks = state.withLock { $0.life == .cancelled ? [:] : $0.tasks }
        return tasks.values.sorted { $0.identifier < $1.identifier }.compactMap(\.publicTask)
    }

    // MARK: invalidation

    /// Refuses new tasks, and tells the delegate when the last task has ended. Has no effect on the shared session.
    ///
    /// - Parameters:
    ///   - session: The session of this core.
    ///   - cancelling: Whether the tasks are cancelled; otherwise they may finish.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        if isShared { return }
        let (tasks, isLast) = state.withLock { state in
            switch state.life {
            case .open, .closing: state.life = cancelling ? .cancelled : .closing
            case .cancelled, .closed: break
            }
            return (cancelling ? Array(state.tasks.values) : [], closeIfFinished(&state))
        }
        for task in tasks.sorted(by: { $0.identifier < $1.identifier }) { task.cancel() }
        if isLast { completeInvalidation(of: session) }
    }

    /// Closes the session if it was invalidated and has no more tasks. Returns whether this call has closed it; the caller then
    /// completes the invalidation outside of the lock.
    private func closeIfFinished(_ state: inout State) -> Bool {
        guard state.life == .closing || state.life == .cancelled, state.tasks.isEmpty else { return false }
        state.life = .closed
        return true
    }

    /// Closes the connections, tells the delegate that the session is invalid, and releases the delegate. The session stays alive
    /// until the delegate's method has returned.
    private func completeInvalidation(of session: URLSession) {
        context.engine.finish {}
        queue.add { [self] in
            assertNoLockIsHeld()
            assertNotOnLoop()
            delegates?.session.urlSession(session, didBecomeInvalidWithError: nil)
            // Returned, so that the delegate is released outside of the lock.
            _ = state.withLock { state -> DelegateSet? in
                defer { state.delegates = nil }
                return state.delegates
            }
        }
    }

    // MARK: stores

    /// Empties the stores of cookies, credentials and responses, then does what `flush` does.
    func reset(_ session: URLSession, _ done: @escaping @Sendable () -> Void) {
        let settings = context.settings
        settings.cookieStorage?.removeCookies(since: .distantPast)
        settings.credentialStorage?.removeAll()
        settings.cache?.removeAllCachedResponses()
        context.authentication.removeAll()
        flush(session, done)
    }

    /// Closes idle connections and has the stores write their contents to the disk; then calls `done` on the delegate queue.
    func flush(_ session: URLSession, _ done: @escaping @Sendable () -> Void) {
        context.engine.closeIdleConnections()
        let queue = queue
        let cache = context.settings.cache
        let finish: @Sendable () -> Void = {
            queue.add {
                // Keeps the session alive until `done` has returned (U-4.2).
                withExtendedLifetime(session) { done() }
            }
        }
        let flushCache: @Sendable () -> Void = {
            if let cache { cache.flush(finish) } else { finish() }
        }
        if let cookies = context.settings.cookieStorage {
            cookies.flush(flushCache)
        } else {
            flushCache()
        }
    }
}

extension TaskDefinition {
    /// The length of the body; `NSURLSessionTransferSizeUnknown` for files and streams, which are not opened yet.
    fileprivate var bodyLength: Int64 {
        switch body {
        case .data(let data): Int64(data.count)
        case .file, .streamed: NSURLSessionTransferSizeUnknown
        case .request:
            request.httpBodyStream == nil
                ? Int64(request.httpBody?.count ?? 0) : NSURLSessionTransferSizeUnknown
        }
    }
}
