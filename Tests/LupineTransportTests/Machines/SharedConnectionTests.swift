// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// The pool's decisions about connections that carry several exchanges: when they are lent, when they give way, and how many are
/// opened.
struct SharedConnectionTests {
    let originA = Origin(scheme: .http, host: "a.test", port: 80)
    let originB = Origin(scheme: .https, host: "b.test", port: 443)
    let originC = Origin(scheme: .http, host: "c.test", port: 8080)

    private func finishOldest(
        _ model: inout PoolModel, of origin: Origin? = nil, except spared: Set<ExchangeID> = []
    ) {
        let busy = model.busy.filter { origin == nil || model.connections[$0]?.origin == origin }
        let oldest = busy.flatMap { id in
            (model.connections[id]?.exchanges ?? []).subtracting(spared).map { (id, $0) }
        }.min { $0.1.rawValue < $1.1.rawValue }
        if let oldest { model.finish(oldest.1, on: oldest.0, .reusable(KeepAlive())) }
    }

    private func connectAll(_ model: inout PoolModel, capacity: Int) {
        for dial in model.dialing { model.connect(dial, capacity: capacity) }
    }

    // MARK: refused exchanges

    @Test("[H-12.11] among equal priorities, the exchange that was refused most often runs first")
    func theExchangeRefusedMostOftenRunsFirst() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection)
        let plain = model.submit(originA)
        let once = model.submit(originA, replays: 1)
        let urgent = model.submit(originA, priority: 1)
        let twice = model.submit(originA, replays: 2)
        for next in [urgent, twice, once, plain] {
            finishOldest(&model)
            #expect(model.lastActions == [.run(next, on: connection, reused: true)])
        }
    }

    @Test("[H-12.12] after a refusal, a connection carries no more than the refusing one processed")
    func aPeerThatRefusesExchanges() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9), versions: .http2)
        for _ in 0..<20 { model.submit(originA) }
        let first = model.dialing[0]
        model.connect(first, capacity: 100)
        model.changeCapacity(of: first, to: 50)
        // The first connection carries three of twenty.
        model.retire(first, carried: 3)
        for _ in 0..<17 { model.submit(originA, replays: 1) }
        #expect(model.dialing.count == 2, "each connection is expected to carry three")
        connectAll(&model, capacity: 100)
        let second = model.busy.filter { $0 != first }
        #expect(second.allSatisfy { model.connections[$0]?.exchanges.count == 3 })
        model.changeCapacity(of: second[0], to: 50)
        #expect(model.connections[second[0]]?.exchanges.count == 3)
        // The second connection carries more than the first did.
        for _ in 0..<3 {
            finishOldest(&model, of: originA, except: model.connections[first]?.exchanges ?? [])
        }
        #expect(model.waiting.count == 8)
        while model.connections[second[0]]?.finishedCount ?? 4 < 4,
            let exchange = model.connections[second[0]]?.exchanges.first
        {
            model.finish(exchange, on: second[0], .reusable(KeepAlive()))
        }
        #expect(model.waiting.isEmpty)
    }

    // MARK: capacity

    @Test("[H-12.1] a connection whose peer allows no requests is not lent until it allows some")
    func aConnectionOfCapacityZeroIsNotLent() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        let first = model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        let second = model.submit(originA)
        #expect(model.answers[second] == nil)
        model.finish(first, on: connection, .reusable(KeepAlive()))
        #expect(model.answers[second] == nil && model.idle == [connection])
        model.changeCapacity(of: connection, to: 2)
        #expect(model.lastActions == [.run(second, on: connection, reused: true)])
    }

    @Test func anIdleConnectionIsLentAgainOnceItsPeerAllowsRequests() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        finishOldest(&model)
        model.changeCapacity(of: connection, to: 0)
        model.changeCapacity(of: connection, to: 0)
        let exchange = model.submit(originA)
        #expect(model.answers[exchange] == nil && model.dialCount == 1)
        model.changeCapacity(of: connection, to: 1)
        #expect(model.lastActions == [.run(exchange, on: connection, reused: true)])
    }

    @Test("[H-12.1] where peers allow no requests, connections are opened up to the limit")
    func peersOfCapacityZeroCauseNoEndlessDials() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        let exchanges = (0..<3).map { _ in model.submit(originA) }
        let second = model.dialing[0]
        // The second connection is lent once before its peer's settings arrive.
        model.connect(second, capacity: 100)
        #expect(model.answers[exchanges[0]] == .ran)
        model.changeCapacity(of: second, to: 0)
        let other = model.submit(originB)
        #expect(model.dialCount == 2 && model.dialing.isEmpty)
        #expect(exchanges[1...].allSatisfy { model.answers[$0] == nil } && model.answers[other] == nil)
        model.changeCapacity(of: second, to: 4)
        #expect(exchanges.allSatisfy { model.answers[$0] == .ran })
    }

    @Test func aConnectionThatIsNeverLentExpires() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9, idleTimeout: .seconds(5)))
        model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection, capacity: 4)
        model.changeCapacity(of: connection, to: 0)
        finishOldest(&model)
        let exchange = model.submit(originA)
        model.advance(by: .seconds(6))
        #expect(model.connections[connection] == nil && model.dialing.count == 1)
        model.connect(model.dialing[0], capacity: 100)
        #expect(model.answers[exchange] == .ran)
    }

    // MARK: giving way

    /// Each load keeps the connections busy; the larger one also makes exchanges wait.
    @Test(
        "[H-12.4] a request that needs a fresh connection is served under a steady load",
        arguments: [PoolLimits(perHost: 1, total: 9), PoolLimits(perHost: 9, total: 1)], [2, 8])
    func aReplayIsServedUnderSteadyLoad(_ limits: PoolLimits, _ load: Int) {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<load { model.submit(originA) }
        connectAll(&model, capacity: 4)
        let replay = model.submit(originA, needsFresh: true)
        var finished = 0
        while model.answers[replay] == nil, finished < 20 {
            connectAll(&model, capacity: 4)
            finishOldest(&model)
            model.submit(originA)
            finished += 1
        }
        #expect(model.answers[replay] == .ran)
    }

    @Test("[H-12.4] an origin that waits for room is served under a steady load", arguments: [2, 8])
    func aHostThatWaitsForRoomIsServedUnderSteadyLoad(_ load: Int) {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2), versions: .http2)
        for _ in 0..<load { model.submit(originA) }
        connectAll(&model, capacity: 4)
        model.submit(originC)
        connectAll(&model, capacity: 4)
        let other = model.submit(originB)
        var finished = 0
        while model.answers[other] == nil, finished < 30 {
            connectAll(&model, capacity: 4)
            finishOldest(&model)
            model.submit(finished % 2 == 0 ? originA : originC)
            finished += 1
        }
        #expect(model.answers[other] == .ran)
    }

    /// The connection that gives way first carries an exchange that never ends.
    @Test func anExchangeThatNeverEndsDoesNotKeepRoomFromOthers() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 2), versions: .http2)
        let endless = model.submit(originA)
        connectAll(&model, capacity: 4)
        model.submit(originA)
        model.submit(originC)
        connectAll(&model, capacity: 4)
        model.submit(originC)
        let other = model.submit(originB)
        var finished = 0
        while model.answers[other] == nil, finished < 4 * PoolMachine.endsBetweenRetirements {
            connectAll(&model, capacity: 4)
            finishOldest(&model, except: [endless])
            model.submit(originC)
            finished += 1
        }
        #expect(model.answers[other] == .ran && model.answers.count > PoolMachine.endsBetweenRetirements)
    }

    @Test func noMoreConnectionsGiveWayThanWaitersNeed() {
        var model = PoolModel(PoolLimits(perHost: 4, total: 4), versions: .http2)
        for _ in 0..<4 {
            for _ in 0..<4 { model.submit(originA) }
            connectAll(&model, capacity: 4)
        }
        #expect(model.busy.count == 4)
        model.submit(originB)
        for _ in 0..<3 {
            finishOldest(&model)
            model.submit(originA)
        }
        #expect(model.busy.count { model.connections[$0]?.isRetiring == true } == 1)
    }

    // MARK: connections that drain

    @Test("[H-12.2] a connection that drains leaves room for another")
    func aConnectionThatDrainsLeavesRoom() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9), versions: .http2)
        let longExchange = model.submit(originA)
        let first = model.dialing[0]
        model.connect(first, capacity: 4)
        model.retire(first)
        let next = model.submit(originA)
        #expect(model.dialing.count == 1)
        connectAll(&model, capacity: 4)
        #expect(model.answers[next] == .ran && model.open(originA) == 2)
        model.finish(longExchange, on: first, .reusable(KeepAlive()))
        #expect(model.lastActions == [.close(first, .notReusable)])
    }

    @Test("[H-12.2] of an origin's draining connections, only so many are not counted as may be open")
    func aPeerThatRetiresEachConnectionDoesNotCauseEndlessDials() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 99), versions: .http2)
        for _ in 0..<20 {
            model.submit(originA)
            connectAll(&model, capacity: 4)
            for id in model.busy { model.retire(id) }
        }
        #expect(model.open(originA) == 4 && model.dialing.isEmpty)
        finishOldest(&model)
        #expect(model.open(originA) == 4 && model.dialing.count == 1)
    }

    @Test func aDrainingConnectionOfHTTP1Counts() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 99))
        model.submit(originA)
        connectAll(&model, capacity: 1)
        for id in model.busy { model.retire(id) }
        model.submit(originA)
        #expect(model.dialing.isEmpty && model.open(originA) == 1)
    }
}
