// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// The decisions of the pool, case by case. The model performs the actions and checks the machine's invariants.
struct PoolMachineTests {
    let originA = Origin(scheme: .http, host: "a.test", port: 80)
    let originB = Origin(scheme: .https, host: "b.test", port: 443)
    let originC = Origin(scheme: .http, host: "c.test", port: 8080)

    private func finishOldest(_ model: inout PoolModel, of origin: Origin? = nil) {
        let busy = model.busy.filter { origin == nil || model.connections[$0]?.origin == origin }
        let oldest = busy.compactMap { id in
            model.connections[id]?.exchanges.map { (id, $0) }.min { $0.1.rawValue < $1.1.rawValue }
        }.min { $0.1.rawValue < $1.1.rawValue }
        if let oldest { model.finish(oldest.1, on: oldest.0, .reusable(KeepAlive())) }
    }

    @Test func anExchangeDialsAndRuns() {
        var model = PoolModel(PoolLimits())
        let exchange = model.submit(originA)
        #expect(model.dialing.count == 1)
        let connection = model.dialing[0]
        model.connect(connection)
        #expect(model.lastActions == [.run(exchange, on: connection, reused: false)])
        model.finish(exchange, on: connection, .reusable(KeepAlive()))
        #expect(model.lastActions == [.wake(at: Instant.zero + .seconds(60))])
        let second = model.submit(originA)
        #expect(model.lastActions == [.run(second, on: connection, reused: true)])
        #expect(model.dialCount == 1)
    }

    // MARK: loops

    @Test func anExchangeRunsOnTheLoopThatItAsksForIfItCan() {
        var model = PoolModel(PoolLimits())
        var exchanges: [Int: ExchangeID] = [:]
        for loop in 0..<3 { exchanges[loop] = model.submit(originA, loop: loop) }
        // Each dial is made on its exchange's loop.
        let dials = model.dialing
        #expect(dials.map { model.connections[$0]?.loop } == [0, 1, 2])
        for dial in dials { model.connect(dial) }
        for dial in dials.reversed() {
            for exchange in model.connections[dial]?.exchanges ?? [] {
                model.finish(exchange, on: dial, .reusable(KeepAlive()))
            }
        }
        // The connection released last is on loop 0; an exchange that asks for loop 1 runs on a connection there.
        let second = model.submit(originA, loop: 1)
        #expect(model.lastActions == [.run(second, on: dials[1], reused: true)])
        // No idle connection is on that loop: the connection released last is lent.
        let third = model.submit(originA, loop: 1)
        #expect(model.lastActions == [.run(third, on: dials[0], reused: true)])
        let fourth = model.submit(originA)
        #expect(model.lastActions == [.run(fourth, on: dials[2], reused: true)])
        // No connection is idle: a dial is made on that loop.
        model.submit(originA, loop: 1)
        #expect(model.dialing.map { model.connections[$0]?.loop } == [1])
        model.submit(originA)
        #expect(model.dialing.map { model.connections[$0]?.loop } == [1, nil])
    }

    @Test func theSearchForALoopIsLimited() {
        let searchLimit = PoolMachine.searchLimit
        var model = PoolModel(PoolLimits(perHost: searchLimit + 1, total: searchLimit + 1))
        for loop in 0...searchLimit { model.submit(originA, loop: loop) }
        let dials = model.dialing
        for dial in dials { model.connect(dial) }
        for dial in dials {
            for exchange in model.connections[dial]?.exchanges ?? [] {
                model.finish(exchange, on: dial, .reusable(KeepAlive()))
            }
        }
        var actions: [PoolAction] = []
        model.machine.handle(
            .submit(ExchangeID(rawValue: 999), to: originA, needsFresh: false, loop: 0), at: .zero,
            into: &actions)
        #expect(actions == [.run(ExchangeID(rawValue: 999), on: dials[searchLimit], reused: true)])
    }

    // MARK: claimed dials

    @Test func aClaimedDialIsTiedToTheOldestWaiter() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9))
        let exchanges = (0..<3).map { _ in model.submit(originA) }
        let dials = model.dialing
        model.claim(dials[1])
        model.claim(dials[0])
        #expect(model.machine.claimant(of: dials[1]) == exchanges[0])
        #expect(model.machine.claimant(of: dials[0]) == exchanges[1])
        // In whatever order they are connected, each runs the exchange that it is tied to.
        model.connect(dials[0])
        #expect(model.lastActions.contains(.run(exchanges[1], on: dials[0], reused: false)))
        model.connect(dials[1])
        #expect(model.lastActions.contains(.run(exchanges[0], on: dials[1], reused: false)))
        #expect(model.waiting.count == 1)
    }

    @Test func aClaimedDialThatFailsFailsOnlyItsClaimant() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        let exchanges = (0..<3).map { _ in model.submit(originA) }
        for exchange in exchanges {
            let dial = model.dialing[0]
            model.claim(dial)
            model.failDial(dial)
            #expect(model.answers[exchange] == .failed(.dialFailed))
        }
        #expect(model.answers.count == 3 && model.dialCount == 3)
        #expect(model.machine.keyCount == 0)
    }

    @Test func aCancelledClaimAbandonsItsDial() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        let first = model.submit(originA)
        let second = model.submit(originA)
        let dial = model.dialing[0]
        model.claim(dial)
        model.cancelClaim(dial)
        #expect(model.answers[first] == .failed(.cancelled))
        #expect(model.answers[second] == nil && model.dialing.count == 1 && model.dialing[0] != dial)
        model.cancelClaim(dial)
        #expect(model.lastActions.isEmpty)
    }

    /// The exchange that waits under the dial's former key must not use the connection.
    @Test func aConnectionWithANewKeyServesTheExchangesOfThatKey() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9))
        let first = model.submit(originA)
        let waiting = model.submit(originA)
        let dial = model.dialing[0]
        model.claim(dial)
        model.connect(dial, newKey: originB)
        #expect(model.answers[first] == .ran && model.answers[waiting] == nil)
        model.finish(first, on: dial, .reusable(KeepAlive()))
        #expect(model.answers[waiting] == nil)
        let exchangeForB = model.submit(originB)
        #expect(model.lastActions == [.run(exchangeForB, on: dial, reused: true)])
    }

    @Test func aConnectionWithoutRoomUnderItsNewKeyServesOnlyItsClaimant() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        let resident = model.submit(originB)
        model.connect(model.dialing[0])
        let first = model.submit(originA)
        let dial = model.dialing[0]
        model.claim(dial)
        model.connect(dial, newKey: originB)
        #expect(model.answers[first] == .ran)
        let (waitingForA, waitingForB) = (model.submit(originA), model.submit(originB))
        model.finish(first, on: dial, .reusable(KeepAlive()))
        #expect(model.lastActions.contains(.close(dial, .notReusable)))
        #expect(model.answers[resident] == .ran)
        #expect(model.answers[waitingForA] == nil && model.answers[waitingForB] == nil)
    }

    @Test func aClaimWithoutAWaiterAbandonsTheDial() {
        var model = PoolModel(PoolLimits())
        model.submit(originA)
        let dial = model.dialing[0]
        if let waiter = model.waiting.keys.first { model.cancel(waiter) }
        model.claim(dial)
        #expect(model.lastActions == [.abandonDial(dial)])
        #expect(model.machine.openCount == 0 && model.machine.keyCount == 0)
    }

    @Test func aShutDownFailsTheClaimantOfADial() {
        var model = PoolModel(PoolLimits())
        let exchange = model.submit(originA)
        model.claim(model.dialing[0])
        model.shutDown()
        #expect(model.answers[exchange] == .failed(.shutDown))
    }

    @Test func theConnectionReleasedLastIsLentFirst() {
        var model = PoolModel(PoolLimits(perHost: 3, total: 9))
        for _ in 0..<3 { model.submit(originA) }
        let ids = model.dialing
        for id in ids { model.connect(id) }
        for id in [ids[1], ids[0], ids[2]] {
            if let exchange = model.connections[id]?.exchanges.first {
                model.finish(exchange, on: id, .reusable(KeepAlive()))
            }
        }
        for expected in [ids[2], ids[0], ids[1]] {
            let exchange = model.submit(originA)
            #expect(model.lastActions == [.run(exchange, on: expected, reused: true)])
        }
    }

    @Test func limitsHoldAndWaitersRunInOrder() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9))
        let exchanges = (0..<5).map { _ in model.submit(originA) }
        #expect(model.dialing.count == 2)
        for id in model.dialing { model.connect(id) }
        var order: [ExchangeID] = []
        while !model.waiting.isEmpty {
            finishOldest(&model)
            for case .run(let exchange, _, _) in model.lastActions { order.append(exchange) }
        }
        #expect(order == Array(exchanges[2...]))
    }

    @Test("[U-9.14] waiters run by priority; of equal priorities, the one submitted first")
    func waitersRunByPriority() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(originA)
        for id in model.dialing { model.connect(id) }
        let middle = model.submit(originA)
        let low = model.submit(originA, priority: 0)
        let high = model.submit(originA, priority: 1)
        let secondMiddle = model.submit(originA)
        let secondHigh = model.submit(originA, priority: 1)
        let between = model.submit(originA, priority: 0.3)
        #expect(drain(&model) == [high, secondHigh, middle, secondMiddle, between, low])
    }

    @Test("[U-9.14] a waiter keeps its place among equal priorities when its priority changes")
    func aPriorityChangesWhileWaiting() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 9))
        model.submit(originA)
        for id in model.dialing { model.connect(id) }
        let exchanges = (0..<5).map { _ in model.submit(originA) }
        let waiters = exchanges.compactMap { exchange in
            model.waiting.first { $0.value.exchange == exchange }?.key
        }
        #expect(waiters.count == 5)
        model.reprioritise(waiters[4], 1)
        model.reprioritise(waiters[0], 0.1)
        model.reprioritise(waiters[3], 1)
        model.reprioritise(waiters[2], 0.1)
        model.reprioritise(waiters[0], 0.5)
        #expect(drain(&model) == [exchanges[3], exchanges[4], exchanges[0], exchanges[1], exchanges[2]])
    }

    /// Finishes exchanges until none waits, and returns the waiters in the order in which they ran.
    private func drain(_ model: inout PoolModel) -> [ExchangeID] {
        var order: [ExchangeID] = []
        while !model.waiting.isEmpty {
            finishOldest(&model)
            for case .run(let exchange, _, _) in model.lastActions { order.append(exchange) }
        }
        return order
    }

    @Test func aCancelledWaiterFreesItsPlaceAndItsDialServesTheNext() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 1))
        let first = model.submit(originA)
        let second = model.submit(originA)
        guard let waiter = model.waiting.first(where: { $0.value.exchange == first })?.key else {
            Issue.record("the first exchange does not wait")
            return
        }
        model.cancel(waiter)
        #expect(model.lastActions == [.fail(first, .cancelled)])
        model.cancel(waiter)
        #expect(model.lastActions.isEmpty)
        let dial = model.dialing[0]
        model.connect(dial)
        #expect(model.lastActions == [.run(second, on: dial, reused: false)])
    }

    @Test func aLateCancellationHasNoEffect() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 1))
        model.submit(originA)
        let answered = Array(model.waiting.keys)
        model.connect(model.dialing[0])
        let next = model.submit(originA)
        for waiter in answered { model.cancel(waiter) }
        #expect(model.lastActions.isEmpty && model.answers[next] == nil)
    }

    @Test func freedRoomGoesToTheFirstOriginInTheQueue() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        for origin in [originA, originB] {
            model.submit(origin)
            model.connect(model.dialing[0])
        }
        model.submit(originB)
        model.submit(originC)
        finishOldest(&model, of: originA)
        #expect(model.open(originA) == 0 && model.open(originB) == 2 && model.open(originC) == 0)
    }

    @Test func theDialOfTheOnlyWaiterBecomesIdleWhenItIsCancelled() {
        var model = PoolModel(PoolLimits())
        model.submit(originA)
        for waiter in model.waiting.keys { model.cancel(waiter) }
        model.connect(model.dialing[0])
        #expect(model.idle.count == 1)
        model.submit(originA)
        #expect(model.idle.isEmpty && model.dialCount == 1)
    }

    @Test func aDeadHostFailsAThousandWaitersInTwoRounds() {
        var model = PoolModel(PoolLimits(perHost: 6, total: 100))
        for _ in 0..<1000 { model.submit(originA) }
        while let dial = model.dialing.first { model.failDial(dial) }
        #expect(model.answers.count == 1000)
        #expect(model.answers.values.allSatisfy { $0 == .failed(.dialFailed) })
        #expect(model.dialCount <= 18)
    }

    @Test func aFailedDialBesideALiveConnectionFailsOnlyOne() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 9))
        for _ in 0..<5 { model.submit(originA) }
        model.connect(model.dialing[0])
        model.failDial(model.dialing[0])
        #expect(model.answers.values.count { $0 == .failed(.dialFailed) } == 1)
        #expect(model.dialing.count == 1, "the remaining waiters have a new dial")
    }

    @Test func aFailedDialThatNoWaiterNeedsFailsNoExchange() {
        var model = PoolModel(PoolLimits(perHost: 3, total: 9))
        let exchange = model.submit(originA)
        model.submit(originA)
        let dials = model.dialing
        model.connect(dials[0])
        model.submit(originA)
        model.finish(exchange, on: dials[0], .reusable(KeepAlive()))
        #expect(model.dialing.count == 2 && model.waiting.count == 1)
        model.failDial(model.dialing[0])
        #expect(model.lastActions.isEmpty)
    }

    @Test func anIdleConnectionOfAnotherHostMakesRoom() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        for origin in [originA, originB] {
            model.submit(origin)
            model.connect(model.dialing[0])
        }
        finishOldest(&model)
        finishOldest(&model)
        let oldest = model.connections.first { $0.value.origin == originA }?.key
        model.submit(originC)
        #expect(model.open(originA) == 0 && model.open(originB) == 1 && model.open(originC) == 1)
        if let oldest { #expect(model.lastActions.contains(.close(oldest, .madeRoom))) }
    }

    @Test func roomIsSharedAmongHostsThatQueue() {
        var model = PoolModel(PoolLimits(perHost: 4, total: 4))
        for _ in 0..<200 { model.submit(originA) }
        for id in model.dialing { model.connect(id) }
        for _ in 0..<100 { model.submit(originB) }
        for _ in 0..<8 {
            finishOldest(&model)
            for id in model.dialing { model.connect(id) }
        }
        #expect(
            model.open(originA) == 2 && model.open(originB) == 2,
            "a host that came first keeps no more than its share")
        let dials = model.dialCount
        for _ in 0..<50 { finishOldest(&model) }
        #expect(model.dialCount == dials, "a fair share is kept without further dials")
    }

    @Test func moreHostsThanConnectionsTakeTurns() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        let origins = [originA, originB, originC]
        for _ in 0..<60 { for origin in origins { model.submit(origin) } }
        var served: [Origin: Int] = [:]
        for _ in 0..<90 {
            for id in model.dialing {
                if let origin = model.connections[id]?.origin { served[origin, default: 0] += 1 }
                model.connect(id)
            }
            finishOldest(&model)
        }
        let counts = origins.map { served[$0] ?? 0 }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 2, "\(counts)")
    }

    @Test func expiredIdleConnectionsAreNotLent() {
        var model = PoolModel(PoolLimits(idleTimeout: .seconds(10)))
        model.submit(originA)
        let connection = model.dialing[0]
        model.connect(connection)
        finishOldest(&model)
        model.now = Instant.zero + .seconds(10)
        model.submit(originA)
        #expect(model.lastActions.first == .close(connection, .expired))
        #expect(model.dialing.count == 1)
    }

    @Test func sweepsCloseIdleConnections() {
        var model = PoolModel(PoolLimits(idleTimeout: .seconds(10)))
        for origin in [originA, originB] {
            model.submit(origin)
            model.connect(model.dialing[0])
            finishOldest(&model)
            model.advance(by: .milliseconds(30))
        }
        model.advance(by: .seconds(11))
        #expect(model.connections.isEmpty && model.machine.keyCount == 0 && model.wake == nil)
    }

    @Test func aDeadIdleConnectionIsForgotten() {
        var model = PoolModel(PoolLimits())
        model.submit(originA)
        model.connect(model.dialing[0])
        finishOldest(&model)
        model.lose(model.idle[0])
        #expect(model.lastActions.isEmpty && model.machine.keyCount == 0)
    }

    @Test func aReplayRunsOnANewConnectionOnly() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 4))
        model.submit(originA)
        let first = model.dialing[0]
        model.connect(first)
        let replay = model.submit(originA, needsFresh: true)
        let later = model.submit(originA)
        finishOldest(&model)
        #expect(
            model.lastActions.first == .close(first, .madeRoom), "the replay came first and needs the room")
        let second = model.dialing[0]
        model.connect(second)
        #expect(model.lastActions == [.run(replay, on: second, reused: false)])
        finishOldest(&model)
        #expect(model.lastActions == [.run(later, on: second, reused: true)])
    }

    @Test func aReplayClosesAnIdleConnectionAtTheHostsLimit() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 4))
        model.submit(originA)
        let first = model.dialing[0]
        model.connect(first)
        finishOldest(&model)
        model.submit(originA, needsFresh: true)
        #expect(model.connections[first] == nil && model.dialing.count == 1)
    }

    @Test func descriptorsRunOut() {
        var model = PoolModel(PoolLimits())
        model.submit(originA)
        let idle = model.dialing[0]
        model.connect(idle)
        finishOldest(&model)
        let exchange = model.submit(originB)
        let dial = model.dialing[0]
        model.exhaustDescriptors(dial)
        #expect(model.lastActions == [.close(idle, .descriptorsExhausted), .dial(dial, to: originB)])
        model.exhaustDescriptors(dial)
        #expect(model.lastActions == [.fail(exchange, .descriptorsExhausted)])
    }

    @Test func severalExchangesShareAConnectionThatCarriesThem() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 1))
        let exchanges = (0..<5).map { _ in model.submit(originA) }
        let connection = model.dialing[0]
        model.connect(connection, capacity: 3)
        #expect(
            model.lastActions == (0..<3).map { .run(exchanges[$0], on: connection, reused: $0 > 0) })
        model.finish(exchanges[1], on: connection, .reusable(KeepAlive()))
        #expect(model.lastActions == [.run(exchanges[3], on: connection, reused: true)])
        model.retire(connection)
        for index in [0, 2, 3] { model.finish(exchanges[index], on: connection, .reusable(KeepAlive())) }
        #expect(model.lastActions.first == .close(connection, .notReusable))
        #expect(model.dialing.count == 1, "the last waiter gets a new one")
    }

    @Test func theLatestCapacityOfAConnectionApplies() {
        var model = PoolModel(PoolLimits(perHost: 1, total: 1))
        let exchanges = (0..<6).map { _ in model.submit(originA) }
        let connection = model.dialing[0]
        model.connect(connection, capacity: 2)
        model.changeCapacity(of: connection, to: 4)
        #expect(model.lastActions == (2..<4).map { .run(exchanges[$0], on: connection, reused: true) })
        model.changeCapacity(of: connection, to: 1)
        for index in 0..<3 { model.finish(exchanges[index], on: connection, .reusable(KeepAlive())) }
        #expect(model.lastActions.isEmpty, "one of four exchanges still runs, and the capacity is one")
        model.finish(exchanges[3], on: connection, .reusable(KeepAlive()))
        #expect(model.lastActions == [.run(exchanges[4], on: connection, reused: true)])
        model.lose(connection)
        let next = model.dialing[0]
        let late = model.submit(originA)
        model.connect(next, capacity: 100)
        #expect(
            model.lastActions == [.run(exchanges[5], on: next, reused: false)],
            "the next connection begins with the same capacity")
        #expect(model.answers[late] == nil)
    }

    @Test func shutDownAnswersEveryExchange() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 3))
        model.submit(originA)
        model.submit(originB)
        for id in model.dialing { model.connect(id) }
        finishOldest(&model)
        for _ in 0..<4 { model.submit(originB) }
        let busy = model.busy.first
        let dial = model.dialing.first
        model.shutDown()
        if let dial {
            #expect(model.lastActions.contains(.abandonDial(dial)))
            model.handle(.connected(dial, capacity: 1))
            #expect(model.lastActions == [.close(dial, .unwanted)])
        }
        let late = model.submit(originA)
        #expect(model.answers[late] == .failed(.shutDown))
        while !model.busy.isEmpty { finishOldest(&model) }
        if let busy {
            #expect(model.connections[busy] == nil, "a lent connection closes when it is returned")
        }
        #expect(model.machine.openCount == 0 && model.answers.count == Int(model.submitted))
    }

    @Test func aSteadyLoadUsesNoFurtherSlots() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 2))
        for _ in 0..<4 { model.submit(originA) }
        for id in model.dialing { model.connect(id) }
        for _ in 0..<500 {
            finishOldest(&model)
            model.submit(originA)
        }
        #expect(model.machine.slots.count == 2 && model.machine.waiters.entryCount <= 4)
    }
}
