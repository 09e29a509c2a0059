// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Synchronization

/// The implementation of `URLSession`: its delegate, its tasks, and the progress of its invalidation.
///
/// May be called on any thread. Unfinished tasks keep the session alive (U-4.2): each retains its session until its last callback
/// has returned, and the core retains the tasks.
final class SessionCore: Sendable {
    /// The phases of a session. The arrows name the phases that may follow.
    private enum Phase {
        /// Tasks can be created.
        case open  // → closing, cancelled
        /// No new tasks are accepted; the existing ones may finish.
        case closing  // → cancelled, closed
        /// The tasks were cancelled, but not all have completed. `unfinishedTasks` lists none of them.
        case cancelled  // → closed
        /// The last task has completed.
        case closed
    }

    private struct State {
        var phase = Phase.open
        /// The session's delegate; nil if the session has none, and after its invalidation.
        var delegates: DelegateSet?
        /// The `sessionDescription`.
        var description: String?
        /// The unfinished tasks by identifier.
        var tasks: [Int: TaskCore] = [:]
    }

    /// What the loads of the session share: its settings, its engine, and its memory of challenges.
    let context: SessionContext
    /// The queue on which the delegate and the completion handlers are called.
    let queue: DelegateQueue
    /// Whether this is `URLSession.shared`, which cannot be invalidated.
    private let isShared: Bool
    /// The copy of the program's configuration, which is never changed.
    private let configuration: UncheckedSendable<URLSessionConfiguration>
    /// Creates the loads of tasks; by default `TaskDriver`s.
    private let loadMaker: LoadMaker
    private let state: Lock<State>
    /// The identifier of the task that was created last. Atomic instead of a part of `state`, because every new task changes it,
    /// and many threads may create tasks at once.
    private let lastIdentifier = Atomic(0)
    /// Whether the session was created with a delegate. A constant, so that new tasks read it without acquiring the lock.
    let hadDelegate: Bool
    /// Whether `urlSession(_:didCreateTask:)` is called for new tasks.
    let needsDidCreateTask: Bool

    /// Creates the core of a session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which is copied.
    ///   - delegate: The session's delegate; nil for none.
    ///   - queue: The queue for calls of the delegate and of completion handlers; nil to create a serial queue.
    ///   - isShared: Whether this is the core of `URLSession.shared`.
    ///   - makeLoad: Creates the load of a task. Tests replace it.
    init(
        _ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        isShared: Bool, makeLoad: @escaping LoadMaker = SessionCore.makeTaskDriver
    ) {
        let copy = Self.copy(configuration)
        self.configuration = UncheckedSendable(copy)
        // `.shared` uses the registered `URLProtocol` classes, `.standard` those of the configuration.
        context = SessionContext(SessionSettings(copy), hopLoadFactory: isShared ? .shared : .standard)
        self.queue = DelegateQueue(queue)
        self.isShared = isShared
        loadMaker = makeLoad
        hadDelegate = delegate != nil
        needsDidCreateTask = (delegate as? any SelectiveDelegate)?.needsDidCreateTask ?? hadDelegate
        state = Lock(State(delegates: delegate.map { DelegateSet($0) }))
        // Starts to read the list now, so that the first cookie does not have to wait for it.
        if context.settings.cookieStorage != nil { PublicSuffixList.readAhead() }
    }

    /// Returns a copy of the configuration. The cast fails only if a program's subclass returns another type from `copy()`; then
    /// the copy has the values of Lupine's class.
    private static func copy(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.copy() as? URLSessionConfiguration ?? URLSessionConfiguration(configuration.values)
    }

    /// Returns a new copy of the session's configuration, which the program may change.
    func copyOfConfiguration() -> URLSessionConfiguration { Self.copy(configuration.value) }

    /// The session's delegate; nil if the session has none, and after its invalidation.
    var delegates: DelegateSet? { hadDelegate ? state.withLock { $0.delegates } : nil }

    /// A description for the program's use.
    var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: tasks

    /// Creates the core of a task. The core is not yet one of the session's tasks: `TaskCore.begin(as:in:delegate:)` adds it.
    func makeTask(_ definition: TaskDefinition, sink: any TaskSink) -> TaskCore {
        makeTask(
            definition.request, sink, bodyLength: definition.bodyLength, created: definition.created,
            .definition(definition, context, maker: loadMaker))
    }

    /// Creates a load for `definition` that reports to `client`: to another load, not to a task.
    func makeLoad(_ definition: TaskDefinition, reportingTo client: any TaskDriverClient) -> any TaskLoad {
        loadMaker(definition, context, client)
    }

    /// Creates the core of a task whose load the closure `load` creates.
    func makeTask(
        originalRequest: URLRequest?, sink: any TaskSink, bodyLength: Int64 = 0,
        created: Date = Date(),
        load: @escaping @Sendable (TaskCore) -> any TaskLoad
    ) -> TaskCore {
        makeTask(originalRequest, sink, bodyLength: bodyLength, created: created, .other(load))
    }

    /// Creates the core of a task, with the next identifier.
    private func makeTask(
        _ originalRequest: URLRequest?, _ sink: any TaskSink, bodyLength: Int64, created: Date,
        _ loadFactory: TaskCore.LoadFactory
    ) -> TaskCore {
        TaskCore(
            lastIdentifier.add(1, ordering: .relaxed).newValue, originalRequest: originalRequest,
            queue: queue, sink: sink, bodyLength: bodyLength, created: created, loadFactory: loadFactory)
    }

    /// Adds a task to the session's tasks if the session is open.
    ///
    /// - Returns: Whether the task was added; false once the session was invalidated.
    func admit(_ task: TaskCore) -> Bool {
        state.withLock { state in
            guard state.phase == .open else { return false }
            state.tasks[task.identifier] = task
            return true
        }
    }

    /// Removes a task whose last callback has returned, and completes the invalidation if it was the last task.
    func taskFinished(_ identifier: Int, of session: URLSession) {
        let isClosed = state.withLock { state in
            state.tasks[identifier] = nil
            return closeIfFinished(&state)
        }
        if isClosed { completeInvalidation(of: session) }
    }

    /// Returns the tasks whose last callback has not returned, in the order of their creation; none after
    /// `invalidateAndCancel()` (U-4.9).
    func unfinishedTasks() -> [URLSessionTask] {
        let tasks = state.withLock { $0.phase == .cancelled ? [:] : $0.tasks }
        return tasks.values.sorted { $0.identifier < $1.identifier }.compactMap(\.publicTask)
    }

    // MARK: invalidation

    /// Refuses new tasks, and tells the delegate when the last task has ended. Has no effect on the shared session.
    ///
    /// - Parameters:
    ///   - session: The session of this core.
    ///   - cancelling: Whether to cancel the tasks; otherwise they may finish.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        if isShared { return }
        let (tasksToCancel, isClosed) = state.withLock { state in
            switch state.phase {
            case .open, .closing: state.phase = cancelling ? .cancelled : .closing
            case .cancelled, .closed: break
            }
            return (cancelling ? Array(state.tasks.values) : [], closeIfFinished(&state))
        }
        for task in tasksToCancel.sorted(by: { $0.identifier < $1.identifier }) { task.cancel() }
        if isClosed { completeInvalidation(of: session) }
    }

    /// Closes the session if it was invalidated and has no more tasks. Returns whether this call has closed it; then the caller
    /// has to call `completeInvalidation` after it has released the lock.
    private func closeIfFinished(_ state: inout State) -> Bool {
        guard state.phase == .closing || state.phase == .cancelled, state.tasks.isEmpty else { return false }
        state.phase = .closed
        return true
    }

    /// Closes the connections. Then, on the delegate queue, tells the delegate that the session is invalid and releases the
    /// delegate. The session stays alive until the delegate's method has returned, because the job retains it.
    private func completeInvalidation(of session: URLSession) {
        // Nothing has to wait for the connections, so the closure is empty.
        context.engine.finish {}
        queue.add { [self] in
            assertNoLockIsHeld()
            assertNotOnLoop()
            delegates?.session.urlSession(session, didBecomeInvalidWithError: nil)
            // The closure returns the delegate, so that it is released outside of the lock: its `deinit` may call the session.
            _ = state.withLock { state -> DelegateSet? in
                defer { state.delegates = nil }
                return state.delegates
            }
        }
    }

    // MARK: stores

    /// Empties the stores of cookies, credentials and responses; then closes idle connections, has the stores write to the disk,
    /// and calls `done` on the delegate queue, as `flush` does.
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
    /// The length of the body in bytes; `NSURLSessionTransferSizeUnknown` for files and streams, which are opened later.
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
