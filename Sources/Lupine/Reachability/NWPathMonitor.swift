// SPDX-License-Identifier: MIT

public import Dispatch
internal import LupineLoading

/// Reports the network connectivity of the machine, based on the kernel's routes: once when the monitor is started, then whenever
/// the connectivity changes.
///
/// May be used from any thread. A monitor that was cancelled or released reports nothing more, and cannot be restarted.
public final class NWPathMonitor: Sendable {
    private let core: PathMonitorCore

    /// Creates a monitor of all interfaces.
    public convenience init() { self.init(view: .system) { _ in true } }

    /// Creates a monitor of interfaces of one type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(view: .system) { $0 == requiredInterfaceType }
    }

    /// Creates a monitor of interfaces of all types except these.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(view: .system) { !prohibitedInterfaceTypes.contains($0) }
    }

    init(view: NetworkView, allowing isAllowed: @escaping @Sendable (NWInterface.InterfaceType) -> Bool) {
        core = PathMonitorCore(view, isAllowed)
    }

    deinit {
        core.cancel()
        // Released here, because the last reference to `core` may be released on a thread of the library.
        pathUpdateHandler = nil
    }

    /// Called on `queue` with each new path. Set it before calling `start(queue:)`, so that it receives the first path.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { core.handler }
        set { core.handler = newValue }
    }

    /// The queue on which the handler is called; nil until `start(queue:)` is called.
    public var queue: DispatchQueue? { core.queue }

    /// The path that was reported last; before the first report, an unsatisfied path.
    public var currentPath: NWPath { core.currentPath }

    /// Starts reporting on this queue: first the current path, without waiting for a change, then each path whose status,
    /// interfaces, or support of IPv4 or IPv6 differ from the previous one. A second call has no effect.
    public func start(queue: DispatchQueue) { core.start(queue) }

    /// Stops reporting. If this method is called on the queue, the handler is not called afterwards.
    public func cancel() { core.cancel() }
}

/// The implementation of an `NWPathMonitor`.
///
/// A pending query may release the last reference to this object, on a thread of the library. The handler may retain objects of
/// the program, which must not be released on such a thread. For this reason the monitor's `deinit` clears the handler.
private final class PathMonitorCore: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        /// The queue for reports; nil before the start.
        var queue: DispatchQueue?
        /// The path that was reported last.
        var lastPath: NWPath?
        var isCancelled = false
        /// Ends the watch for changes; nil before the start and after the cancellation.
        var endWatch: NetworkView.End?
        /// Whether a query is scheduled that has not begun. Until it begins, further changes need no other query.
        var isQueryScheduled = false
        /// The number of queries so far, which is also the number of the latest query.
        var queryCount = 0
        /// The number of the latest query whose result was used. Results may arrive out of order; the result of an earlier query
        /// is ignored.
        var latestReportedQuery = 0
    }

    /// The delay in seconds between a change and the query that it causes. All changes within that time cause a single query.
    private static let coalescingDelay = 0.05

    private let view: NetworkView
    /// Whether interfaces of a type are observed.
    private let isAllowed: @Sendable (NWInterface.InterfaceType) -> Bool
    private let state = Protected(State())

    init(_ view: NetworkView, _ isAllowed: @escaping @Sendable (NWInterface.InterfaceType) -> Bool) {
        self.view = view
        self.isAllowed = isAllowed
    }

    var handler: (@Sendable (NWPath) -> Void)? {
        get { state.read { $0.handler } }
        set {
            // `swap` moves the old handler out of the lock, where it is released: releasing its captures may run code that uses
            // this monitor.
            var handler = newValue
            state.write { swap(&$0.handler, &handler) }
        }
    }

    var queue: DispatchQueue? { state.read { $0.queue } }

    var currentPath: NWPath { state.read { $0.lastPath } ?? NWPath(nil, allowing: isAllowed) }

    /// Starts reporting on the queue. Has no effect if the monitor was started or cancelled before.
    func start(_ queue: DispatchQueue) {
        let mayStart = state.write { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            return true
        }
        guard mayStart else { return }
        let endWatch = view.watch { [weak self] in self?.networkChanged() }
        // Another thread may have cancelled the monitor since. It has not ended the watch, which was not stored yet.
        let isCancelled = state.write { state in
            if state.isCancelled { return true }
            state.endWatch = endWatch
            return false
        }
        if isCancelled { return endWatch() }
        query()
    }

    /// Stops reporting.
    func cancel() {
        let endWatch = state.write { state in
            state.isCancelled = true
            defer { state.endWatch = nil }
            return state.endWatch
        }
        endWatch?()
    }

    /// Schedules a query after `coalescingDelay`, unless a query is scheduled already.
    private func networkChanged() {
        // The queue is not nil: `start` has stored it before it began to watch.
        let (queue, needsQuery) = state.write { state in
            defer { state.isQueryScheduled = true }
            return (state.queue, !state.isQueryScheduled && !state.isCancelled)
        }
        guard let queue, needsQuery else { return }
        queue.after(Self.coalescingDelay) { [weak self] in
            guard let self else { return }
            state.write { $0.isQueryScheduled = false }
            query()
        }
    }

    /// Queries the network and reports the path on the queue.
    private func query() {
        let number = state.write { state in
            state.queryCount += 1
            return state.queryCount
        }
        view.takeSnapshot { [weak self] snapshot in
            guard let self, let queue else { return }
            let path = NWPath(snapshot, allowing: isAllowed)
            queue.async { [weak self] in self?.report(path, ofQuery: number) }
        }
    }

    /// Calls the handler if the path has changed. Ignores the path if the result of a later query has been used.
    private func report(_ path: NWPath, ofQuery number: Int) {
        let handler = state.write { state -> (@Sendable (NWPath) -> Void)? in
            guard !state.isCancelled, number > state.latestReportedQuery else { return nil }
            state.latestReportedQuery = number
            guard state.lastPath != path else { return nil }
            state.lastPath = path
            return state.handler
        }
        assertNoLockIsHeld()
        handler?(path)
    }
}
