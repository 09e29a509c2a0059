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

    /// Starts listening, and returns the statuses one by one.
    private static func listen(
        _ manager: NetworkReachabilityManager, onQueue queue: DispatchQueue = DispatchQueue(label: "listener")
    ) -> AsyncStream<Status>.Iterator {
        let (stream, continuation) = AsyncStream<Status>.makeStream()
        #expect(manager.startListening(onQueue: queue) { continuation.yield($0) })
        return stream.makeAsyncIterator()
    }

    @Test("[I-14.6] of two that begin to listen at once the later one listens, and one watch stands")
    func together() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let crossing = Protected<NetworkReachabilityManager?>(nil)
        let inner = network.view
        let view = NetworkView(
            takeSnapshot: { found in
                // Only once: while the first call waits for the kernel.
                let other = crossing.write { manager in
                    defer { manager = nil }
                    return manager
                }
                other?.startListening(onQueue: DispatchQueue(label: "first")) { _ in }
                inner.takeSnapshot(found)
            }, findRoutes: inner.findRoutes, watch: inner.watch)
        let manager = try #require(NetworkReachabilityManager(host: nil, view: view))
        crossing.write { $0 = manager }
        var heard = Self.listen(manager)
        #expect(await heard.next() == .reachable(.ethernetOrWiFi))
        #expect(network.watches == 1)
        manager.stopListening()
        #expect(network.watches == 0)
    }

    @Test("[I-14.3] reachable is one or the other, unknown is neither")
    func derived() throws {
        let network = ScriptedNetwork(nil)
        let manager = try Self.manager(network)
        let rows: [(NetworkSnapshot?, Status, cellular: Bool, other: Bool)] = [
            (nil, .unknown, false, false), (ScriptedNetwork.offline, .notReachable, false, false),
            (ScriptedNetwork.wired, .reachable(.ethernetOrWiFi), false, true),
            (ScriptedNetwork.mobile, .reachable(.cellular), true, false),
        ]
        for row in rows {
            network.become(row.0)
            #expect(manager.status == row.1 && (manager.flags == nil) == (row.0 == nil))
            #expect(
                manager.isReachableOnCellular == row.cellular
                    && manager.isReachableOnEthernetOrWiFi == row.other)
            #expect(manager.isReachable == (row.cellular || row.other))
        }
    }

    @Test(
        "[I-14.6] [I-14.7] [I-14.8] [I-14.19] a listener hears of the status, and of each other one, in order"
    )
    func listening() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        var heard = Self.listen(manager)
        #expect(await heard.next() == .reachable(.ethernetOrWiFi))
        // The same status over another interface is not reported; the next status is.
        network.become(ScriptedNetwork.over(ScriptedNetwork.radio))
        network.become(ScriptedNetwork.offline)
        #expect(await heard.next() == .notReachable)
        network.become(ScriptedNetwork.mobile)
        #expect(await heard.next() == .reachable(.cellular))
        network.become(nil)
        network.become(ScriptedNetwork.wired)
        #expect(await heard.next() == .reachable(.ethernetOrWiFi))
        manager.stopListening()
        #expect(network.watches == 0)
    }

    @Test("[I-14.6] nothing is heard from within the start")
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

    @Test("[I-14.5] [I-14.17] a start ends the one before, and fails where the kernel does not say")
    func starting() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        var first = Self.listen(manager)
        #expect(await first.next() == .reachable(.ethernetOrWiFi))
        var second = Self.listen(manager)
        #expect(await second.next() == .reachable(.ethernetOrWiFi))
        #expect(network.watches == 1)
        network.become(ScriptedNetwork.offline)
        #expect(await second.next() == .notReachable)
        network.become(nil)
        #expect(!manager.startListening { _ in })
        #expect(network.watches == 0 && manager.status == .unknown)
    }

    @Test("[I-14.9] behind a stop, a start tells the status again")
    func restarting() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network)
        for _ in 0..<3 {
            var heard = Self.listen(manager)
            #expect(await heard.next() == .reachable(.ethernetOrWiFi))
            manager.stopListening()
            #expect(network.watches == 0)
        }
    }

    @Test("[I-14.10] listening keeps nobody alive")
    func release() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        weak var gone: NetworkReachabilityManager?
        do {
            let manager = try Self.manager(network)
            gone = manager
            var heard = Self.listen(manager)
            _ = await heard.next()
            #expect(network.watches == 1)
        }
        #expect(gone == nil && network.watches == 0)
    }

    @Test("[I-14.18] what can be a host")
    func hostNames() {
        for host in ["localhost", "127.0.0.1", "::1", "[::1]", "fe80::1%lo", "a.test", "bücher.test"] {
            #expect(NetworkReachabilityManager(host: host) != nil, "\(host)")
        }
        for host in ["", "a b", "a\0b", "a/b", "https://a.test", "a\t", "\n"] {
            #expect(NetworkReachabilityManager(host: host) == nil, "\(host)")
        }
        #expect(NetworkReachabilityManager() != nil && NetworkReachabilityManager.default != nil)
    }

    @Test("[I-14.14] a host is judged by the ways to it, and looked for again when something changes")
    func hosts() async throws {
        let network = ScriptedNetwork(ScriptedNetwork.wired)
        let manager = try Self.manager(network, host: "a.test")
        #expect(manager.status == .notReachable)
        var heard = Self.listen(manager)
        #expect(await heard.next() == .notReachable)
        network.become(.routes([.routed(ScriptedNetwork.modem)]), for: "a.test")
        #expect(await heard.next() == .reachable(.cellular))
    }

    @Test("[I-14.11] [I-14.13] [I-14.14] the machine itself is always reachable, by the kernel's word")
    func loopback() async throws {
        for host in ["localhost", "127.0.0.1", "[::1]", "127.9.9.9"] {
            let manager = try #require(NetworkReachabilityManager(host: host))
            #expect(manager.flags == [.reachable, .isLocalAddress, .isDirect], "\(host)")
            #expect(manager.isReachableOnEthernetOrWiFi)
            var heard = Self.listen(manager)
            #expect(await heard.next() == .reachable(.ethernetOrWiFi))
        }
        let general = try #require(NetworkReachabilityManager())
        #expect(general.flags != nil && general.status != .unknown)
        var heard = Self.listen(general)
        #expect(await heard.next() == general.status)
    }
}
