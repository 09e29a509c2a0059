// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// When the kernel is asked to probe a silent connection: as soon as it is idle, or old enough to have been silent for long, and
/// not earlier. A fault injected on the loop's thread, for the next call that sets a socket option, shows it.
@Suite struct ProbeTests {
    /// A script that waits for the test before it answers.
    private static let plan = ScriptPlan(
        .expectHead, .signal("asked"), .waitForSignal("answer"), .reply(), .stall)

    /// Runs one exchange, plants the fault while the response is awaited, and returns whether the fault has been met at the end.
    private func isProbed(_ limits: PoolLimits = PoolLimits()) async throws -> Bool {
        // The clock stands still: however long the test takes, no connection becomes old.
        try await withPool(Self.plan, limits: limits, clock: ManualClock()) { stage in
            let (exchange, sink) = try stage.exchange()
            stage.pool.submit(exchange)
            await stage.origin.gate("asked").wait()
            let loop = stage.group.loops[0]
            await loop.run { SyscallFaults.inject([.noMemory], in: .setOption) }
            stage.origin.gate("answer").open()
            await sink.ended.wait()
            await stage.settle()
            #expect(sink.failure == nil)
            return await loop.run { SyscallFaults.removeUnused(.setOption) } == 0
        }
    }

    @Test func anIdleConnectionIsProbed() async throws { #expect(try await isProbed()) }

    @Test func aConnectionThatIsClosedSoonerIsNot() async throws {
        #expect(try await !isProbed(PoolLimits(maximumAge: .zero)))
    }

    /// A peer that is gone is noticed while a response is awaited, with a distant limit or with none.
    @Test(arguments: [nil, Interval.seconds(3600)])
    func aConnectionThatWaitsForLongIsProbed(_ limit: Interval?) async throws {
        let clock = ManualClock()
        try await withPool(Self.plan, clock: clock) { stage in
            let (exchange, sink) = try stage.exchange(
                options: ExchangeOptions(timeouts: TransferTimeouts(firstByte: limit)))
            stage.pool.submit(exchange)
            await stage.origin.gate("asked").wait()
            await stage.settle()
            let loop = stage.group.loops[0]
            await loop.run { SyscallFaults.inject([.noMemory], in: .setOption) }
            clock.advance(by: .seconds(29))
            loop.wake()
            await stage.settle()
            #expect(await loop.run { SyscallFaults.removeUnused(.setOption) } == 1, "it is too young")
            await loop.run { SyscallFaults.inject([.noMemory], in: .setOption) }
            clock.advance(by: .seconds(2))
            loop.wake()
            await stage.settle()
            #expect(await loop.run { SyscallFaults.removeUnused(.setOption) } == 0, "it is to be probed")
            // A connection that cannot be probed is used all the same.
            stage.origin.gate("answer").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && stage.pool.openCount == 1)
        }
    }

    /// Without a limit, only the probes would end a connect or handshake with a peer that is gone.
    @Test(arguments: [false, true]) func aDialWithoutLimitIsProbedFromItsBeginning(_ isLimited: Bool)
        async throws
    {
        let origin = try OriginServer.start()
        try await withLoop { loop in
            let left = Box<Int?>(nil)
            let done = Gate()
            await loop.run {
                var configuration = DialConfiguration()
                if !isLimited { configuration.tlsHandshakeTimeout = nil }
                let dialer = Dialer(
                    DialProgress(
                        to: Origin(scheme: .http, host: "127.0.0.1", port: origin.port), at: loop.now),
                    configuration: configuration,
                    resolver: Resolver(), loop: loop)
                dialer.start { outcome in
                    left.update { $0 = SyscallFaults.removeUnused(.setOption) }
                    if case .success(let dialed) = outcome {
                        loop.deregister(dialed.registration)
                        var channel = dialed.takeChannel()
                        channel?.close()
                    }
                    done.open()
                }
                SyscallFaults.inject([.noMemory], in: .setOption)
            }
            await done.wait()
            #expect(left.value == (isLimited ? 1 : 0))
        }
        await origin.shutdown()
    }

    /// Over TLS, the socket underneath is probed.
    @Test func aSecureConnectionIsProbedToo() async throws {
        let (near, _) = try connectedPair(.loopback)
        let wire = SocketWire(near.take(), isDrained: true)
        SyscallFaults.inject([.noMemory], in: .setOption)
        wire.setKeepAlive(KeepAliveProbes(idle: 60, interval: 15, count: 4))
        #expect(SyscallFaults.removeUnused(.setOption) == 0)
    }
}
