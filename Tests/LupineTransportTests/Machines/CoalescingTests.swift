// SPDX-License-Identifier: MIT

import LupineTLS
import Testing

@testable import LupineTransport

/// The exchanges for which the pool lends a connection to another origin (RFC 9113 §9.1.1).
struct CoalescingTests {
    private static func origin(_ host: String) -> Origin { Origin(scheme: .https, host: host, port: 443) }
    private let originA = origin("a.test")
    private let originB = origin("b.test")

    @Test("[H-12.13] another origin's connection replaces a dial and serves the later requests")
    func aConnectionReplacesTheDial() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let (exchange, dial) = try stage.dial(to: originB)
        #expect(
            stage.handle(.coalesce(dial, onto: connection)) == [.run(exchange, on: connection, reused: true)])
        let dialing = stage.dialing(dial)
        #expect(dialing.isEmpty && stage.machine.openCount == 1)
        #expect(stage.machine.counts.map(\.origin) == [originA])
        let next = stage.submit(to: originB)
        #expect(next.actions == [.run(next.exchange, on: connection, reused: true)])
        // Three exchanges fill the connection: the next one needs another connection.
        _ = try stage.dial(to: originB)
        #expect(stage.machine.openCount == 2)
        // The dial's identifier is no longer in use.
        #expect(stage.handle(.connected(dial, capacity: 3)) == [.close(dial, .unwanted)])
        #expect(stage.handle(.coalesce(dial, onto: connection)).isEmpty)
    }

    @Test("[H-12.13] a connection that was opened to the origin itself is preferred")
    func ownConnections() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let dial = try stage.dial(to: originB).dial
        _ = stage.handle(.coalesce(dial, onto: connection))
        let other = try stage.dial(to: originB, needsFresh: true).dial
        _ = stage.handle(.connected(other, capacity: 3))
        let next = stage.submit(to: originB)
        #expect(next.actions == [.run(next.exchange, on: other, reused: true)])
    }

    @Test(
        "[H-12.13] exchanges that wait for the dial run on the connection while it has room; the others dial")
    func exchangesBeyondTheCapacityDial() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let (exchange, dial) = try stage.dial(to: originB)
        let others = (0..<2).map { _ in stage.submit(to: originB).exchange }
        let actions = stage.handle(.coalesce(dial, onto: connection))
        #expect(
            actions.prefix(2) == [
                .run(exchange, on: connection, reused: true), .run(others[0], on: connection, reused: true),
            ])
        guard case .dial(let next, originB, _)? = actions.last, actions.count == 3 else {
            Issue.record("\(actions)")
            return
        }
        // The connection is full: that dial continues.
        #expect(stage.handle(.coalesce(next, onto: connection)).isEmpty)
        let dialing = stage.dialing(next)
        #expect(dialing == [next])
        #expect(stage.handle(.connected(next, capacity: 3)) == [.run(others[1], on: next, reused: false)])
    }

    @Test("[H-12.13] a request that needs a fresh connection does not run on another origin's")
    func freshConnections() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let (exchange, dial) = try stage.dial(to: originB, needsFresh: true)
        #expect(stage.handle(.coalesce(dial, onto: connection)).isEmpty)
        #expect(stage.handle(.connected(dial, capacity: 3)) == [.run(exchange, on: dial, reused: false)])
    }

    @Test(
        "[H-12.13] the request that has claimed a dial moves to the connection that replaces it",
        arguments: [false, true])
    func claimedDials(needsFresh: Bool) throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let (exchange, dial) = try stage.dial(to: originB, needsFresh: needsFresh)
        _ = stage.handle(.claim(dial))
        let actions = stage.handle(.coalesce(dial, onto: connection))
        #expect(actions == (needsFresh ? [] : [.run(exchange, on: connection, reused: true)]))
        let dialing = stage.dialing(dial)
        #expect(dialing == (needsFresh ? [dial] : []))
        // Has no effect after the move; otherwise it ends the dial together with its request.
        _ = stage.handle(.cancelClaim(dial))
        #expect(stage.machine.openCount == 1)
    }

    @Test("[H-12.13] a connection to the same origin replaces no dial")
    func ownDials() throws {
        var stage = MachineStage()
        let connection = try stage.dial(to: originA).dial
        _ = stage.handle(.claim(connection))
        let (exchange, other) = try stage.dial(to: originA)
        let actions = stage.handle(.connected(connection, capacity: 3))
        #expect(actions.last == .run(exchange, on: connection, reused: true))
        #expect(stage.handle(.coalesce(other, onto: connection)).isEmpty)
        let dialing = stage.dialing(other)
        #expect(dialing == [other])
    }

    @Test(
        "[H-12.13] a retiring or expired connection, or one of HTTP/1.1, is not lent to another origin"
    )
    func connectionsThatAreNotLent() throws {
        var stage = MachineStage()
        let plain = try stage.connect(to: originA, capacity: 1)
        _ = stage.handle(.finished(plain, .reusable(KeepAlive())))
        let dial = try stage.dial(to: originB).dial
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

    @Test("[H-12.13] other origins dial after the connection's retirement; its loss removes their keys")
    func theEndOfAConnection() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        _ = stage.handle(.coalesce(try stage.dial(to: originB).dial, onto: connection))
        #expect(stage.machine.keyCount == 2)
        _ = stage.handle(.retire(connection))
        let dial = try stage.dial(to: originB).dial
        _ = stage.handle(.dialFailed(dial))
        #expect(stage.machine.keyCount == 2)
        _ = stage.handle(.lost(connection))
        #expect(stage.machine.keyCount == 0 && stage.machine.openCount == 0)
    }

    @Test("[H-12.13] the number of origins that share a connection is limited; the latest ones stay")
    func coalescedKeyLimit() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA, capacity: 100)
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

    @Test("[H-12.14] after a 421 response an origin shares no connection")
    func misdirected() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        let dial = try stage.dial(to: originB).dial
        _ = stage.handle(.coalesce(dial, onto: connection))
        _ = stage.handle(.misdirected(originB))
        #expect(stage.machine.keyCount == 1)
        let (exchange, next) = try stage.dial(to: originB)
        #expect(stage.handle(.coalesce(next, onto: connection)).isEmpty)
        #expect(stage.handle(.connected(next, capacity: 3)) == [.run(exchange, on: next, reused: false)])
    }

    @Test("[H-12.13] origins share connections only under the default trust evaluation")
    func originsThatMayCoalesce() {
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
        let withIdentitySource = TLSProfile(TLSConfiguration(), trust: .default, identitySource: { $3(nil) })
        #expect(!origin(under: withIdentitySource).mayCoalesce)
    }

    @Test("[H-13.3] a WebSocket may use the connection that its origin's requests share")
    func webSockets() throws {
        var stage = MachineStage()
        let connection = try stage.connect(to: originA)
        _ = stage.handle(.coalesce(try stage.dial(to: originB).dial, onto: connection))
        #expect(stage.webSocket(to: originB) == nil)
        _ = stage.handle(.acceptsWebSockets(connection))
        #expect(stage.webSocket(to: originB) == connection)
    }
}
