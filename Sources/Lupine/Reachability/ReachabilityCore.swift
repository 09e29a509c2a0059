// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The implementation of a `NetworkReachabilityManager`: queries the kernel, watches it for changes, and reports each new status
/// to the listener.
final class ReachabilityCore: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private struct State {
        /// The number of starts and stops so far. The result of a query that began under another number is ignored.
        var generation = 0
        /// The listener and its queue; nil while the manager does not listen.
        var listener: (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)?
        /// The status that was reported last.
        var lastStatus: Status?
        /// Ends the watch for changes.
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
    /// The seconds between two queries of an unreachable host.
    private static let pollingInterval = 30.0
    /// The seconds after which a blocking query ends without a result.
    private static let blockingQueryTimeout = 2.0

    /// The host; nil for the whole network.
    private let host: String?
    private let view: NetworkView
    private let queue: DispatchQueue
    private let state = Protected(State())

    init(host: String?, view: NetworkView, queue: DispatchQueue) {
        self.host = host
        self.view = view
        self.queue = queue
    }

    /// Returns the present flags; nil if the kernel cannot be queried. Blocks for at most two seconds.
    func flags() -> SCNetworkReachabilityFlags? {
        // The outer optional is nil after a timeout, the inner one if the kernel cannot be queried.
        if let flags = Self.waitForResult(of: queryFlags) { return flags }
        // A host whose name takes longer than two seconds to look up counts as unreachable, as if it had no address.
        return host == nil ? nil : []
    }

    /// Blocks until `query` calls its completion. Returns the result; nil after two seconds.
    private static func waitForResult<Value: Sendable>(
        of query: (_ completion: @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value? {
        let result = Protected<Value?>(nil)
        let hasResult = DispatchSemaphore(value: 0)
        query { value in
            result.write { $0 = value }
            hasResult.signal()
        }
        // If the wait times out, the result is nil.
        _ = hasResult.wait(timeout: .now() + blockingQueryTimeout)
        return result.read { $0 }
    }

    /// Queries the flags of the host or of the whole network. Calls `completion` on any thread, with nil if the kernel cannot be
    /// queried.
    private func queryFlags(_ completion: @escaping @Sendable (SCNetworkReachabilityFlags?) -> Void) {
        if let host {
            view.findRoutes(host) { completion(SCNetworkReachabilityFlags($0)) }
        } else {
            view.takeSnapshot { completion($0.map(SCNetworkReachabilityFlags.init)) }
        }
    }

    /// Starts reporting to a listener, in place of an earlier one. Returns false if the kernel cannot be queried.
    func start(
        on listenerQueue: DispatchQueue, _ listener: @escaping NetworkReachabilityManager.Listener
    ) -> Bool {
        stop()
        // Checks whether the kernel can be queried. The snapshot of the whole network arrives at once, even if the manager
        // observes a host, whose name may take long to look up. As in `flags`, there are two optionals: `snapshot` is nil if the
        // kernel cannot be queried, and the result of the wait is nil after a timeout.
        guard let snapshot = Self.waitForResult(of: view.takeSnapshot), snapshot != nil else { return false }
        // If another thread has called `start` since `stop`, this call replaces it. The old state is returned, so that its
        // listener is released outside the lock: releasing the listener's captures may run code of the program.
        let (generation, oldState) = state.write { state in
            let oldState = state
            state = State(generation: state.generation + 1, listener: (listenerQueue, listener))
            return (state.generation, oldState)
        }
        oldState.endWatch?()
        let endWatch = view.watch { [weak self] in self?.networkChanged(generation) }
        let wasReplaced = state.write { state in
            guard state.generation == generation else { return true }
            state.endWatch = endWatch
            return false
        }
        if wasReplaced { endWatch() }
        // Needs no check whether another call of `start` or `stop` has replaced this one: `report` then ignores the result.
        query(generation)
        if host != nil { queryPeriodically(generation) }
        return true
    }

    /// Stops reporting, and releases the listener.
    func stop() {
        let oldState = state.write { state in
            let oldState = state
            state = State(generation: state.generation + 1)
            return oldState
        }
        oldState.endWatch?()
    }

    /// Schedules a query after `coalescingDelay`, unless a query is scheduled already.
    private func networkChanged(_ generation: Int) {
        let needsQuery = state.write { state in
            guard state.generation == generation, !state.isQueryScheduled else { return false }
            state.isQueryScheduled = true
            return true
        }
        guard needsQuery else { return }
        queue.after(Self.coalescingDelay) { [weak self] in self?.query(generation) }
    }

    /// Queries the flags and reports them on the queue.
    private func query(_ generation: Int) {
        let number = state.write { state -> Int in
            if state.generation == generation { state.isQueryScheduled = false }
            state.queryCount += 1
            return state.queryCount
        }
        queryFlags { [weak self] flags in
            guard let self, let flags else { return }
            queue.async { [weak self] in self?.report(flags, of: generation, query: number) }
        }
    }

    /// Queries an unreachable host every 30 seconds, because its name may get an address without a change that the kernel
    /// reports.
    private func queryPeriodically(_ generation: Int) {
        queue.after(Self.pollingInterval) { [weak self] in
            guard let self else { return }
            let (isCurrent, lastStatus) = state.read { ($0.generation == generation, $0.lastStatus) }
            guard isCurrent else { return }
            if lastStatus == .notReachable { query(generation) }
            queryPeriodically(generation)
        }
    }

    /// Calls the listener on its queue if the status has changed. Ignores the flags if the manager was started or stopped since
    /// the query, or if the result of a later query has been used.
    private func report(_ flags: SCNetworkReachabilityFlags, of generation: Int, query number: Int) {
        let status = Status(flags)
        let listener = state.write {
            state -> (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)? in
            guard state.generation == generation, number > state.latestReportedQuery else { return nil }
            state.latestReportedQuery = number
            guard state.lastStatus != status else { return nil }
            state.lastStatus = status
            return state.listener
        }
        guard let listener else { return }
        listener.queue.async { listener.body(status) }
    }
}
