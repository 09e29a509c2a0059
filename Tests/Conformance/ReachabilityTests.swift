// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import LupineTestKit
import Testing

@testable import Lupine
@testable import LupineLoading
@testable import LupineTransport

/// Reachability while links and routes are added and removed, in a separate network namespace (needs root and `ip`).
@Suite struct ReachabilityTests {
    private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private static func ip(_ arguments: String) async throws {
        let end = try await Program.run("ip", arguments.split(separator: " ").map(String.init))
        try #require(end == .exited(0), "ip \(arguments)")
    }

    /// Runs `body` with the name of an empty namespace, and with a view of the network from inside it.
    private static func withSpace(_ body: (String, NetworkView) async throws -> Void) async throws {
        let space = "lupine-reach-\(getpid())"
        try await ip("netns add \(space)")
        let loop = try EventLoop.start(name: "netns-loop")
        let result: Result<Void, any Error>
        do {
            let entered: Result<Void, Errno> = await withCheckedContinuation { continuation in
                let isTaken = loop.execute {
                    do throws(Errno) {
                        // Only this thread enters the namespace; sockets that it opens belong to it.
                        let namespace = try Descriptor.reading(path: "/var/run/netns/\(space)")
                        try Syscalls.enterNetworkNamespace(namespace.rawValue)
                        namespace.close()
                        continuation.resume(returning: .success(()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
                #expect(isTaken)
            }
            try entered.get()
            result = .success(try await body(space, .on(loop)))
        } catch {
            result = .failure(error)
        }
        await loop.shutdown()
        try await ip("netns del \(space)")
        try result.get()
    }

    /// Returns the changes that a listener receives, in order.
    private static func listen(_ manager: NetworkReachabilityManager) -> AsyncStream<Status>.Iterator {
        let (stream, continuation) = AsyncStream<Status>.makeStream()
        let starts = manager.startListening(onQueue: DispatchQueue(label: "listener")) {
            continuation.yield($0)
        }
        #expect(starts)
        return stream.makeAsyncIterator()
    }

    @Test(
        "[I-14.11] [I-14.12] [I-14.13] [I-14.14] [I-14.19] links and routes come and go, and everybody hears of it",
        .timeLimit(.minutes(10)))
    func comingAndGoing() async throws {
        try await Self.withSpace { space, view in
            let general = try #require(NetworkReachabilityManager(host: nil, view: view))
            let itself = try #require(NetworkReachabilityManager(host: "127.0.0.1", view: view))
            let neighbour = try #require(NetworkReachabilityManager(host: "10.9.8.9", view: view))
            let stranger = try #require(NetworkReachabilityManager(host: "192.0.2.9", view: view))
            let monitor = NWPathMonitor(view: view) { _ in true }
            let (paths, told) = AsyncStream<NWPath>.makeStream()
            monitor.pathUpdateHandler = { told.yield($0) }
            monitor.start(queue: DispatchQueue(label: "paths"))
            var path = paths.makeAsyncIterator()

            // Only the loopback is up.
            try await Self.ip("-n \(space) link set lo up")
            var heard = Self.listen(general)
            var heardOfNeighbour = Self.listen(neighbour)
            #expect(await heard.next() == .notReachable)
            #expect(await heardOfNeighbour.next() == .notReachable)
            #expect(await path.next()?.status == .unsatisfied)
            #expect(itself.flags == [.reachable, .isLocalAddress, .isDirect])
            #expect(stranger.flags == [])

            // A link with an address, without a default route.
            try await Self.ip("-n \(space) link add one type veth peer name two")
            try await Self.ip("-n \(space) addr add 10.9.8.7/24 dev one")
            try await Self.ip("-n \(space) link set two up")
            try await Self.ip("-n \(space) link set one up")
            #expect(await heardOfNeighbour.next() == .reachable(.ethernetOrWiFi))
            #expect(neighbour.flags == [.reachable, .isDirect])
            #expect(general.status == .notReachable && stranger.status == .notReachable)

            // A default route.
            try await Self.ip("-n \(space) route add default via 10.9.8.1")
            #expect(await heard.next() == .reachable(.ethernetOrWiFi))
            #expect(general.flags == [.reachable] && stranger.flags == [.reachable])
            let connected = await path.next()
            #expect(connected?.status == .satisfied && connected?.availableInterfaces.map(\.name) == ["one"])
            #expect(connected?.supportsIPv4 == true && connected?.supportsIPv6 == false)

            // The cable is unplugged, then plugged in again.
            try await Self.ip("-n \(space) link set two down")
            #expect(await heard.next() == .notReachable)
            #expect(await heardOfNeighbour.next() == .notReachable)
            #expect(await path.next()?.status == .unsatisfied)
            #expect(stranger.flags == [] && itself.isReachable)
            try await Self.ip("-n \(space) link set two up")
            #expect(await heard.next() == .reachable(.ethernetOrWiFi))
            #expect(await path.next()?.status == .satisfied)

            // Another route takes over, which is not reported: the next report is the loss of both.
            try await Self.ip("-n \(space) route add default via 10.9.8.2 metric 9")
            try await Self.ip("-n \(space) route del default via 10.9.8.1")
            #expect(general.isReachable)

            // A route of type `unreachable` does not count; one with several next hops does.
            try await Self.ip("-n \(space) route del default via 10.9.8.2")
            #expect(await heard.next() == .notReachable)
            try await Self.ip("-n \(space) route add unreachable default metric 99")
            #expect(general.flags == [])
            try await Self.ip("-n \(space) route add default nexthop via 10.9.8.1 nexthop via 10.9.8.2")
            #expect(await heard.next() == .reachable(.ethernetOrWiFi))
            general.stopListening()
            neighbour.stopListening()
            monitor.cancel()
        }
    }
}
