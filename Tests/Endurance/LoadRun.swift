// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// Ten thousand idle connections, together with five thousand concurrent requests, in one process and through one `Session`:
/// measures the memory of each, the latency of requests, the fairness between hosts, and what is left at the end.
///
/// The quick form sends fewer requests over the same connections.
struct LoadRun {
    let isQuick: Bool
    /// The descriptors that the run needs, with a margin.
    private static let fewestDescriptors = 16_000
    private static let processes = 4
    private static let hosts = 100
    private static let idlePerHost = 100
    private static let busyPerHost = 50
    /// The number of connections that the hosts share when connections are scarce.
    private static let scarce = 200
    /// The largest permitted ratio between the waits of two hosts.
    private static let mostUnfair = 3.0
    /// The permitted heap bytes of an idle connection, and of a request in flight with its connection.
    private static let mostForConnection = 3_072
    private static let mostForRequest = 24_576

    /// Returns the expectations that were not met.
    func run() async throws -> [String] {
        let limit = try DescriptorLimit.raise()
        guard limit >= Self.fewestDescriptors else {
            return [
                "the hard limit of descriptors is \(limit), below \(Self.fewestDescriptors): ulimit -Hn, or LimitNOFILE="
            ]
        }
        let each = Self.hosts / Self.processes
        let origins = try (0..<Self.processes).map {
            try OriginChild(hosts: $0 * each + 1..<($0 + 1) * each + 1)
        }
        let crowd = LoadCrowd(
            quiet: origins.flatMap { $0.roots.map { $0[0] } },
            busy: origins.flatMap { $0.roots.map { $0[1] } })
        // Costs of the process are not counted as costs of a connection: loops, queues and their threads, the first buffers.
        _ = await crowd.ask(session(), perHost: 2, rounds: 2)
        let before = try await ProcessGauge.atRest()

        var failures = try await load(origins, crowd, before)

        let after = try await ProcessGauge.settled(within: .seconds(30)) {
            $0.descriptors <= before.descriptors && $0.threads <= before.threads
        }
        print(
            "left         descriptors \(before.descriptors) -> \(after.descriptors), threads \(before.threads) -> "
                + "\(after.threads), of the library \(before.ownThreads) -> \(after.ownThreads)")
        if after.descriptors > before.descriptors { failures.append("descriptors are left") }
        if after.threads > before.threads { failures.append("threads are left") }
        for origin in origins { try origin.end() }
        return failures
    }

    private func session(total: Int = 16_000) -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = Self.idlePerHost
        // Cached responses are not counted as the cost of a connection.
        configuration.urlCache = nil
        configuration.timeoutIntervalForRequest = 300
        configuration.lupine.totalConnections = total
        configuration.lupine.idleConnectionTimeout = .seconds(3_600)
        return Session(configuration: configuration)
    }

    private func load(
        _ origins: [OriginChild], _ crowd: LoadCrowd, _ before: ProcessGauge
    ) async throws -> [String] {
        var failures: [String] = []
        let session = session()

        let idle = Self.hosts * Self.idlePerHost
        async let opened = crowd.hold(session, "idle", crowd.quiet, perHost: Self.idlePerHost)
        for origin in origins { try origin.waitForArrivals("idle", idle / origins.count) }
        for origin in origins { try origin.open("idle") }
        failures += await wrong("idle connections", opened, idle)
        let resting = try await ProcessGauge.atRest()
        let connections = resting.sockets - before.sockets
        let perConnection = (resting.heap - before.heap) / idle
        print(
            "idle         \(connections) connections: \(perConnection) bytes of heap and "
                + "\((resting.resident - before.resident) / idle) resident each")
        if connections != idle { failures.append("\(connections) idle connections instead of \(idle)") }
        if perConnection > Self.mostForConnection {
            failures.append("an idle connection takes more than \(Self.mostForConnection) bytes")
        }

        let flight = Self.hosts * Self.busyPerHost
        async let flown = crowd.hold(session, "flight", crowd.busy, perHost: Self.busyPerHost)
        for origin in origins { try origin.waitForArrivals("flight", flight / origins.count) }
        let flying = try ProcessGauge.read()
        for origin in origins { try origin.open("flight") }
        failures += await wrong("requests in flight", flown, flight)
        let perRequest = (flying.heap - resting.heap) / flight
        print(
            "in flight    \(flight) requests beside them: \(perRequest) bytes of heap and "
                + "\((flying.resident - resting.resident) / flight) resident each, connection included; "
                + "\(flying.descriptors) descriptors, \(flying.ownThreads) threads of the library, \(flying.threads) in all"
        )
        if flying.sockets - before.sockets != idle + flight {
            failures.append("there were \(flying.sockets - before.sockets) connections")
        }
        if perRequest > Self.mostForRequest {
            failures.append("a request in flight takes more than \(Self.mostForRequest) bytes")
        }

        let rounds = isQuick ? 6 : 40
        failures += await wait("half load", crowd, session, perHost: Self.busyPerHost / 2, rounds: rounds)
        failures += await wait("full load", crowd, session, perHost: Self.busyPerHost, rounds: rounds)
        let held = try ProcessGauge.read().sockets - before.sockets
        print("kept         \(held) connections at the end")
        if held < idle { failures.append("idle connections were lost: \(held) of \(idle) are left") }
        session.session.invalidateAndCancel()

        let scarce = self.session(total: Self.scarce)
        failures += await wait(
            "\(Self.scarce) shared", crowd, scarce, perHost: Self.busyPerHost, rounds: rounds / 2)
        scarce.session.invalidateAndCancel()
        return failures
    }

    private func wait(
        _ name: String, _ crowd: LoadCrowd, _ session: Session, perHost: Int, rounds: Int
    ) async -> [String] {
        let waits = await crowd.ask(session, perHost: perHost, rounds: rounds)
        let count = perHost * Self.hosts
        print(
            "\(name.padding(toLength: 12, withPad: " ", startingAt: 0)) \(count) at once: \(waits.distribution)"
        )
        let (least, most) = waits.extremes
        let ratio = (waits.unfairness * 100).rounded() / 100
        print("             \(Self.hosts) hosts wait \(Waits.text(least)) to \(Waits.text(most)), \(ratio) x")
        var failures = wrong(name, waits, count * rounds)
        if waits.unfairness > Self.mostUnfair {
            failures.append("\(name): a host waits \(ratio) times as long as another")
        }
        return failures
    }

    private func wrong(_ name: String, _ waits: Waits, _ expected: Int) -> [String] {
        if waits.count == expected, waits.wrong.isEmpty { return [] }
        return ["\(name): \(waits.count) of \(expected) answers are right; \(waits.wrong.prefix(3))"]
    }
}
