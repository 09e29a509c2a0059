// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// The number of dials that are made for exchanges that may all run on one connection.
struct SharedDialTests {
    let originA = Origin(scheme: .http, host: "a.test", port: 80)
    let originB = Origin(scheme: .https, host: "b.test", port: 443)
    let limits = PoolLimits(perHost: 6, total: 99)

    @Test("[H-12.3] exchanges that may share a connection wait for the first dial")
    func oneDialForAll() {
        var model = PoolModel(limits, versions: .http2)
        let exchanges = (0..<64).map { _ in model.submit(originA) }
        #expect(model.dialCount == 1)
        model.connect(model.dialing[0], capacity: 100)
        #expect(exchanges.allSatisfy { model.answers[$0] == .ran } && model.dialCount == 1)
    }

    @Test func theVersionsOfTheOriginDecide() {
        var model = PoolModel(limits, versions: [.http11, .http2])
        for _ in 0..<3 {
            model.submit(originA)
            model.submit(originB)
        }
        #expect(model.open(originA) == 3 && model.open(originB) == 1)
    }

    @Test("[H-12.3] the version that an origin chose is remembered after its connections have closed")
    func theChosenVersionIsRemembered() {
        var model = PoolModel(limits, versions: [.http11, .http2])
        func dialCount(_ capacity: Int) -> Int {
            let before = model.dialCount
            for _ in 0..<3 { model.submit(originB) }
            let dials = model.dialCount - before
            while let dial = model.dialing.first { model.connect(dial, capacity: capacity) }
            for connection in model.busy {
                for exchange in model.connections[connection]?.exchanges ?? [] {
                    model.finish(exchange, on: connection, .notReusable)
                }
            }
            model.dropIdle()
            #expect(model.machine.keyCount == 0 && model.waiting.isEmpty)
            return dials
        }
        #expect(dialCount(1) == 1, "the version is unknown")
        #expect(dialCount(1) == 3, "it chose HTTP/1.1")
        #expect(dialCount(100) == 3)
        #expect(dialCount(100) == 1, "it chose HTTP/2")
        #expect(dialCount(1) == 1)
        #expect(dialCount(1) == 3)
    }

    @Test("[H-12.3] one exchange alone, or over HTTP/1.1, waits for no other exchange's dial")
    func noExchangeWaitsWithoutNeed() {
        var model = PoolModel(limits, versions: .http2)
        model.submit(originA)
        #expect(model.wake == nil, "no timer for one exchange")
        var http11Model = PoolModel(limits)
        for _ in 0..<64 { http11Model.submit(originB) }
        #expect(http11Model.dialCount == 6 && http11Model.wake == nil)
    }

    @Test("[H-12.3] after 300 ms each waiting exchange gets a dial")
    func theFirstDialIsAwaitedFor300Milliseconds() {
        var model = PoolModel(limits, versions: .http2)
        model.submit(originA)
        model.advance(by: .milliseconds(100))
        for _ in 0..<3 { model.submit(originA) }
        #expect(model.wake == .zero + .milliseconds(300))
        model.advance(by: .milliseconds(199))
        #expect(model.dialCount == 1)
        model.advance(by: .milliseconds(1))
        #expect(model.dialCount == 4)
        model.submit(originA)
        #expect(model.dialCount == 5, "the first dial is not awaited again")
        model.connect(model.dialing[0], capacity: 100)
        #expect(model.waiting.isEmpty)
    }

    @Test func anExchangeSubmittedLaterDialsAtOnce() {
        var model = PoolModel(limits, versions: .http2)
        model.submit(originA)
        model.advance(by: .milliseconds(300))
        model.submit(originA)
        #expect(model.dialCount == 2 && model.wake == nil)
    }

    @Test("[H-12.3] after the first dial has failed, each remaining exchange gets a dial")
    func theFirstDialFails() {
        var model = PoolModel(limits, versions: .http2)
        let exchanges = (0..<64).map { _ in model.submit(originA) }
        model.failDial(model.dialing[0])
        #expect(model.answers == [exchanges[0]: .failed(.dialFailed)])
        #expect(model.dialing.count == 6)
        while let dial = model.dialing.first { model.failDial(dial) }
        #expect(model.answers.count == 64 && model.dialCount <= 13, "\(model.dialCount)")
    }

    @Test func aFailedDialFailsTheExchangesThatTheOtherDialHasNoRoomFor() {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<150 { model.submit(originA) }
        #expect(model.dialing.count == 2)
        model.failDial(model.dialing[1])
        #expect(model.answers.count == 50 && model.waiting.count == 100)
    }

    @Test("[H-12.3] an origin that has spoken HTTP/1.1 is dialed for each exchange")
    func theOriginSpeaksHTTP1() {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<4 { model.submit(originA) }
        model.connect(model.dialing[0])
        #expect(model.dialing.count == 3)
        for dial in model.dialing { model.connect(dial) }
        for _ in 0..<2 { model.submit(originA) }
        #expect(model.dialing.count == 2, "the version is known")
    }

    @Test func dialsToAnOriginThatSpeaksHTTP2AgainAreSharedAgain() {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<2 { model.submit(originA) }
        model.connect(model.dialing[0])
        model.connect(model.dialing[0], capacity: 2)
        for _ in 0..<6 { model.submit(originA) }
        #expect(model.dialing.count == 1)
    }

    @Test func asManyDialsAsTheWaitersNeed() {
        var model = PoolModel(limits, versions: .http2)
        model.submit(originA)
        let first = model.dialing[0]
        model.connect(first, capacity: 100)
        model.changeCapacity(of: first, to: 10)
        for _ in 0..<9 { model.submit(originA) }
        #expect(model.waiting.isEmpty)
        for _ in 0..<25 { model.submit(originA) }
        #expect(model.dialing.count == 3)
        for dial in model.dialing { model.connect(dial, capacity: 100) }
        #expect(model.waiting.isEmpty && model.dialCount == 4)
        for _ in 0..<500 { model.submit(originA) }
        #expect(model.open(originA) == 6)
    }

    @Test("[H-12.3] a claimed dial keeps no other exchange waiting")
    func aClaimedDialIsAwaitedByItsClaimantOnly() {
        var model = PoolModel(limits, versions: .http2)
        let exchanges = (0..<4).map { _ in model.submit(originA) }
        let dial = model.dialing[0]
        model.claim(dial)
        #expect(model.dialing.count == 4)
        model.connect(dial, capacity: 1)
        #expect(model.answers == [exchanges[0]: .ran])
    }

    @Test func aClaimedDialThatMayBeSharedServesAll() {
        var model = PoolModel(limits, versions: .http2)
        let exchanges = (0..<4).map { _ in model.submit(originA) }
        let dial = model.dialing[0]
        model.claim(dial)
        model.connect(dial, capacity: 100)
        #expect(exchanges.allSatisfy { model.answers[$0] == .ran })
    }

    /// The time-outs for connecting apply to all of the exchanges.
    @Test func aSharedDialCountsAsTheDialOfEachExchangeThatItMayServe() {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<4 { model.submit(originA) }
        #expect(model.waiting.keys.allSatisfy { model.machine.isDialed(for: $0) })
    }

    @Test func aDialForFreedRoomIsShared() {
        var model = PoolModel(PoolLimits(perHost: 2, total: 1), versions: .http2)
        model.submit(originB)
        model.connect(model.dialing[0], capacity: 1)
        for _ in 0..<4 { model.submit(originA) }
        model.advance(by: .milliseconds(500))
        if let exchange = model.connections[model.busy[0]]?.exchanges.first {
            model.finish(exchange, on: model.busy[0], .reusable(KeepAlive()))
        }
        #expect(model.open(originA) == 1 && model.wake == model.now + .milliseconds(300))
    }

    @Test func aSlowDialIsForgottenOnceItsWaitersAreCancelled() {
        var model = PoolModel(limits, versions: .http2)
        for _ in 0..<3 { model.submit(originA) }
        #expect(model.wake != nil)
        for waiter in model.waiting.keys { model.cancel(waiter) }
        model.advance(by: .milliseconds(300))
        model.submit(originA)
        model.connect(model.dialing[0], capacity: 100)
        #expect(model.dialCount == 1 && model.waiting.isEmpty)
    }
}
