// SPDX-License-Identifier: MIT
internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport
internal import Synchronization

/// Loads through the `package` API: exchanges submitted to a pool, where each lane submits its next exchange on the loop when
/// the previous one has ended.
final class PoolLoad: Load, Sendable {
    private let pool: ConnectionPool
    private let targets: [Target]
    private let first: Target
    /// The number of targets that were chosen.
    private let targetCount = Atomic<Int>(0)
    /// Whether a number is added to each path, so that all URLs differ.
    private let addsNumbers: Bool
    private let requestNumber = Atomic<Int>(0)
    private let isFirst = Atomic<Bool>(false)
    private let connections: Int
    /// The numbers of exchanges of the current run that have not been submitted, and that have not ended.
    private let unstarted = Atomic<Int>(0)
    private let unfinished = Atomic<Int>(0)
    private let bytes = Atomic<Int>(0)
    private let resumed = Atomic<Int>(0)
    private let completion = Lock<(waiting: CheckedContinuation<Void, Never>?, failure: LoadFailure?)>(
        (nil, nil))

    init(_ job: Job) throws {
        var configuration = ConnectionPool.Configuration()
        configuration.limits = PoolLimits(
            perHost: job.connectionsPerHost, total: job.connectionsPerHost * job.hosts.count,
            maximumAge: job.keepsConnections ? nil : .zero)
        if job.sharesConnection { configuration.dial.versions = .http2 }
        let group = try job.loops == 0 ? EventLoopGroup.shared() : EventLoopGroup(count: job.loops)
        pool = ConnectionPool(configuration: configuration, group: group, resolver: Resolver())
        targets = try job.hosts.map { try Target(job, host: $0, path: job.path) }
        first = try Target(job, host: job.hosts[0], path: job.firstPath)
        connections = job.connections
        addsNumbers = job.path.hasSuffix("?")
    }

    /// The origin and request head for one host.
    private struct Target {
        let origin: Origin
        let head: RequestHead

        init(_ job: Job, host: String, path: String) throws {
            origin = Origin(
                scheme: job.tls == nil ? .http : .https, host: host, port: job.port,
                tls: job.tls.map { TLSProfile($0, trust: .default) })
            head = RequestHead(
                method: .get, target: .origin(path),
                authority: try Authority(
                    host: host, port: job.port, defaultPort: job.tls == nil ? 80 : 443))
        }
    }

    /// Returns the next request's target: the hosts take turns.
    private func target() -> Target {
        if isFirst.load(ordering: .relaxed) { return first }
        guard targets.count > 1 else { return targets[0] }
        return targets[targetCount.add(1, ordering: .relaxed).oldValue % targets.count]
    }

    /// Returns the head with a number added to its path, which ends with `?`.
    private func numbered(_ head: RequestHead) -> RequestHead {
        guard case .origin(let path) = head.target else { return head }
        var head = head
        head.target = .origin("\(path)\(requestNumber.add(1, ordering: .relaxed).oldValue)")
        return head
    }

    func runFirst() async throws -> Int {
        isFirst.store(true, ordering: .relaxed)
        defer { isFirst.store(false, ordering: .relaxed) }
        return try await run(1)
    }

    var connectionsOpened: Int { pool.connectionsOpened }
    var connectionsResumed: Int { resumed.load(ordering: .relaxed) }

    func run(_ requests: Int) async throws -> Int {
        unstarted.store(requests, ordering: .relaxed)
        unfinished.store(requests, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
        await withCheckedContinuation { waiting in
            completion.withLock { $0.waiting = waiting }
            for _ in 0..<connections { Lane(self).submitNext() }
        }
        if let failure = completion.withLock({ $0.failure }) { throw failure }
        return bytes.load(ordering: .relaxed)
    }

    /// Makes one request at a time.
    private final class Lane: ExchangeSink {
        private let load: PoolLoad

        init(_ load: PoolLoad) { self.load = load }

        /// Submits the next exchange, if there is one.
        func submitNext() {
            guard load.unstarted.subtract(1, ordering: .relaxed).oldValue > 0 else { return }
            let target = load.target()
            load.pool.submit(
                Exchange(
                    head: load.addsNumbers ? load.numbered(target.head) : target.head, origin: target.origin,
                    sink: self))
        }

        func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
            if head.status.code != 200 { load.fail(.status(Int(head.status.code))) }
            return .deliver
        }

        func receivedContent(_ content: Span<UInt8>) -> Demand {
            load.bytes.add(content.count, ordering: .relaxed)
            return .more
        }

        func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
            if case .failure(let error) = result { load.fail(.exchange(error)) }
            if !metrics.isReused, metrics.tls?.isResumed == true { load.resumed.add(1, ordering: .relaxed) }
            submitNext()
            load.exchangeEnded()
        }
    }

    /// Stores the first failure.
    private func fail(_ failure: LoadFailure) { completion.withLock { $0.failure = $0.failure ?? failure } }

    /// Resumes `run` after the last exchange.
    private func exchangeEnded() {
        guard unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        completion.withLock { $0.waiting.take() }?.resume()
    }
}
