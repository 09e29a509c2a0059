// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// What a task did and how long it took: given to the delegate once, before the task's end. Never changes.
public final class URLSessionTaskMetrics: NSObject, Sendable {
    /// Where the answer to a request came from.
    public enum ResourceFetchType: Int, Sendable {
        /// It is not known, as with a protocol of the program's.
        case unknown = 0
        /// From the network.
        case networkLoad = 1
        /// The server sent it unasked; does not happen here.
        case serverPush = 2
        /// From the cache.
        case localCache = 3
    }

    /// How a name was looked up.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// It is not known: the system's resolver does not say. The only value here.
        case unknown = 0
        /// Over UDP.
        case udp = 1
        /// Over TCP.
        case tcp = 2
        /// Over TLS.
        case tls = 3
        /// Over HTTPS.
        case https = 4
    }

    /// The transactions, as they were told or as they were asked for: most metrics are never looked at.
    private enum Transactions {
        case told(hops: Few<HopMetrics>, MilestoneClock, within: ClosedRange<Date>)
        case made([URLSessionTaskTransactionMetrics])

        /// Those that were made; none while they are not.
        var made: [URLSessionTaskTransactionMetrics] {
            switch self {
            case .told: []
            case .made(let made): made
            }
        }
    }

    private let transactions: Lock<Transactions>

    /// What was sent and answered, in order: redirects, authentication, transparent retries and revalidations are each one.
    /// Empty for a task that never began.
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] {
        let known = transactions.withLock { $0 }
        guard case .told(let hops, let clock, let interval) = known else { return known.made }
        let made = hops.flatMap {
            URLSessionTaskTransactionMetrics.transactions(of: $0, clock, within: interval)
        }
        // What was told stays with `known`: it holds requests and responses, which do not go away under the lock.
        return transactions.withLock { transactions in
            if case .made(let first) = transactions { return first }
            transactions = .made(made)
            return made
        }
    }

    /// From the task's creation to its end.
    public let taskInterval: DateInterval
    /// How many redirects were followed.
    public let redirectCount: Int

    /// The metrics of a task that has just ended and whose hops were these, in order.
    convenience init(hops: consuming Few<HopMetrics>, redirectCount: Int, created: Date, completed: Date) {
        self.init(
            hops: hops, redirectCount: redirectCount, created: created, completed: completed,
            clock: MilestoneClock(MonotonicClock().now(), at: Date()))
    }

    /// The same, where the caller knows how the clocks go together.
    init(
        hops: consuming Few<HopMetrics>, redirectCount: Int, created: Date, completed: Date,
        clock: MilestoneClock
    ) {
        // The wall clock may have been set back meanwhile.
        let end = max(created, completed)
        transactions = Lock(.told(hops: hops, clock, within: created...end))
        taskInterval = DateInterval(start: created, end: end)
        self.redirectCount = redirectCount
        super.init()
    }

    /// The same transactions of a task that went on after them, until `completed`.
    func lasting(until completed: Date) -> URLSessionTaskMetrics {
        URLSessionTaskMetrics(self, until: completed)
    }

    private init(_ metrics: URLSessionTaskMetrics, until completed: Date) {
        transactions = Lock(.made(metrics.transactionMetrics))
        redirectCount = metrics.redirectCount
        taskInterval = DateInterval(
            start: metrics.taskInterval.start, end: max(metrics.taskInterval.end, completed))
        super.init()
    }

    /// How long it took, and what was done.
    public override var description: String {
        "<URLSessionTaskMetrics \(taskInterval.duration) s, \(redirectCount) redirects, \(transactionMetrics)>"
    }
}
