// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Synchronization

/// The state of a session, behind its open class: delegate, tasks, and how far its end has come.
///
/// Any thread. The tasks keep the session alive while they are unfinished (U-4.2): each holds its session until its last
/// call has returned, and the core holds the tasks.
final class SessionCore: Sendable {
    private enum Life {
        case open  // → closing, cancelled
        /// No new tasks; those that there are may finish.
        case closing  // → cancelled, closed
        /// The tasks were cancelled: they are none of the session's any more for whoever asks, and have yet to say so.
        case cancelled  // → closed
        case closed
    }

    private struct State {
        var life = Life.open
        var delegates: DelegateSet?
        var description: String?
        var tasks: [Int: TaskCore] = [:]
    }

    let context: SessionContext
    let queue: DelegateQueue
    private let isShared: Bool
    private let configuration: CallerValue<URLSessionConfiguration>
    private let makeLoad: LoadMaker
    private let state: Lock<State>
    /// Numbers are drawn, and a session without a delegate is known for one, without the lock: all tasks of all threads
    /// would meet there several times each.
    private let lastIdentifier = Atomic(0)
    let hadDelegate: Bool
    /// Whether that is to be told of new tasks.
    let tellsOfNewTasks: Bool

    /// The core of a session.
    init(
        _ configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, queue: OperationQueue?,
        isShared: Bool, makeLoad: @escaping LoadMaker = { TaskDriver($0, context: $1, client: $2) }
    ) {
        let copy = Self.copy(configuration)
        self.configuration = CallerValue(copy)
        context = SessionContext(SessionSettings(copy), loads: isShared ? .shared : .standard)
        self.queue = DelegateQueue(queue)
        self.isShared = isShared
        self.makeLoad = makeLoad
        hadDelegate = delegate != nil
        tellsOfNewTasks = (delegate as? any SelectiveDelegate)?.hearsOfNewTasks ?? hadDelegate
        state = Lock(State(delegates: delegate.map { DelegateSet($0) }))
        if context.settings.cookieStorage != nil { PublicSuffixList.readAhead() }
    }

    private static func copy(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        configuration.copy() as? URLSessionConfiguration ?? URLSessionConfiguration(configuration.values)
    }

    /// The configuration that the session was made with.
    func copyOfConfiguration() -> URLSessionConfiguration { Self.copy(configuration.value) }

    /// The session's delegate; nil when there is none (any more).
    var delegates: DelegateSet? { hadDelegate ? state.withLock { $0.delegates } : nil }

    /// The program's.
    var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }

    // MARK: tasks

    /// The core of a new task. It is not known to the session before `TaskCore.begin(as:in:)`.
    func makeTask(_ order: TaskOrder, sink: any TaskSink) -> TaskCore {
        makeTask(
            order.request, sink, bodyLength: order.bodyLength, created: order.created,
            .order(order, context, maker: makeLoad))
    }

    /// What carries out that order for another load.
    func load(_ order: TaskOrder, for client: any TaskDriverClient) -> any TaskLoad {
        makeLoad(order, context, client)
    }

    /// The core of a new task with a load of its own kind.
    func makeTask(
        originalRequest: URLRequest?, sink: any TaskSink, bodyLength: Int64 = 0,
        created: Date = Date(),
        load: @escaping @Sendable (TaskCore) -> any TaskLoad
    ) -> TaskCore {
        makeTask(originalRequest, sink, bodyLength: bodyLength, created: created, .other(load))
    }

    private func makeTask(
        _ originalRequest: URLRequest?, _ sink: any TaskSink, bodyLength: Int64, created: Date,
        _ making: TaskCore.Making
    ) -> TaskCore {
        TaskCore(
            lastIdentifier.add(1, ordering: .relaxed).newValue, originalRequest: originalRequest,
            queue: queue, sink: sink, bodyLength: bodyLength, created: created, making: making)
    }

    /// Takes a task in.
    ///
    /// - Returns: Whether the session is still open; else the task is none of its.
    func admit(_ task: TaskCore) -> Bool {
        state.withLock { state in
            guard state.life == .open else { return false }
            state.tasks[task.identifier] = task
            return true
        }
    }

    /// A task has had its last call.
    func taskFinished(_ identifier: Int, of session: URLSession) {
        let isLast = state.withLock { state in
            state.tasks[identifier] = nil
            return close(&state)
        }
        if isLast { sayGoodbye(session) }
    }

    /// The tasks that have not had their last call, in the order of their creation; none once they were cancelled with the
    /// session (U-4.9).
    func unfinishedTasks() -> [URLSessionTask] {
        let tasks = state.withLock { $0.life == .cancelled ? [:] : $0.tasks }
        // One that is completed has not left the session as long as its last call runs.
        return tasks.values.filter { $0.taskState != .completed }.sorted { $0.identifier < $1.identifier }
            .compactMap(\.face)
    }

    // MARK: the end

    /// Takes no more tasks; tells the delegate when the last one has ended.
    func invalidate(_ session: URLSession, cancelling: Bool) {
        if isShared { return }
        let (tasks, isLast) = state.withLock { state in
            switch state.life {
            case .open, .closing: state.life = cancelling ? .cancelled : .closing
            case .cancelled, .closed: break
            }
            return (cancelling ? Array(state.tasks.values) : [], close(&state))
        }
        for task in tasks.sorted(by: { $0.identifier < $1.identifier }) { task.cancel() }
        if isLast { sayGoodbye(session) }
    }

    /// Whether the end has just come.
    private func close(_ state: inout State) -> Bool {
        guard state.life == .closing || state.life == .cancelled, state.tasks.isEmpty else { return false }
        state.life = .closed
        return true
    }

    /// The session lives until it has said so. Its connections go now, however long somebody still holds it.
    private func sayGoodbye(_ session: URLSession) {
        context.engine.finish {}
        queue.add { [self] in
            assertNoLockIsHeld()
            assertNotOnLoop()
            delegates?.session.urlSession(session, didBecomeInvalidWithError: nil)
            _ = state.withLock { state -> DelegateSet? in
                defer { state.delegates = nil }
                return state.delegates
            }
        }
    }

    // MARK: stores

    /// Empties the stores, then does what `flush` does.
    func reset(_ session: URLSession, _ done: @escaping @Sendable () -> Void) {
        let settings = context.settings
        settings.cookieStorage?.removeCookies(since: .distantPast)
        settings.credentialStorage?.removeAll()
        settings.cache?.removeAllCachedResponses()
        context.authentication.removeAll()
        flush(session, done)
    }

    /// Has the stores write what they hold to the disk and closes the connections that carry nothing.
    func flush(_ session: URLSession, _ done: @escaping @Sendable () -> Void) {
        context.engine.closeIdleConnections()
        let queue = queue
        let cache = context.settings.cache
        let finish: @Sendable () -> Void = {
            queue.add {
                // The session is there until it has called back (U-4.2).
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

extension TaskOrder {
    /// How many bytes the body has, as far as that is known before it is opened.
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
