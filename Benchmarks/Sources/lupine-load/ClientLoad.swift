// SPDX-License-Identifier: MIT
internal import LupineHTTP
internal import LupineTransport
internal import Synchronization

/// Loads through the public face: tasks that await the client's responses and collect their bodies.
final class ClientLoad: Load, Sendable {
    private let client: HTTPClient
    private let request: HTTPRequest
    private let connections: Int

    init(_ job: Job) throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionsPerHost = job.connections
        configuration.totalConnections = job.connections
        if !job.keepsConnections { configuration.maximumConnectionAge = .zero }
        configuration.ownLoops = job.loops == 0 ? nil : job.loops
        client = HTTPClient(configuration: configuration)
        request = try HTTPRequest(url: "http://\(job.host):\(job.port)\(job.path)")
        connections = job.connections
    }

    var connectionsOpened: Int { client.connectionsOpened }

    func run(_ requests: Int) async throws -> Int {
        let left = Counter(requests)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<connections {
                group.addTask { [client, request] in
                    var bytes = 0
                    while left.take() {
                        let response = try await client.send(request)
                        guard response.status.code == 200 else {
                            throw LoadFailure.status(Int(response.status.code))
                        }
                        bytes += try await response.body.collect().count
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
