// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// The pool's decisions about connections that carry several exchanges: when they are lent, when they give way, and how many are
/// opened.
struct SharedConnectionTests {
    let a = Origin(scheme: .http, host: "a.test", port: 80)
    let b = Origin(scheme: .https, host: "b.test", port: 443)
    let c = Origin(scheme: .http, host: "c.test", port: 8080)

    private func finishOldest(
        _ model: inout PoolModel, of origin: Origin? = nil, but spared: Set<ExchangeID> = []
    ) {
        let busy = model.busy.filter { origin == nil || model.connections[$0]?.origin == origin }
        let oldest = busy.flatMap { name in
            (model.connections[name]?.exchanges ?? []).subtracting(spared).map { (name, $0) }
        }.min { $0.1.rawValue < $1.1.rawValue }
        if let oldest { model.finish(oldest.1, on: oldest.0, .reusable(KeepAlive())) }
    }

    private func connectAll(_ model: inout PoolModel, capacity: Int) {
        for dial in model.dialing { model.connect(dial, capacity: capacity) }
    }

    // MARK: who was sent away

    @Test("[H-12.11] among equals, whoever was sent away most often goes first")
    func whoeverWasSentAwayGoesFirst() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(a)
        let connection = model.dialing[0]
        model.connect(connection)
        let plain = model.submit(a)
        let once = model.submit(a, replays: 1)
        let urgent = model.submit(a, priority: 1)
        let twice = model.submit(a, replays: 2)
        for next in [urgent, twice, once, plain] {
            finishOldest(&model)
            #expect(model.lastActions == [.run(next, on: connection, reused: true)])
        }
    }

    @Test("[H-12.12] after a peer that sends some away, a connection carries no more than that one did")
    func aPeerThatSendsAwaySoon() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9), versions: .http2)
        for _ in 0..<20 { model.submit(a) }
        let first = model.dialing[0]
        model.connect(first, capacity: 100)
        model.changeCapacity(of: first, to: 50)
        // The first connection carries three of twenty.
        model.retire(first, carried: 3)
        for _ in 0..<17 { model.submit(a, replays: 1) }
        #expect(model.dialing.count == 2, "each is expected to carry three")
        connectAll(&model, capacity: 100)
        let second = model.busy.filter { $0 != first }
        #expect(second.allSatisfy { model.connections[$0]?.exchanges.count == 3 })
        model.changeCapacity(of: second[0], to: 50)
        #expect(model.connections[second[0]]?.exchanges.count == 3)
        // The second connection carries more than the first did.
        for _ in 0..<3 { finishOldest(&model, of: a, but: model.connections[first]?.exchanges ?? []) }
        #expect(model.waiting.count == 8)
        while model.connections[second[0]]?.ended ?? 4 < 4,
            let exchange = model.connections[second[0]]?.exchanges.first
        {
            model.finish(exchange, on: second[0], .reusable(KeepAlive()))
        }
        #expect(model.waiting.isEmpty)
    }

    // MARK: how many at once

    @Test("[H-12.1] a connection whose peer takes no requests is lent to nobody until it takes some")
    func aConnectionThatTakesNoneIsLentToNobody() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        let first = model.submit(a)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        let second = model.submit(a)
        #expect(model.answers[second] == nil)
        model.finish(first, on: connection, .reusable(KeepAlive()))
        #expect(model.answers[second] == nil && model.idle == [connection])
        model.changeCapacity(of: connection, to: 2)
        #expect(model.lastActions == [.run(second, on: connection, reused: true)])
    }

    @Test func anIdleConnectionIsLentAgainOnceItsPeerTakesRequests() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(a)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        finishOldest(&model)
        model.changeCapacity(of: connection, to: 0)
        model.changeCapacity(of: connection, to: 0)
        let exchange = model.submit(a)
        #expect(model.answers[exchange] == nil && model.dialCount == 1)
        model.changeCapacity(of: connection, to: 1)
        #expect(model.lastActions == [.run(exchange, on: connection, reused: true)])
    }

    @Test("[H-12.1] where no requests are taken, connections are opened up to the limit and no further")
    func whereNoneAreTakenNobodyDialsForEver() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        model.submit(a)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        let exchanges = (0..<3).map { _ in model.submit(a) }
        let second = model.dialing[0]
        // The second connection is lent once before its peer's settings arrive.
        model.connect(second, capacity: 100)
        #expect(model.answers[exchanges[0]] == .ran)
        model.changeCapacity(of: second, to: 0)
        let other = model.submit(b)
        #expect(model.dialCount == 2 && model.dialing.isEmpty)
        #expect(exchanges[1...].allSatisfy { model.answers[$0] == nil } && model.answers[other] == nil)
        model.changeCapacity(of: second, to: 4)
        #expect(exchanges.allSatisfy { model.answers[$0] == .ran })
    }

    @Test func aConnectionThatIsNeverLentExpires() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9, idleTimeout: .seconds(5)))
        model.submit(a)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        finishOldest(&model)
        let exchange = model.submit(a)
        model.advance(by: .seconds(6))
        #expect(model.connections[connection] == nil && model.dialing.count == 1)
        model.connect(model.dialing[0], capacity: 100)
        #expect(model.answers[exchange] == .ran)
    }

    // MARK: giving way

    /// Keeps every connection busy: with exchanges that wait, and without.
    @Test(
        "[H-12.4] a request that needs a fresh connection has one under a steady load",
        arguments: [PoolLimits(perHost: 1, total: 9), PoolLimits(perHost: 9, total: 1)], [2, 8])
    func aReplayIsServedUnderSteadyLoad(_ limits: PoolLimits, _ load: Int) {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<load { model.submit(a) }
        connectAll(&model, capacity: 4)
        let replay = model.submit(a, needsFresh: true)
        var finished = 0
        while model.answers[replay] == nil, finished < 20 {
            connectAll(&model, capacity: 4)
            finishOldest(&model)
            model.submit(a)
            finished += 1
        }
        #expect(model.answers[replay] == .ran)
    }

    @Test("[H-12.4] an origin that waits for room has some under a steady load", arguments: [2, 8])
    func aHostThatWaitsForRoomIsServedUnderSteadyLoad(_ load: Int) {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2), versions: .http2)
        for _ in 0..<load { model.submit(a) }
        connectAll(&model, capacity: 4)
        model.submit(c)
        connectAll(&model, capacity: 4)
        let other = model.submit(b)
        var finished = 0
        while model.answers[other] == nil, finished < 30 {
            connectAll(&model, capacity: 4)
            finishOldest(&model)
            model.submit(finished % 2 == 0 ? a : c)
            finished += 1
        }
        #expect(model.answers[other] == .ran)
    }

    /// The connection that gives way first carries an exchange that never ends.
    @Test func anExchangeThatNeverEndsDoesNotKeepRoomFromOthers() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 2), versions: .http2)
        let endless = model.submit(a)
        connectAll(&model, capacity: 4)
        model.submit(a)
        model.submit(c)
        connectAll(&model, capacity: 4)
        model.submit(c)
        let other = model.submit(b)
        var finished = 0
        while model.answers[other] == nil, finished < 4 * PoolMachine.endsBetweenRetirements {
            connectAll(&model, capacity: 4)
            finishOldest(&model, but: [endless])
            model.submit(c)
            finished += 1
        }
        #expect(model.answers[other] == .ran && model.answers.count > PoolMachine.endsBetweenRetirements)
    }

    @Test func onlyAsManyGiveWayAsAreWaitedFor() {
        var model = PoolModel(PoolLimits(perHost: 4, total: 4), versions: .http2)
        for _ in 0..<4 {
            for _ in 0..<4 { model.submit(a) }
            connectAll(&model, capacity: 4)
        }
        #expect(model.busy.count == 4)
        model.submit(b)
        for _ in 0..<3 {
            finishOldest(&model)
            model.submit(a)
        }
        #expect(model.busy.count { model.connections[$0]?.isRetiring == true } == 1)
    }

    // MARK: connections that drain

    @Test("[H-12.2] a connection that drains leaves room for another")
    func aConnectionThatDrainsLeavesRoom() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9), versions: .http2)
        let long = model.submit(a)
        let first = model.dialing[0]
        model.connect(first, capacity: 4)
        model.retire(first)
        let next = model.submit(a)
        #expect(model.dialing.count == 1)
        connectAll(&model, capacity: 4)
        #expect(model.answers[next] == .ran && model.open(a) == 2)
        model.finish(long, on: first, .reusable(KeepAlive()))
        #expect(model.lastActions == [.close(first, .notReusable)])
    }

    @Test("[H-12.2] no more connections that drain are left out of the count than may be open")
    func aPeerThatSendsEachConnectionAwayOpensNoEndOfThem() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 99), versions: .http2)
        for _ in 0..<20 {
            model.submit(a)
            connectAll(&model, capacity: 4)
            for name in model.busy { model.retire(name) }
        }
        #expect(model.open(a) == 4 && model.dialing.isEmpty)
        finishOldest(&model)
        #expect(model.open(a) == 4 && model.dialing.count == 1)
    }

    @Test func aConnectionOfHTTP1ThatDrainsCounts() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 99))
        model.submit(a)
        connectAll(&model, capacity: 1)
        for name in model.busy { model.retire(name) }
        model.submit(a)
        #expect(model.dialing.isEmpty && model.open(a) == 1)
    }
}
