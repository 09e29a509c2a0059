// SPDX-License-Identifier: MIT
import LupineTestKit
import Testing

@testable import LupineTransport

/// Random events are applied to the pool's machine and its model, and the invariants are checked after every event.
struct PoolModelTests {
    struct Walk: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var seed: UInt64
        var limits: PoolLimits
        var origins: Int
        var largestCapacity = 1
        var versions = HTTPVersions.http11
        /// The number of events.
        var events = 20_000
    }

    static let walks = [
        Walk(
            testDescription: "one host under its limit", seed: 1, limits: PoolLimits(perHost: 3, total: 8),
            origins: 1),
        Walk(
            testDescription: "hosts that compete for the total", seed: 2,
            limits: PoolLimits(perHost: 3, total: 5),
            origins: 4),
        Walk(
            testDescription: "more hosts than connections", seed: 3, limits: PoolLimits(perHost: 2, total: 2),
            origins: 5),
        Walk(
            testDescription: "a single connection for all", seed: 4, limits: PoolLimits(perHost: 1, total: 1),
            origins: 3),
        Walk(
            testDescription: "connections that age", seed: 5,
            limits: PoolLimits(perHost: 4, total: 10, idleTimeout: .seconds(2), maximumAge: .seconds(5)),
            origins: 3),
        Walk(
            testDescription: "several exchanges on one connection", seed: 6,
            limits: PoolLimits(perHost: 2, total: 5, maximumAge: .seconds(20)), origins: 4, largestCapacity: 4
        ),
        Walk(
            testDescription: "HTTP/2 on a single connection each", seed: 8,
            limits: PoolLimits(perHost: 1, total: 4), origins: 3, largestCapacity: 6, versions: .http2),
        Walk(
            testDescription: "HTTP/2 hosts that compete for the total", seed: 9,
            limits: PoolLimits(perHost: 3, total: 3), origins: 4, largestCapacity: 3, versions: .http2),
        Walk(
            testDescription: "HTTP/2 with room", seed: 10, limits: PoolLimits(perHost: 4, total: 40),
            origins: 2, largestCapacity: 2, versions: .http2),
        Walk(
            testDescription: "plenty of room", seed: 7, limits: PoolLimits(perHost: 6, total: 512),
            origins: 12),
    ]

    /// Returns origins that do not replace each other in the machine's `OriginMemory`: the model forgets none. Fingerprints
    /// differ from process to process.
    private static func origins(_ count: Int) -> [Origin] {
        var indices: Set<Int> = []
        var origins: [Origin] = []
        var number = 0
        while origins.count < count {
            let origin = Origin(scheme: .http, host: "h\(number).test", port: 80)
            number += 1
            let index = origin.fingerprint & (OriginMemory.capacity - 1)
            if indices.insert(index).inserted { origins.append(origin) }
        }
        return origins
    }

    @Test(arguments: walks)
    func everyInvariantHoldsAfterEveryEvent(_ walk: Walk) {
        var random = SeededRandom(seed: walk.seed)
        let origins = Self.origins(walk.origins)
        var model = PoolModel(walk.limits, versions: walk.versions)
        var closed: [ConnectionID] = []
        while model.eventsHandled < walk.events {
            step(&model, &random, origins, walk.largestCapacity, &closed)
        }
        model.shutDown()
        model.submit(origins[0])
        while let connection = model.busy.first, let exchange = model.connections[connection]?.exchanges.first
        {
            model.finish(exchange, on: connection, .reusable(KeepAlive()))
        }
        #expect(model.machine.openCount == 0)
        #expect(model.machine.keyCount == 0)
        if walk.versions == .http2 {
            #expect(model.giveWayCount > 0 || walk.limits.total > 9, "no connection gave way")
        }
        if walk.versions == .http2, walk.origins > 2 {
            #expect(model.coalescedRunCount > 0, "no exchange ran on another's connection")
        }
        if walk.limits.perHost > 2 {
            #expect(model.runsOnRequestedLoop > 0, "no exchange ran on its requested loop")
        }
        #expect(model.answers.count == Int(model.submitted), "every exchange was answered")
    }

    private func step(
        _ model: inout PoolModel, _ random: inout SeededRandom, _ origins: [Origin], _ largestCapacity: Int,
        _ closed: inout [ConnectionID]
    ) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<33:
            guard model.waiting.count < 60, let origin = origins.randomElement(using: &random) else { return }
            model.submit(
                origin, needsFresh: Int.random(in: 0..<12, using: &random) == 0,
                priority: priority(&random), replays: max(0, Int.random(in: -9...3, using: &random)),
                loop: loop(&random))
        case 33..<50:
            guard let dial = model.dialing.randomElement(using: &random) else { return }
            model.connect(
                dial, capacity: Int.random(in: 1...largestCapacity, using: &random),
                newKey: Int.random(in: 0..<3, using: &random) == 0
                    ? origins.randomElement(using: &random) : nil,
                loop: Int.random(in: 0..<Self.loops, using: &random))
        case 50..<52:
            let multiplexed = (model.idle + model.busy).filter {
                model.connections[$0]?.isMultiplexed == true
            }
            if let connection = multiplexed.randomElement(using: &random) {
                model.changeCapacity(
                    of: connection, to: Int.random(in: 0...largestCapacity, using: &random))
            }
        case 52..<80:
            guard let connection = model.busy.randomElement(using: &random),
                let exchange = model.connections[connection]?.exchanges
                    .min(by: { $0.rawValue < $1.rawValue })
            else { return }
            model.finish(exchange, on: connection, reuse(&random))
        case 80..<82:
            let waiters = model.waiting.sorted { $0.value.place < $1.value.place }.map(\.key)
            if let waiter = waiters.randomElement(using: &random) {
                model.cancel(waiter)
                model.cancel(waiter)
                model.reprioritise(waiter, 1)
            }
        case 82..<86:
            guard let dial = model.dialing.randomElement(using: &random) else { return }
            if model.connections[dial]?.claimant == nil || Bool.random(using: &random) {
                model.claim(dial)
            } else {
                model.cancelClaim(dial)
            }
        case 86..<88:
            guard let dial = model.dialing.randomElement(using: &random) else { return }
            model.failDial(dial)
            closed.append(dial)
        case 88..<89:
            guard let dial = model.dialing.randomElement(using: &random),
                let other = (model.idle + model.busy).randomElement(using: &random)
            else { return }
            model.coalesce(dial, onto: other)
            if let origin = origins.randomElement(using: &random), Int.random(in: 0..<50, using: &random) == 0
            {
                model.misdirect(origin)
            }
        case 89..<90:
            if let dial = model.dialing.randomElement(using: &random) { model.exhaustDescriptors(dial) }
        case 90..<92:
            guard let connection = (model.idle + model.busy).randomElement(using: &random) else { return }
            model.lose(connection)
            closed.append(connection)
        case 92..<93:
            if let connection = (model.idle + model.busy).randomElement(using: &random) {
                let carried =
                    model.connections[connection]?.isMultiplexed == true && Bool.random(using: &random)
                model.retire(connection, carried: carried ? Int.random(in: 0...6, using: &random) : nil)
            }
        case 93..<94:
            guard let closedID = closed.randomElement(using: &random) else { return }
            model.handle(.lost(closedID))
            model.handle(.finished(closedID, .notReusable))
            model.handle(.dialFailed(closedID))
            model.handle(.claim(closedID))
            model.handle(.cancelClaim(closedID))
            model.handle(.retire(closedID))
            model.handle(.connected(closedID, capacity: 1))
            model.handle(.coalesce(closedID, onto: closedID))
        case 95..<97:
            let waiters = model.waiting.sorted { $0.value.place < $1.value.place }.map(\.key)
            if let waiter = waiters.randomElement(using: &random) {
                model.reprioritise(waiter, priority(&random))
            }
        case 94..<95:
            if Int.random(in: 0..<10, using: &random) == 0 { model.dropIdle() }
        case _:
            model.advance(by: .milliseconds(Int64.random(in: 1...400, using: &random)))
        }
    }

    private static let loops = 3

    /// Returns the loop of an exchange's thread; half of the exchanges come from other threads.
    private func loop(_ random: inout SeededRandom) -> Int? {
        Bool.random(using: &random) ? Int.random(in: 0..<Self.loops, using: &random) : nil
    }

    private func priority(_ random: inout SeededRandom) -> Float {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: 0.25
        case 1: 0.75
        case 2: Float.random(in: 0...1, using: &random)
        case _: Exchange.defaultPriority
        }
    }

    private func reuse(_ random: inout SeededRandom) -> PoolEvent.Reuse {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: .notReusable
        case 1: .reusable(KeepAlive(timeout: .seconds(Int64.random(in: 0...3, using: &random))))
        case 2: .reusable(KeepAlive(maximum: Int.random(in: 0...2, using: &random)))
        case _: .reusable(KeepAlive())
        }
    }
}
