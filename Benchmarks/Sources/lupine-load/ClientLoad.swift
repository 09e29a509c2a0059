// SPDX-License-Identifier: MIT
internal import LupineHTTP
internal import LupineTransport
internal import Synchronization

/// Loads through the public API: tasks that await the client's responses and collect their bodies.
final class ClientLoad: Load, Sendable {
    private let client: HTTPClient
    private let requests: [HTTPRequest]
    private let first: HTTPRequest
    private let connections: Int
    /// Whether the tasks run on the client's event loops.
    private let usesExecutor: Bool
    private let resumed = Atomic<Int>(0)

    init(_ job: Job, onLoops usesExecutor: Bool = false) throws {
        self.usesExecutor = usesExecutor
        var configuration = HTTPClient.Configuration()
        configuration.connectionsPerHost = job.connectionsPerHost
        configuration.totalConnections = job.connectionsPerHost * job.hosts.count
        if job.sharesConnection { configuration.versions = .http2 }
        if !job.keepsConnections { configuration.maximumConnectionAge = .zero }
        if let tls = job.tls { configuration.tls = tls }
        configuration.ownLoops = job.loops == 0 ? nil : job.loops
        client = HTTPClient(configuration: configuration)
        func request(_ host: String, _ path: String) throws -> HTTPRequest {
            try HTTPRequest(url: "\(job.tls == nil ? "http" : "https")://\(host):\(job.port)\(path)")
        }
        requests = try job.hosts.map { try request($0, job.path) }
        first = try request(job.hosts[0], job.firstPath)
        connections = job.connections
    }

    var connectionsOpened: Int { client.connectionsOpened }
    var connectionsResumed: Int { resumed.load(ordering: .relaxed) }

    func runFirst() async throws -> Int { try await run(1, [first]) }

    func run(_ requests: Int) async throws -> Int { try await run(requests, self.requests) }

    private func run(_ requests: Int, _ list: [HTTPRequest]) async throws -> Int {
        let counter = Counter(requests)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<connections {
                group.addTask(executorPreference: usesExecutor ? client.executor : nil) { [self] in
                    var bytes = 0
                    while let number = counter.next() {
                        let response = try await client.send(list[number % list.count])
                        guard response.status.code == 200 else {
                            throw LoadFailure.status(Int(response.status.code))
                        }
                        bytes += try await response.body.collect().count
                        if let metrics = response.body.metrics, !metrics.isReusedConnection,
                            metrics.isTLSResumed
                        {
                            resumed.add(1, ordering: .relaxed)
                        }
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Numbers the requests of all tasks.
    private final class Counter: Sendable {
        /// The number of requests that no task has begun.
        private let remaining: Atomic<Int>

        init(_ count: Int) { remaining = Atomic(count) }

        /// Returns the number of a request that no task has begun; nil if there is none.
        func next() -> Int? {
            let number = remaining.subtract(1, ordering: .relaxed).newValue
            return number < 0 ? nil : number
        }
    }
}
