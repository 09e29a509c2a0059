// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// A fetcher for tests that fetch nothing.
private struct NoFetcher: RevocationFetcher {
    func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] { throw .failed("nothing is fetched") }
}

/// The counts that a pool reports of its connections.
@Suite(.timeLimit(.minutes(10))) struct PoolCountsTests {
    @Test("[U-21.4] connections are idle or leased, and requests wait where there is no room")
    func idleLeasedWaiting() async throws {
        let observer = RecordingObserver()
        let plan = ScriptPlan([
            Script([.expectHead, .waitForSignal("go"), .reply("ok"), .expectHead, .reply("ok"), .stall])
        ])
        let settings = HTTPClient.Configuration.with {
            $0.connectionsPerHost = 2
            $0.transferObservers = [observer]
        }
        try await withStack(plan, settings: settings) { client, origin in
            #expect(client.poolCounts().isEmpty)
            let tasks = (0..<3).map { _ in
                Task { try await client.get(origin.url + "/").body.text() }
            }
            await observer.waitForEvents("start", 3)
            await observer.waitForEvents("lease", 2)
            // The start is reported before the pool has the request.
            while client.poolCounts().first?.waiting != 1 { await Task.yield() }
            let busy = try #require(client.poolCounts().first)
            #expect(client.poolCounts().count == 1)
            #expect((busy.idle, busy.leased, busy.dialing, busy.waiting) == (0, 2, 0, 1))
            #expect((busy.scheme, busy.host, busy.port) == ("http", "127.0.0.1", origin.port))
            #expect(busy.proxy == nil && busy.unixSocketPath == nil)
            origin.gate("go").open()
            for task in tasks {
                let text = try await task.value
                #expect(text == "ok")
            }
            await observer.waitForEnds(3)
            let idle = try #require(client.poolCounts().first)
            #expect((idle.idle, idle.leased, idle.dialing, idle.waiting) == (2, 0, 0, 0))
            await client.shutdown()
            #expect(client.poolCounts().isEmpty)
        }
    }

    @Test("[U-21.4] each origin is counted for itself, whatever TLS profiles it has")
    func origins() throws {
        let tls = TLSProfiles(
            revocation: RevocationSupport(
                fetcher: NoFetcher(), cache: SharedRevocationCache()))
        let profiles = [
            tls.profile(TLSConfiguration(), trust: .default),
            tls.profile(TLSConfiguration(), trust: .disabled),
        ]
        var machine = PoolMachine(limits: PoolLimits(perHost: 1))
        var actions: [PoolAction] = []
        var exchanges: UInt64 = 0
        func submit(_ origin: LupineTransport.Origin, _ count: Int) {
            for _ in 0..<count {
                exchanges += 1
                machine.handle(
                    .submit(ExchangeID(rawValue: exchanges), to: origin, needsFresh: false), at: .zero,
                    into: &actions)
            }
        }
        for profile in profiles {
            submit(Origin(scheme: .https, host: "b.test", port: 443, tls: profile), 2)
        }
        submit(Origin(scheme: .http, host: "a.test", port: 80), 1)
        let proxy = ProxyServer(
            kind: .http, host: "proxy.test", port: 3128, credentials: .init(user: [0x75], password: [0x70]))
        submit(Origin(scheme: .http, host: "a.test", port: 80, proxy: proxy), 1)
        let counts = PoolCounts.joined(machine.counts.map(PoolCounts.init))
        #expect(counts.map(\.host) == ["a.test", "a.test", "b.test"])
        #expect(counts.map(\.proxy) == [nil, "http://proxy.test:3128", nil])
        #expect(counts.map(\.dialing) == [1, 1, 2] && counts.map(\.waiting) == [1, 1, 4])
        // One connection is established, and carries the first exchange that waits.
        for case .dial(let connection, let origin, _) in actions
        where origin.scheme == .http && origin.proxy == nil {
            machine.handle(.connected(connection, capacity: 1), at: .zero, into: &actions)
        }
        let first = PoolCounts.joined(machine.counts.map(PoolCounts.init))[0]
        #expect((first.idle, first.leased, first.dialing, first.waiting) == (0, 1, 0, 0))
    }
}
