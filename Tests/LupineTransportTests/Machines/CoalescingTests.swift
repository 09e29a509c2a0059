// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@testable import LupineTransport

/// The exchanges for which the pool lends a connection to another origin (RFC 9113 §9.1.1).
struct CoalescingTests {
    private static func origin(_ host: String) -> Origin { Origin(scheme: .https, host: host, port: 443) }
    private let first = origin("a.test")
    private let second = origin("b.test")

    @Test("[H-12.13] a dial ends where another origin's connection does, and later requests need none")
    func theDialEnds() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let (exchange, dial) = try stage.dial(to: second)
        #expect(
            stage.handle(.coalesce(dial, onto: connection)) == [.run(exchange, on: connection, reused: true)])
        let dialing = stage.dialing(dial)
        #expect(dialing.isEmpty && stage.machine.openCount == 1)
        #expect(stage.machine.counts.map(\.origin) == [first])
        let next = stage.submit(to: second)
        #expect(next.actions == [.run(next.exchange, on: connection, reused: true)])
        // Three exchanges run on it, which is its capacity: the next one needs a connection of its own.
        _ = try stage.dial(to: second)
        #expect(stage.machine.openCount == 2)
        // The dial's identifier is no longer in use.
        #expect(stage.handle(.connected(dial, capacity: 3)) == [.close(dial, .unwanted)])
        #expect(stage.handle(.coalesce(dial, onto: connection)).isEmpty)
    }

    @Test("[H-12.13] an origin's own connection comes first")
    func ownConnections() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let dial = try stage.dial(to: second).dial
        _ = stage.handle(.coalesce(dial, onto: connection))
        let other = try stage.dial(to: second, needsFresh: true).dial
        _ = stage.handle(.connected(other, capacity: 3))
        let next = stage.submit(to: second)
        #expect(next.actions == [.run(next.exchange, on: other, reused: true)])
    }

    @Test("[H-12.13] many that wait for one dial are lent as much as there is room for; the others dial")
    func asMuchAsThereIsRoom() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let (exchange, dial) = try stage.dial(to: second)
        let others = (0..<2).map { _ in stage.submit(to: second).exchange }
        let actions = stage.handle(.coalesce(dial, onto: connection))
        #expect(
            actions.prefix(2) == [
                .run(exchange, on: connection, reused: true), .run(others[0], on: connection, reused: true),
            ])
        guard case .dial(let next, second, _)? = actions.last, actions.count == 3 else {
            Issue.record("\(actions)")
            return
        }
        // The connection is full: that dial continues.
        #expect(stage.handle(.coalesce(next, onto: connection)).isEmpty)
        let dialing = stage.dialing(next)
        #expect(dialing == [next])
        #expect(stage.handle(.connected(next, capacity: 3)) == [.run(others[1], on: next, reused: false)])
    }

    @Test("[H-12.13] a request that needs a fresh connection has one of its own")
    func freshOnes() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let (exchange, dial) = try stage.dial(to: second, needsFresh: true)
        #expect(stage.handle(.coalesce(dial, onto: connection)).isEmpty)
        #expect(stage.handle(.connected(dial, capacity: 3)) == [.run(exchange, on: dial, reused: false)])
    }

    @Test("[H-12.13] a dial that is tied to a request takes it along", arguments: [false, true])
    func claimedDials(needsFresh: Bool) throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let (exchange, dial) = try stage.dial(to: second, needsFresh: needsFresh)
        _ = stage.handle(.claim(dial))
        let actions = stage.handle(.coalesce(dial, onto: connection))
        #expect(actions == (needsFresh ? [] : [.run(exchange, on: connection, reused: true)]))
        let dialing = stage.dialing(dial)
        #expect(dialing == (needsFresh ? [dial] : []))
        // Has no effect, or ends the dial together with its request.
        _ = stage.handle(.cancelClaim(dial))
        #expect(stage.machine.openCount == 1)
    }

    @Test("[H-12.13] a dial to the same origin goes on")
    func ownDials() throws {
        var stage = MachineStage()
        let first = try stage.dial(to: self.first).dial
        _ = stage.handle(.claim(first))
        let (exchange, other) = try stage.dial(to: self.first)
        let actions = stage.handle(.connected(first, capacity: 3))
        #expect(actions.last == .run(exchange, on: first, reused: true))
        #expect(stage.handle(.coalesce(other, onto: first)).isEmpty)
        let dialing = stage.dialing(other)
        #expect(dialing == [other])
    }

    @Test(
        "[H-12.13] a connection that goes, ages or carries one exchange alone is lent to nobody else's request"
    )
    func connectionsThatAreNotLent() throws {
        var stage = MachineStage()
        let plain = try stage.connect(to: first, capacity: 1)
        _ = stage.handle(.finished(plain, .reusable(KeepAlive())))
        let dial = try stage.dial(to: second).dial
        #expect(stage.handle(.coalesce(dial, onto: plain)).isEmpty)
        let third = Self.origin("c.test")
        let connection = try stage.connect(to: third)
        _ = stage.handle(.finished(connection, .reusable(KeepAlive())))
        #expect(stage.handle(.coalesce(dial, onto: connection), at: .zero + .seconds(61)).isEmpty)
        _ = stage.handle(.retire(connection))
        #expect(stage.handle(.coalesce(dial, onto: connection)).isEmpty)
        let dialing = stage.dialing(dial)
        #expect(dialing == [dial])
    }

    @Test("[H-12.13] what a connection was lent to goes elsewhere when it ends, and nothing is left of it")
    func theEndOfAConnection() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        _ = stage.handle(.coalesce(try stage.dial(to: second).dial, onto: connection))
        #expect(stage.machine.keyCount == 2)
        _ = stage.handle(.retire(connection))
        let dial = try stage.dial(to: second).dial
        _ = stage.handle(.dialFailed(dial))
        #expect(stage.machine.keyCount == 2)
        _ = stage.handle(.lost(connection))
        #expect(stage.machine.keyCount == 0 && stage.machine.openCount == 0)
    }

    @Test("[H-12.13] so many origins at once share a connection, the last ones")
    func coalescedKeyLimit() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first, capacity: 100)
        let origins = (0...PoolMachine.coalescedKeyLimit).map { Self.origin("n\($0).test") }
        for origin in origins {
            let (exchange, dial) = try stage.dial(to: origin)
            #expect(
                stage.handle(.coalesce(dial, onto: connection)) == [
                    .run(exchange, on: connection, reused: true)
                ])
        }
        #expect(stage.machine.keyCount == PoolMachine.coalescedKeyLimit + 1)
        // The first one needs a dial again.
        _ = try stage.dial(to: origins[0])
        let last = stage.submit(to: origins[1])
        #expect(last.actions == [.run(last.exchange, on: connection, reused: true)])
    }

    @Test("[H-12.14] behind 421 an origin has connections of its own")
    func misdirected() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        let dial = try stage.dial(to: second).dial
        _ = stage.handle(.coalesce(dial, onto: connection))
        _ = stage.handle(.misdirected(second))
        #expect(stage.machine.keyCount == 1)
        let (exchange, next) = try stage.dial(to: second)
        #expect(stage.handle(.coalesce(next, onto: connection)).isEmpty)
        #expect(stage.handle(.connected(next, capacity: 3)) == [.run(exchange, on: next, reused: false)])
    }

    @Test("[H-12.13] only where nothing but the default evaluation stands between two origins may they share")
    func whoMayShare() {
        let profile = TLSProfile(TLSConfiguration(), trust: .default)
        func origin(
            _ scheme: Origin.Scheme = .https, unixPath: String? = nil, proxy: ProxyServer? = nil,
            under profile: TLSProfile?
        ) -> Origin {
            Origin(scheme: scheme, host: "a.test", port: 443, unixPath: unixPath, proxy: proxy, tls: profile)
        }
        #expect(origin(under: profile).mayCoalesce)
        #expect(!origin(.http, under: profile).mayCoalesce)
        #expect(!origin(unixPath: "/run/a.sock", under: profile).mayCoalesce)
        #expect(
            !origin(proxy: ProxyServer(kind: .http, host: "proxy.test", port: 3128), under: profile)
                .mayCoalesce)
        #expect(!origin(under: nil).mayCoalesce)
        for trust in [TrustEvaluator.disabled, .system(checksHost: false), .custom { $1(.success(())) }] {
            #expect(!origin(under: TLSProfile(TLSConfiguration(), trust: trust)).mayCoalesce)
        }
        let asking = TLSProfile(TLSConfiguration(), trust: .default, identitySource: { $3(nil) })
        #expect(!origin(under: asking).mayCoalesce)
    }

    @Test("[H-13.3] a web socket shares what its origin's requests share")
    func webSockets() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: first)
        _ = stage.handle(.coalesce(try stage.dial(to: second).dial, onto: connection))
        #expect(stage.webSocket(to: second) == nil)
        _ = stage.handle(.acceptsWebSockets(connection))
        #expect(stage.webSocket(to: second) == connection)
    }
}
