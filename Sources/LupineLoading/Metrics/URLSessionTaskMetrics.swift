// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// The metrics of a task, passed to the delegate once, before the task completes. Immutable.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// The source of a response.
    public enum ResourceFetchType: Int, Sendable {
        /// The source is unknown, such as a program's `URLProtocol`.
        case unknown = 0
        /// The network.
        case networkLoad = 1
        /// A push by the server; not used by this library.
        case serverPush = 2
        /// The cache.
        case localCache = 3
    }

    /// The protocol with which a name was resolved.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// Unknown, because the system's resolver does not tell; the only value that this library uses.
        case unknown = 0
        /// DNS over UDP.
        case udp = 1
        /// DNS over TCP.
        case tcp = 2
        /// DNS over TLS.
        case tls = 3
        /// DNS over HTTPS.
        case https = 4
    }

    /// The measurements or, after the first access, the transactions that were created from them. Most programs never read the
    /// metrics.
    private enum Transactions {
        /// The measurements of all hops, and the interval of the task. A hop is one request with its response.
        case measured(hops: SmallArray<HopMetrics>, WallClockMapping, within: ClosedRange<Date>)
        /// The transactions.
        case created([URLSessionTaskTransactionMetrics])

        /// The transactions; empty if they were not created yet.
        var created: [URLSessionTaskTransactionMetrics] {
            switch self {
            case .measured: []
            case .created(let metrics): metrics
            }
        }
    }

    private let transactions: Lock<Transactions>

    /// The transactions in order: one for each redirect, authentication attempt, repeated request and revalidation. Empty for a
    /// task that was never started.
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] {
        let current = transactions.withLock { $0 }
        guard case .measured(let hops, let clock, let interval) = current else { return current.created }
        let metrics = hops.flatMap {
            URLSessionTaskTransactionMetrics.transactions(of: $0, clock, within: interval)
        }
        // `current` keeps the measurements alive, so that their requests and responses are not released under the lock.
        return transactions.withLock { transactions in
            // Another thread may have been faster. All callers get the same objects.
            if case .created(let existing) = transactions { return existing }
            transactions = .created(metrics)
            return metrics
        }
    }

    /// The time from the task's creation to its completion.
    public let taskInterval: DateInterval
    /// The number of redirects that were followed.
    public let redirectCount: Int

    /// Creates the metrics of a task that has just completed, from the measurements of its requests, in order.
    convenience init(
        hops: consuming SmallArray<HopMetrics>, redirectCount: Int, created: Date, completed: Date
    ) {
        self.init(
            hops: hops, redirectCount: redirectCount, created: created, completed: completed,
            clock: WallClockMapping(MonotonicClock().now(), at: Date()))
    }

    /// Creates metrics whose instants are converted to dates by `clock`.
    init(
        hops: consuming SmallArray<HopMetrics>, redirectCount: Int, created: Date, completed: Date,
        clock: WallClockMapping
    ) {
        // The wall clock may have been set back during the task.
        let end = max(created, completed)
        transactions = Lock(.measured(hops: hops, clock, within: created...end))
        taskInterval = DateInterval(start: created, end: end)
        self.redirectCount = redirectCount
        super.init()
    }

    /// Returns metrics with the same transactions, and a task interval that ends at `completed`. An interval that ends
    /// later already is not changed.
    func extended(until completed: Date) -> URLSessionTaskMetrics {
        URLSessionTaskMetrics(self, until: completed)
    }

    private init(_ metrics: URLSessionTaskMetrics, until completed: Date) {
        transactions = Lock(.created(metrics.transactionMetrics))
        redirectCount = metrics.redirectCount
        taskInterval = DateInterval(
            start: metrics.taskInterval.start, end: max(metrics.taskInterval.end, completed))
        super.init()
    }

    /// The duration, the number of redirects and the transactions.
    public override var description: String {
        "<URLSessionTaskMetrics \(taskInterval.duration) s, \(redirectCount) redirects, \(transactionMetrics)>"
    }
}
