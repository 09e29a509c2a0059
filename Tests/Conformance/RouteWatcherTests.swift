// SPDX-License-Identifier: MIT

import Glibc
import LupineTestKit
import Testing

@testable import LupineTransport

/// The watcher with a real kernel, in a separate network namespace (needs root and `ip`).
@Suite struct RouteWatcherTests {
    private func ip(_ arguments: String) async throws {
        let end = try await Program.run("ip", arguments.split(separator: " ").map(String.init))
        try #require(end == .exited(0), "ip \(arguments)")
    }

    /// Collects the watcher's notices, and waits for a particular one.
    private final class Notices: Sendable {
        private let lock = Lock<[RouteWatcher.Notice]>([])

        func add(_ notice: RouteWatcher.Notice) { lock.withLock { $0.append(notice) } }

        func wait(for wanted: (RouteEvent) -> Bool) async {
            while true {
                let found = lock.withLock { notices in
                    notices.contains { notice in
                        switch notice {
                        case .event(let event): wanted(event)
                        case .lost, .ended: false
                        }
                    }
                }
                if found { return }
                await Task.yield()
            }
        }

        var last: RouteWatcher.Notice? { lock.withLock { $0.last } }
    }

    @Test(.timeLimit(.minutes(10)))
    func linksAddressesAndRoutesAreFollowed() async throws {
        let space = "lupine-test-\(getpid())"
        try await ip("netns add \(space)")
        let result = await follow(space)
        try await ip("netns del \(space)")
        try result.get()
    }

    private func follow(_ space: String) async -> Result<Void, any Error> {
        do { return .success(try await followed(space)) } catch { return .failure(error) }
    }

    private func followed(_ space: String) async throws {
        let loop = try EventLoop.start(name: "netns-loop")
        let notices = Notices()
        let opened: Result<LoopBound<RouteWatcher>, Errno> = await onLoop(loop) {
            do throws(Errno) {
                // Only this thread enters the namespace; the watcher's socket belongs to it.
                let namespace = try Descriptor.reading(path: "/var/run/netns/\(space)")
                try Syscalls.enterNetworkNamespace(namespace.rawValue)
                namespace.close()
                let watcher = try RouteWatcher.open(on: loop) { notices.add($0) }
                return .success(LoopBound(watcher, on: loop))
            } catch {
                return .failure(error)
            }
        }
        let watcher = try opened.get()
        let target = IPAddress.v4(try #require(IPv4Address("192.0.2.9")))

        #expect(await route(watcher, loop, target) == .failure(.networkUnreachable))

        try await ip("-n \(space) link add one type veth peer name two")
        await notices.wait { if case .link(let link) = $0 { link.name == "one" } else { false } }
        try await ip("-n \(space) link set one up")
        try await ip("-n \(space) link set two up")
        await notices.wait {
            if case .link(let link) = $0 { link.name == "one" && link.isRunning } else { false }
        }

        try await ip("-n \(space) addr add 10.9.8.7/24 dev one")
        let ours = IPAddress.v4(try #require(IPv4Address("10.9.8.7")))
        await notices.wait {
            if case .address(let address) = $0 {
                address.address == ours && address.prefixLength == 24
            } else {
                false
            }
        }
        let gateway = IPAddress.v4(try #require(IPv4Address("10.9.8.1")))
        try await ip("-n \(space) route add default via 10.9.8.1")
        await notices.wait {
            if case .route(let route) = $0 {
                route.gateway == gateway && route.destination == nil
            } else {
                false
            }
        }

        let links = await withCheckedContinuation { continuation in
            let accepted = loop.execute { watcher.value.links { continuation.resume(returning: $0) } }
            #expect(accepted)
        }
        let names = try links.get().map(\.name)
        #expect(Set(names) == ["lo", "one", "two"])
        let index = try #require(try links.get().first { $0.name == "one" }?.index)

        let found = try await route(watcher, loop, target).get()
        #expect(found.gateway == gateway)
        #expect(found.source == ours)
        #expect(found.interface == index)
        #expect(found.kind == 1)

        try await ip("-n \(space) addr add 2001:db8::7/64 dev one nodad")
        let six = IPAddress.v6(try #require(IPv6Address("2001:db8::7")))
        await notices.wait { if case .address(let address) = $0 { address.address == six } else { false } }

        try await ip("-n \(space) route del default")
        await notices.wait {
            if case .routeRemoved(let route) = $0 { route.gateway == gateway } else { false }
        }
        try await ip("-n \(space) addr del 10.9.8.7/24 dev one")
        await notices.wait {
            if case .addressRemoved(let address) = $0 { address.address == ours } else { false }
        }
        #expect(await route(watcher, loop, target) == .failure(.networkUnreachable))
        try await ip("-n \(space) link del one")
        await notices.wait { if case .linkRemoved(let link) = $0 { link.name == "one" } else { false } }

        await loop.shutdown()
        #expect(notices.last == .ended(nil))
    }

    private func route(
        _ watcher: LoopBound<RouteWatcher>, _ loop: EventLoop, _ target: IPAddress
    ) async -> Result<Route, Errno> {
        await withCheckedContinuation { continuation in
            let accepted = loop.execute {
                watcher.value.route(to: target) { continuation.resume(returning: $0) }
            }
            #expect(accepted)
        }
    }

    private func onLoop<Result: Sendable>(
        _ loop: EventLoop, _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let accepted = loop.execute { continuation.resume(returning: body()) }
            #expect(accepted)
        }
    }
}
