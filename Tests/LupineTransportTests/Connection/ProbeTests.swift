// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// The kernel is asked to probe a connection (SO_KEEPALIVE) as soon as the connection is idle, or has been silent for long, and
/// not earlier. A fault injected into the loop thread's next call of `setsockopt` shows whether the call was made.
@Suite struct ProbeTests {
    /// A script that waits for the test before it answers.
    private static let plan = ScriptPlan(
        .expectHead, .signal("asked"), .waitForSignal("answer"), .reply(), .stall)

    /// Runs one exchange, injects the fault while the response is awaited, and returns whether the fault has been used.
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

    @Test func aConnectionThatIsClosedInsteadIsNotProbed() async throws {
        #expect(try await !isProbed(PoolLimits(maximumAge: .zero)))
    }

    /// The probes detect a lost peer while a response is awaited, with a distant time-out or with none.
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
            #expect(
                await loop.run { SyscallFaults.removeUnused(.setOption) } == 1,
                "the connection is not old enough")
            await loop.run { SyscallFaults.inject([.noMemory], in: .setOption) }
            clock.advance(by: .seconds(2))
            loop.wake()
            await stage.settle()
            #expect(
                await loop.run { SyscallFaults.removeUnused(.setOption) } == 0,
                "the connection was not probed")
            // A connection whose option could not be set is still used.
            stage.origin.gate("answer").open()
            await sink.ended.wait()
            #expect(sink.failure == nil && stage.pool.openCount == 1)
        }
    }

    /// Without a time-out, only the probes would end a connect or handshake with a lost peer.
    @Test(arguments: [false, true]) func aDialWithoutLimitIsProbedFromItsBeginning(_ isLimited: Bool)
        async throws
    {
        let origin = try OriginServer.start()
        try await withLoop { loop in
            let unusedFaults = Box<Int?>(nil)
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
                    unusedFaults.update { $0 = SyscallFaults.removeUnused(.setOption) }
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
            #expect(unusedFaults.value == (isLimited ? 1 : 0))
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
