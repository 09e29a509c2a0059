// SPDX-License-Identifier: MIT
internal import LupineHTTP
internal import LupineTransport
internal import Synchronization

/// Loads through the public face: tasks that await the client's responses and collect their bodies.
final class ClientLoad: Load, Sendable {
    private let client: HTTPClient
    private let request: HTTPRequest
    private let connections: Int
    private let resumed = Atomic<Int>(0)

    init(_ job: Job) throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionsPerHost = job.connections
        configuration.totalConnections = job.connections
        if !job.keepsConnections { configuration.maximumConnectionAge = .zero }
        if let tls = job.tls { configuration.tls = tls }
        configuration.ownLoops = job.loops == 0 ? nil : job.loops
        client = HTTPClient(configuration: configuration)
        request = try HTTPRequest(
            url: "\(job.tls == nil ? "http" : "https")://\(job.host):\(job.port)\(job.path)")
        connections = job.connections
    }

    var connectionsOpened: Int { client.connectionsOpened }
    var connectionsResumed: Int { resumed.load(ordering: .relaxed) }

    func run(_ requests: Int) async throws -> Int {
        let left = Counter(requests)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<connections {
                group.addTask { [self] in
                    var bytes = 0
                    while left.take() {
                        let response = try await client.send(request)
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

    /// Requests that no task has taken yet.
    private final class Counter: Sendable {
        private let left: Atomic<Int>

        init(_ count: Int) { left = Atomic(count) }

        func take() -> Bool { left.subtract(1, ordering: .relaxed).oldValue > 0 }
    }
}
