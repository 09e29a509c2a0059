// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading
import Testing

@testable import Lupine

/// The reachability manager: its properties, and the calls of its listener.
@Suite struct ReachabilityListeningTests {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private static func manager(_ network: ScriptedNetwork, host: String? = nil) throws
        -> NetworkReachabilityManager
    {
        try #require(NetworkReachabilityManager(host: host, view: network.view))
    }

    /// Starts listening, and returns an iterator of the statuses that the listener receives.
    private static func listen(
        _ manager: NetworkReachabilityManager, onQueue queue: DispatchQueue = DispatchQueue(label: "listener")
    ) -> AsyncStream<Status>.Iterator {
        let (stream, continuation) = AsyncStream<Status>.makeStream()
        #expect(manager.startListening(onQueue: queue) { continuation.yield($0) })
        return stream.makeAsyncIterator()
    }

    @Test("[I-14.6] if a start interrupts another, the one that returns last listens, with one watch")
    func concurrentStarts() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let interruptingManager = Protected<NetworkReachabilityManager?>(nil)
        let scriptedView = network.view
        let view = NetworkView(
            takeSnapshot: { found in
                // Starts the manager a second time, only once: while the first start waits for the kernel.
                let interrupting = interruptingManager.write { manager in
                    defer { manager = nil }
                    return manager
                }
                interrupting?.startListening(onQueue: DispatchQueue(label: "first")) { _ in }
                scriptedView.takeSnapshot(found)
            }, findRoutes: scriptedView.findRoutes, watch: scriptedView.watch)
        let manager = try #require(NetworkReachabilityManager(host: nil, view: view))
        interruptingManager.write { $0 = manager }
        var statuses = Self.listen(manager)
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        #expect(network.watchCount == 1)
        manager.stopListening()
        #expect(network.watchCount == 0)
    }

    @Test("[I-14.3] `isReachable` is true for either connection type, and false for an unknown status")
    func derived() throws {
        let network = ScriptedNetwork(nil)
        let manager = try Self.manager(network)
        let rows: [(NetworkSnapshot?, Status, cellular: Bool, other: Bool)] = [
            (nil, .unknown, false, false), (ScriptedNetwork.offline, .notReachable, false, false),
            (ScriptedNetwork.wired, .reachable(.ethernetOrWiFi), false, true),
            (ScriptedNetwork.mobile, .reachable(.cellular), true, false),
        ]
        for row in rows {
            network.change(to: row.0)
            #expect(manager.status == row.1 && (manager.flags == nil) == (row.0 == nil))
            #expect(
                manager.isReachableOnCellular == row.cellular
                    && manager.isReachableOnEthernetOrWiFi == row.other)
            #expect(manager.isReachable == (row.cellular || row.other))
        }
    }

    @Test(
        "[I-14.6] [I-14.7] [I-14.8] [I-14.19] a listener receives the status, then each different one, in order"
    )
    func listening() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        var statuses = Self.listen(manager)
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        // The same status over another interface is not reported; the next status is.
        network.change(to: ScriptedNetwork.over(ScriptedNetwork.radio))
        network.change(to: ScriptedNetwork.offline)
        #expect(await statuses.next() == .notReachable)
        network.change(to: ScriptedNetwork.mobile)
        #expect(await statuses.next() == .reachable(.cellular))
        network.change(to: nil)
        network.change(to: ScriptedNetwork.wired)
        #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        manager.stopListening()
        #expect(network.watchCount == 0)
    }

    @Test("[I-14.6] the listener is not called synchronously")
    func notSynchronous() async throws {
        let queue = DispatchQueue(label: "listener")
        let manager = try Self.manager(ScriptedNetwork(ScriptedNetwork.wired))
        let (stream, continuation) = AsyncStream<Bool>.makeStream()
        let hasReturned = Protected(false)
        queue.suspend()
        manager.startListening(onQueue: queue) { _ in continuation.yield(hasReturned.read { $0 }) }
        hasReturned.write(true)
        queue.resume()
        for await afterReturn in stream {
            #expect(afterReturn)
            break
        }
    }

    @Test("[I-14.5] [I-14.17] a start replaces the previous one, and fails if the kernel cannot be queried")
    func starting() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        var first = Self.listen(manager)
        #expect(await first.next() == .reachable(.ethernetOrWiFi))
        var second = Self.listen(manager)
        #expect(await second.next() == .reachable(.ethernetOrWiFi))
        #expect(network.watchCount == 1)
        network.change(to: ScriptedNetwork.offline)
        #expect(await second.next() == .notReachable)
        network.change(to: nil)
        #expect(!manager.startListening { _ in })
        #expect(network.watchCount == 0 && manager.status == .unknown)
    }

    @Test("[I-14.9] a start after a stop reports the status again")
    func restarting() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        for _ in 0..<3 {
            var statuses = Self.listen(manager)
            #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
            manager.stopListening()
            #expect(network.watchCount == 0)
        }
    }

    @Test("[I-14.10] listening does not retain the manager")
    func release() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        weak var released: NetworkReachabilityManager?
        do {
            let manager = try Self.manager(network)
            released = manager
            var statuses = Self.listen(manager)
            _ = await statuses.next()
            #expect(network.watchCount == 1)
        }
        #expect(released == nil && network.watchCount == 0)
    }

    @Test("[I-14.18] texts that are accepted as a host")
    func hostNames() {
        for host in ["localhost", "127.0.0.1", "::1", "[::1]", "fe80::1%lo", "a.test", "bücher.test"] {
            #expect(NetworkReachabilityManager(host: host) != nil, "\(host)")
        }
        for host in ["", "a b", "a\0b", "a/b", "https://a.test", "a\t", "\n"] {
            #expect(NetworkReachabilityManager(host: host) == nil, "\(host)")
        }
        #expect(NetworkReachabilityManager() != nil && NetworkReachabilityManager.default != nil)
    }

    @Test("[I-14.14] a host's status depends on the routes to it, and is queried again after a change")
    func hosts() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network, host: "a.test")
        #expect(manager.status == .notReachable)
        var statuses = Self.listen(manager)
        #expect(await statuses.next() == .notReachable)
        network.change(to: .routes([.routed(ScriptedNetwork.modem)]), for: "a.test")
        #expect(await statuses.next() == .reachable(.cellular))
    }

    @Test("[I-14.11] [I-14.13] [I-14.14] with the kernel's routes, this machine is always reachable")
    func loopback() async throws {
        for host in ["localhost", "127.0.0.1", "[::1]", "127.9.9.9"] {
            let manager = try #require(NetworkReachabilityManager(host: host))
            #expect(manager.flags == [.reachable, .isLocalAddress, .isDirect], "\(host)")
            #expect(manager.isReachableOnEthernetOrWiFi)
            var statuses = Self.listen(manager)
            #expect(await statuses.next() == .reachable(.ethernetOrWiFi))
        }
        let general = try #require(NetworkReachabilityManager())
        #expect(general.flags != nil && general.status != .unknown)
        var statuses = Self.listen(general)
        #expect(await statuses.next() == general.status)
    }
}
