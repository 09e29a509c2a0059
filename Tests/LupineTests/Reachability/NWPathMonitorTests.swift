// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading
import Testing

@testable import Lupine

/// Network paths, and the monitor that reports them.
@Suite struct NWPathMonitorTests {
    private typealias Network = ScriptedNetwork

    @Test("[I-4.9] a path is satisfied by a default route over an allowed interface")
    func paths() {
        let both = NetworkSnapshot(
            interfaces: [Network.cable, Network.modem], defaultInterfaceIndexesIPv4: [4],
            defaultInterfaceIndexesIPv6: [2, 4])
        let all = NWPath(both) { _ in true }
        #expect(all.status == .satisfied && all.availableInterfaces.map(\.name) == ["wwan0", "eth0"])
        #expect(
            all.supportsIPv4 && all.supportsIPv6 && all.supportsDNS && !all.isExpensive && !all.isConstrained)
        #expect(all.usesInterfaceType(.cellular) && all.usesInterfaceType(.wiredEthernet))
        #expect(!all.usesInterfaceType(.wifi))
        let mobile = NWPath(both) { $0 == .cellular }
        #expect(mobile.isExpensive && mobile.supportsIPv4 && mobile.supportsIPv6)
        let wired = NWPath(both) { $0 == .wiredEthernet }
        #expect(!wired.supportsIPv4 && wired.supportsIPv6 && !wired.isExpensive)
        for none in [
            NWPath(both) { $0 == .wifi }, NWPath(Network.offline) { _ in true }, NWPath(nil) { _ in true },
        ] {
            #expect(none.status == .unsatisfied && none.availableInterfaces.isEmpty && !none.supportsDNS)
        }
    }

    @Test("[I-4.10] the media of interfaces are mapped to Apple's types")
    func types() {
        let rows: [(NetworkInterface, NWInterface.InterfaceType)] = [
            (Network.loopback, .loopback), (Network.cable, .wiredEthernet), (Network.radio, .wifi),
            (Network.modem, .cellular), (Network.tunnel, .other),
        ]
        for (interface, type) in rows {
            let mapped = NWInterface(interface)
            #expect(mapped.type == type)
            #expect(mapped.name == interface.name && mapped.index == Int(interface.index))
        }
    }

    @Test("[I-4.9] the handler receives the present path, then each different one, and none after `cancel`")
    func updates() async throws {
        let network = Network(Network.wired)
        let queue = DispatchQueue(label: "monitor")
        let monitor = NWPathMonitor(view: network.view) { _ in true }
        #expect(monitor.currentPath.status == .unsatisfied && monitor.queue == nil)
        let (stream, continuation) = AsyncStream<NWPath>.makeStream()
        monitor.pathUpdateHandler = { path in
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.yield(path)
        }
        monitor.start(queue: queue)
        monitor.start(queue: DispatchQueue(label: "other"))
        #expect(monitor.queue === queue)
        var paths = stream.makeAsyncIterator()
        #expect(await paths.next()?.availableInterfaces.map(\.name) == ["eth0"])
        network.change(to: Network.offline)
        #expect(await paths.next()?.status == .unsatisfied)
        network.change(to: Network.mobile)
        #expect(await paths.next()?.isExpensive == true)
        #expect(monitor.currentPath.isExpensive)
        monitor.cancel()
        #expect(network.watchCount == 0)
        monitor.start(queue: queue)
        #expect(network.begunWatches == 1)
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        continuation.finish()
        #expect(await paths.next() == nil)
    }

    @Test("a monitor of the machine's network reports a path")
    func system() async {
        for monitor in [NWPathMonitor(), NWPathMonitor(prohibitedInterfaceTypes: [.loopback])] {
            let (stream, continuation) = AsyncStream<NWPath>.makeStream()
            monitor.pathUpdateHandler = { continuation.yield($0) }
            monitor.start(queue: DispatchQueue(label: "monitor"))
            for await path in stream {
                #expect(path.availableInterfaces.isEmpty == (path.status == .unsatisfied))
                break
            }
            monitor.cancel()
        }
        #expect(NWPathMonitor(requiredInterfaceType: .loopback).currentPath.status == .unsatisfied)
    }
}
