// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// Implements a `NetworkReachabilityManager`: queries the kernel, watches it for changes, and reports each new status to the
/// listener.
///
/// Changes are coalesced: all that occur within 50 ms of the first one cause a single query.
final class ReachabilityCore: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private struct State {
        /// The number of starts and stops so far. A result that belongs to an earlier number is ignored.
        var generation = 0
        /// The listener and its queue; nil while the manager does not listen.
        var listener: (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)?
        var lastStatus: Status?
        /// Ends the watch for changes.
        var endWatch: NetworkView.End?
        /// Whether a query is scheduled, which also covers the changes that occur before it begins.
        var isQueryScheduled = false
        /// The number of queries so far.
        var queryCount = 0
        /// The number of the latest query whose result was handled. Results may arrive out of order; an older one is ignored.
        var latestResult = 0
    }

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
        if let flags = Self.waitForResult(of: queryFlags) { return flags }
        // A host name whose look-up takes longer is treated as having no address.
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
        _ = hasResult.wait(timeout: .now() + .seconds(2))
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
        // The snapshot of the whole network arrives at once, while looking up the name of a host may take long.
        guard let snapshot = Self.waitForResult(of: view.takeSnapshot), snapshot != nil else { return false }
        // Another thread may have started meanwhile; this start then replaces that one. The old state is released outside of the
        // lock, because the listener belongs to the program.
        let (generation, old) = state.write { state in
            let old = state
            state = State(generation: state.generation + 1, listener: (listenerQueue, listener))
            return (state.generation, old)
        }
        old.endWatch?()
        let endWatch = view.watch { [weak self] in self?.networkChanged(generation) }
        let wasReplaced = state.write { state in
            guard state.generation == generation else { return true }
            state.endWatch = endWatch
            return false
        }
        if wasReplaced { endWatch() }
        // If this start was replaced, `report` ignores the result.
        query(generation)
        if host != nil { queryPeriodically(generation) }
        return true
    }

    /// Stops reporting, and releases the listener.
    func stop() {
        let old = state.write { state in
            let old = state
            state = State(generation: state.generation + 1)
            return old
        }
        old.endWatch?()
    }

    /// Schedules a query after 50 ms, unless one is scheduled already.
    private func networkChanged(_ generation: Int) {
        let isFirst = state.write { state in
            guard state.generation == generation, !state.isQueryScheduled else { return false }
            state.isQueryScheduled = true
            return true
        }
        guard isFirst else { return }
        queue.after(0.05) { [weak self] in self?.query(generation) }
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
            queue.async { [weak self] in self?.report(flags, generation, number) }
        }
    }

    /// Queries an unreachable host every 30 seconds, because its name may get an address without a local change.
    private func queryPeriodically(_ generation: Int) {
        queue.after(30) { [weak self] in
            guard let self else { return }
            let (isCurrent, lastStatus) = state.read { ($0.generation == generation, $0.lastStatus) }
            guard isCurrent else { return }
            if lastStatus == .notReachable { query(generation) }
            queryPeriodically(generation)
        }
    }

    /// Calls the listener on its queue if the status has changed. Ignores the flags if they are out of date.
    private func report(_ flags: SCNetworkReachabilityFlags, _ generation: Int, _ number: Int) {
        let status = Status(flags)
        let listener = state.write {
            state -> (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)? in
            guard state.generation == generation, number > state.latestResult else { return nil }
            state.latestResult = number
            guard state.lastStatus != status else { return nil }
            state.lastStatus = status
            return state.listener
        }
        guard let listener else { return }
        listener.queue.async { listener.body(status) }
    }
}
