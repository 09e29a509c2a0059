// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineTransport

@Suite struct ResolverTests {
    private static let address = SocketAddress.ipv4(IPv4Address(rawValue: 0x0a00_0001), port: 0)

    /// A look-up function that waits for the test before it answers.
    private final class LookUpGate: Sendable {
        private struct State {
            var requestedHosts: [String] = []
            var open: Set<String> = []
        }

        private let state = Lock(State())
        private let changed = NSCondition()

        var requestedHosts: [String] { state.withLock { $0.requestedHosts } }

        func open(_ host: String) {
            changed.lock()
            state.withLock { _ = $0.open.insert(host) }
            changed.broadcast()
            changed.unlock()
        }

        var function: SystemResolver.LookUpFunction {
            { host, _ throws(ResolutionError) in
                self.state.withLock { $0.requestedHosts.append(host) }
                self.changed.lock()
                while !self.state.withLock({ $0.open.contains(host) || $0.open.contains("*") }) {
                    self.changed.wait()
                }
                self.changed.unlock()
                if host.hasPrefix("missing") { throw .nameNotFound }
                if host.hasPrefix("again") { throw .resolverUnavailable }
                return [ResolverTests.address]
            }
        }
    }

    /// A resolver under test, with its own clock and threads.
    private struct ResolverStage {
        let clock = ManualClock()
        let gate = LookUpGate()
        let pool: WorkerPool
        let resolver: Resolver

        init(
            limit: Int = 16, hungAfter: Duration = .seconds(5),
            _ configure: (inout Resolver.Configuration) -> Void = { _ in }
        ) {
            var configuration = Resolver.Configuration()
            configure(&configuration)
            pool = WorkerPool(limit: limit, hungAfter: hungAfter, clock: clock)
            resolver = Resolver(configuration: configuration, pool: pool, clock: clock, lookUp: gate.function)
        }

        /// Starts a look-up, and adds its answer to `answers`.
        func startLookUp(
            _ host: String, port: UInt16 = 80, family: AddressFamily = .any,
            deadline: Instant = .distantFuture, on loop: EventLoop, answers: Answers
        ) async {
            await loop.run { [resolver] in
                let started = resolver.lookUp(
                    host, port: port, family: family, deadline: deadline, on: loop
                ) { answer in
                    #expect(loop.isOnLoop)
                    answers.add(answer)
                }
                switch started {
                case .answered(let answer): answers.addAtOnce(answer)
                case .pending(let lookUp): answers.keep(LoopBound(lookUp, on: loop))
                }
            }
        }
    }

    private final class Answers: Sendable {
        private let delayed = Box<[Resolver.Answer]>([])
        private let immediate = Box<[Resolver.Answer]>([])
        private let pending = Box<[LoopBound<LookUp>]>([])

        func add(_ answer: Resolver.Answer) { delayed.update { $0.append(answer) } }
        func addAtOnce(_ answer: Resolver.Answer) { immediate.update { $0.append(answer) } }
        func keep(_ lookUp: LoopBound<LookUp>) { pending.update { $0.append(lookUp) } }

        var atOnce: [Resolver.Answer] { immediate.value }
        var arrived: [Resolver.Answer] { delayed.value }
        var lookUps: [LoopBound<LookUp>] { pending.value }

        func wait(for count: Int) async {
            while delayed.value.count < count { await Task.yield() }
        }
    }

    private func waitUntil(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test func simultaneousLookUpsOfOneNameAreMerged() async throws {
        try await withLoop { first in
            try await withLoop { second in
                let stage = ResolverStage()
                let answers = Answers()
                await stage.startLookUp("A.example", port: 80, on: first, answers: answers)
                await stage.startLookUp("a.EXAMPLE", port: 81, on: second, answers: answers)
                await stage.startLookUp("a.example", port: 82, on: first, answers: answers)
                stage.gate.open("a.example")
                await answers.wait(for: 3)
                #expect(stage.gate.requestedHosts == ["a.example"])
                let ports = answers.arrived.compactMap { try? $0.get().first?.port }
                #expect(ports.sorted() == [80, 81, 82])
            }
        }
    }

    @Test func answersAreKeptUntilTheyExpire() async throws {
        let stage = ResolverStage {
            $0.positiveLifetime = .seconds(30)
            $0.negativeLifetime = .seconds(2)
        }
        try await withLoop(clock: stage.clock) { loop in
            let answers = Answers()
            stage.gate.open("*")
            for host in ["a", "missing", "again"] {
                await stage.startLookUp(host, on: loop, answers: answers)
            }
            await answers.wait(for: 3)
            #expect(Set(stage.gate.requestedHosts) == ["a", "missing", "again"])

            await stage.startLookUp("a", port: 443, on: loop, answers: answers)
            await stage.startLookUp("missing", on: loop, answers: answers)
            #expect(answers.atOnce == [.success([Self.address.with(port: 443)]), .failure(.nameNotFound)])
            await stage.startLookUp("again", on: loop, answers: answers)
            await answers.wait(for: 4)
            #expect(stage.gate.requestedHosts.count == 4, "the failure to reach the resolver is not cached")

            stage.clock.advance(by: .seconds(2))
            await stage.startLookUp("a", on: loop, answers: answers)
            await stage.startLookUp("missing", on: loop, answers: answers)
            await answers.wait(for: 5)
            #expect(answers.atOnce.count == 3)
            stage.clock.advance(by: .seconds(28))
            await stage.startLookUp("a", on: loop, answers: answers)
            await answers.wait(for: 6)
            #expect(stage.gate.requestedHosts.filter { $0 == "a" }.count == 2)

            stage.resolver.flush()
            await stage.startLookUp("a", on: loop, answers: answers)
            await answers.wait(for: 7)
            #expect(stage.gate.requestedHosts.filter { $0 == "a" }.count == 3)
        }
    }

    @Test func theCacheIsBounded() async throws {
        let stage = ResolverStage { $0.capacity = 3 }
        try await withLoop(clock: stage.clock) { loop in
            let answers = Answers()
            stage.gate.open("*")
            for (index, host) in ["a", "b", "c", "d"].enumerated() {
                await stage.startLookUp(host, on: loop, answers: answers)
                await answers.wait(for: index + 1)
                stage.clock.advance(by: .milliseconds(1))
            }
            for host in ["b", "c", "d"] { await stage.startLookUp(host, on: loop, answers: answers) }
            #expect(answers.atOnce.count == 3)
            await stage.startLookUp("a", on: loop, answers: answers)
            await answers.wait(for: 5)
        }
    }

    @Test func aCancelledLookUpIsDroppedAndTheNextOneStartsAnew() async throws {
        try await withLoop { loop in
            let stage = ResolverStage()
            let answers = Answers()
            await stage.startLookUp("a", on: loop, answers: answers)
            await waitUntil { stage.gate.requestedHosts == ["a"] }
            await loop.run {
                answers.lookUps[0].value.cancel()
                answers.lookUps[0].value.cancel()
            }
            await stage.startLookUp("a", port: 81, on: loop, answers: answers)
            await waitUntil { stage.gate.requestedHosts == ["a", "a"] }
            stage.gate.open("a")
            await answers.wait(for: 1)
            await waitUntil { stage.pool.busyThreadCount == 0 }
            await loop.run {}
            #expect(answers.arrived == [.success([Self.address.with(port: 81)])])
        }
    }

    @Test func aMergedLookUpSurvivesTheCancellationOfOneWaiter() async throws {
        try await withLoop { loop in
            let stage = ResolverStage()
            let answers = Answers()
            await stage.startLookUp("a", port: 1, on: loop, answers: answers)
            await stage.startLookUp("a", port: 2, on: loop, answers: answers)
            await loop.run { answers.lookUps[0].value.cancel() }
            stage.gate.open("a")
            await answers.wait(for: 1)
            await loop.run {}
            #expect(answers.arrived == [.success([Self.address.with(port: 2)])])
            #expect(stage.gate.requestedHosts == ["a"])
        }
    }

    @Test func anOverrideMayHaveItsOwnPort() async throws {
        let stage = ResolverStage {
            $0.overrides[.init(host: "a", port: 80)] = [Self.address.with(port: 8080), Self.address]
        }
        try await withLoop { loop in
            let answers = Answers()
            await stage.startLookUp("a", port: 80, on: loop, answers: answers)
            #expect(
                answers.atOnce == [.success([Self.address.with(port: 8080), Self.address.with(port: 80)])])
        }
    }

    @Test func literalsAndOverridesNeedNoLookUp() async throws {
        let stage = ResolverStage {
            $0.overrides[.init(host: "Pinned.example", port: 443)] = [Self.address]
            $0.overrides[.init(host: "*", port: 8443)] = [Self.address]
        }
        try await withLoop { loop in
            let answers = Answers()
            await stage.startLookUp("::1", port: 1, on: loop, answers: answers)
            await stage.startLookUp("127.0.0.1", port: 2, family: .ipv6, on: loop, answers: answers)
            await stage.startLookUp("pinned.EXAMPLE", port: 443, on: loop, answers: answers)
            await stage.startLookUp("other.example", port: 8443, on: loop, answers: answers)
            for name in ["", "a b", "a\0b", String(repeating: "a", count: 256)] {
                await stage.startLookUp(name, port: 1, on: loop, answers: answers)
            }
            #expect(
                answers.atOnce == [
                    .success([.ipv6(.loopback, port: 1, zone: 0)]), .failure(.noAddress),
                    .success([Self.address.with(port: 443)]), .success([Self.address.with(port: 8443)]),
                    .failure(.invalidName), .failure(.invalidName), .failure(.invalidName),
                    .failure(.invalidName),
                ])
            #expect(stage.gate.requestedHosts == [])
        }
    }

    @Test func oneHungNameDelaysNoOtherUntilSixteenHang() async throws {
        let stage = ResolverStage()
        try await withLoop(clock: stage.clock) { loop in
            let hung = Answers()
            let answers = Answers()
            stage.gate.open("quick")
            for number in 0..<15 { await stage.startLookUp("hung-\(number)", on: loop, answers: hung) }
            await stage.startLookUp("quick", on: loop, answers: answers)
            await answers.wait(for: 1)
            await waitUntil { stage.pool.busyThreadCount == 15 }
            await stage.startLookUp("hung-15", on: loop, answers: hung)
            await waitUntil { stage.pool.busyThreadCount == 16 && stage.gate.requestedHosts.count == 17 }

            // Threads that are busy do not count as hung yet: two look-ups wait, a third is cancelled.
            await stage.startLookUp("late", on: loop, answers: answers)
            await stage.startLookUp("late", on: loop, answers: answers)
            await stage.startLookUp("unwanted", on: loop, answers: hung)
            await loop.run { hung.lookUps[16].value.cancel() }
            await loop.run {}
            #expect(answers.arrived.count == 1)
            stage.clock.advance(by: .seconds(6))
            loop.wake()
            await answers.wait(for: 3)
            #expect(
                answers.arrived[1...] == [
                    .failure(.tooManyHungLookUps(limit: 16)), .failure(.tooManyHungLookUps(limit: 16)),
                ])
            await stage.startLookUp("later", on: loop, answers: answers)
            await answers.wait(for: 4)
            #expect(answers.arrived[3] == .failure(.tooManyHungLookUps(limit: 16)))

            // One look-up returns, and its thread serves others.
            stage.gate.open("hung-3")
            await hung.wait(for: 1)
            await waitUntil { stage.pool.busyThreadCount == 15 }
            stage.gate.open("recovered")
            await stage.startLookUp("recovered", on: loop, answers: answers)
            await answers.wait(for: 5)
            #expect(answers.arrived[4] == .success([Self.address.with(port: 80)]))
            #expect(
                !stage.gate.requestedHosts.contains("late") && !stage.gate.requestedHosts.contains("unwanted")
            )
            stage.gate.open("*")
            await hung.wait(for: 16)
        }
        await waitUntil { stage.pool.busyThreadCount == 0 }
    }

    @Test func queuedLookUpsRunWhenAThreadIsFree() async throws {
        let stage = ResolverStage(limit: 2)
        try await withLoop(clock: stage.clock) { loop in
            let answers = Answers()
            for number in 0..<200 { await stage.startLookUp("host-\(number)", on: loop, answers: answers) }
            #expect(stage.pool.busyThreadCount == 2)
            stage.gate.open("*")
            await answers.wait(for: 200)
            #expect(stage.gate.requestedHosts.count == 200)
        }
        await waitUntil { stage.pool.busyThreadCount == 0 }
    }

    @Test func aDeadlineAndAShutdownEndTheWait() async throws {
        let stage = ResolverStage()
        let answers = Answers()
        try await withLoop(clock: stage.clock) { loop in
            await stage.startLookUp(
                "a", deadline: stage.clock.now().advanced(by: .seconds(3)), on: loop, answers: answers)
            await stage.startLookUp("b", on: loop, answers: answers)
            stage.clock.advance(by: .seconds(3))
            loop.wake()
            await answers.wait(for: 1)
            #expect(answers.arrived == [.failure(.timedOut)])
        }
        #expect(answers.arrived == [.failure(.timedOut), .failure(.shutDown)])
        #expect(stage.pool.busyThreadCount == 2, "no shutdown waits for a hung look-up")
        stage.gate.open("*")
        await waitUntil { stage.pool.busyThreadCount == 0 }
    }

    @Test func aHungLookUpDoesNotKeepItsResolver() async throws {
        let gate = LookUpGate()
        let pool = WorkerPool(limit: 1, hungAfter: .seconds(5))
        try await withLoop { loop in
            weak var weakResolver: Resolver?
            do {
                let resolver = Resolver(pool: pool, lookUp: gate.function)
                weakResolver = resolver
                let lookUp = await loop.run { () -> LoopBound<LookUp>? in
                    guard case .pending(let lookUp) = resolver.lookUp("a", port: 1, on: loop, { _ in })
                    else { return nil }
                    return LoopBound(lookUp, on: loop)
                }
                await loop.run { lookUp?.value.cancel() }
            }
            await loop.run {}
            #expect(weakResolver == nil)
        }
        gate.open("*")
        await waitUntil { pool.busyThreadCount == 0 }
    }

    @Test func theSystemKnowsLocalhost() async throws {
        try await withLoop { loop in
            let resolver = Resolver()
            let answer: Resolver.Answer = await withCheckedContinuation { continuation in
                let accepted = loop.execute {
                    _ = resolver.lookUp("localhost", port: 80, on: loop) {
                        continuation.resume(returning: $0)
                    }
                }
                #expect(accepted)
            }
            let addresses = try answer.get()
            #expect(addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0.host) && $0.port == 80 })
        }
    }
}
