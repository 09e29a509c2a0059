// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

@Suite struct EventLoopTests {
    @Test func workRunsOnTheLoopInOrder() async throws {
        try await withLoop { loop in
            let seen = Box<[Int]>([])
            for number in 0..<1000 { #expect(loop.execute { seen.update { $0.append(number) } }) }
            #expect(await loop.run { loop.isOnLoop })
            #expect(seen.value == (0..<1000).map { $0 })
            #expect(!loop.isOnLoop)
        }
    }

    @Test func workFromManyThreadsArrives() async throws {
        try await withLoop { loop in
            let sum = Box(0)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<2000 { #expect(loop.execute { sum.update { $0 += 1 } }) }
                    }
                }
            }
            await loop.run {}
            #expect(sum.value == 16_000)
        }
    }

    @Test func inlineWorkRunsAtOnceOnTheLoopAndDeferredWorkAfterwards() async throws {
        try await withLoop { loop in
            let order = await loop.run { () -> [String] in
                let order = Box<[String]>([])
                loop.executeOnLoop { order.update { $0.append("deferred") } }
                _ = loop.executeInline { order.update { $0.append("inline") } }
                order.update { $0.append("after") }
                return order.value
            }
            #expect(order == ["inline", "after"])
        }
    }

    @Test func deferredWorkRunsEvenWhenNothingElseHappens() async throws {
        try await withLoop { loop in
            await withCheckedContinuation { continuation in
                let accepted = loop.execute {
                    loop.executeOnLoop { loop.executeOnLoop { continuation.resume() } }
                }
                #expect(accepted)
            }
        }
    }

    @Test func timersFollowTheClockAndCancelledOnesDoNotFire() async throws {
        let clock = ManualClock()
        try await withLoop(clock: clock) { loop in
            let fired = Box<[Int]>([])
            await loop.run {
                for number in [3, 1, 2] {
                    _ = loop.schedule(after: .seconds(number)) { reason in
                        #expect(reason == .due)
                        fired.update { $0.append(number) }
                    }
                }
                let cancelled = loop.schedule(after: .seconds(1)) { _ in fired.update { $0.append(99) } }
                #expect(loop.cancel(cancelled))
                #expect(!loop.cancel(cancelled))
            }
            clock.advance(by: .milliseconds(999))
            loop.wake()
            await loop.run {}
            await loop.run {}
            #expect(fired.value == [])
            clock.advance(by: .seconds(2))
            loop.wake()
            await loop.run {}
            await loop.run {}
            #expect(fired.value == [1, 2])
            clock.advance(by: .seconds(1))
            loop.wake()
            await loop.run {}
            await loop.run {}
            #expect(fired.value == [1, 2, 3])
        }
    }

    @Test("a timer that is set repeatedly for the present does not keep the loop from other work")
    func timersForNow() async throws {
        try await withLoop(clock: ManualClock()) { loop in
            let (rounds, seen) = (Box(0), Box(0))
            @Sendable func reschedule() {
                _ = loop.schedule(after: .zero) { reason in
                    rounds.update { $0 += 1 }
                    if reason == .due, rounds.value < 1_000 { reschedule() }
                }
            }
            await loop.run {
                reschedule()
                // Runs in the next turn, before its timers.
                #expect(loop.execute { seen.update { $0 = rounds.value } })
            }
            await loop.run {}
            #expect(seen.value == 1)
        }
    }

    @Test func aTimerOfTheRealClockEndsTheWait() async throws {
        try await withLoop { loop in
            let reason = await withCheckedContinuation { continuation in
                let accepted = loop.execute {
                    _ = loop.schedule(after: .milliseconds(3)) { continuation.resume(returning: $0) }
                }
                #expect(accepted)
            }
            #expect(reason == .due)
        }
    }

    /// Echoes until the peer closes, and reports the reason of the end.
    private final class Echo: LoopChannel {
        let loop: EventLoop
        var socket: Socket?
        var registration: Registration?
        var pending: [UInt8] = []
        var finished: ((String) -> Void)?

        init(_ socket: consuming Socket, _ loop: EventLoop, _ finished: @escaping (String) -> Void) throws {
            self.loop = loop
            self.socket = consume socket
            self.finished = finished
            switch self.socket {
            case .some(let socket): registration = try loop.register(socket.descriptor, self)
            case .none: break
            }
        }

        func channelReady(_ readiness: Readiness) {
            do throws(Errno) {
                while true {
                    guard try flush() else { return }
                    switch try read() {
                    case .bytes: continue
                    case .wouldBlock: return
                    case .end: return end("end")
                    }
                }
            } catch {
                end("\(error.name)")
            }
        }

        private func read() throws(Errno) -> ReadOutcome {
            switch socket {
            case .some(let socket):
                var outcome = ReadOutcome.wouldBlock
                pending = try [UInt8](capacity: 16384) { output throws(Errno) in
                    outcome = try socket.receive(into: &output)
                }
                return outcome
            case .none: return .end
            }
        }

        private func flush() throws(Errno) -> Bool {
            while !pending.isEmpty {
                switch socket {
                case .some(let socket):
                    guard case .bytes(let count) = try socket.send(pending.span) else { return false }
                    pending.removeFirst(count)
                case .none: return false
                }
            }
            return true
        }

        func loopWillClose() { end("closing") }

        private func end(_ endReason: String) {
            guard let registration else { return }
            loop.deregister(registration)
            self.registration = nil
            socket = nil
            finished?(endReason)
            finished = nil
        }
    }

    /// Sends a megabyte, half-closes, and compares the received bytes.
    @Test(
        arguments: [
            SocketAddress.loopback, .ipv6(.loopback, port: 0, zone: 0),
            .unixAbstract(name: Array("lupine-echo-test-\(UInt64.random(in: 0 ... .max))".utf8)),
        ])
    func aMegabyteIsEchoed(_ address: SocketAddress) async throws {
        try await withLoop { loop in
            let (clientEnd, handover) = try connectedPair(address)
            let client = clientEnd.take()
            let endReason = Box<String?>(nil)
            #expect(
                await loop.run {
                    (try? Echo(handover.take(), loop) { end in endReason.update { $0 = end } }) != nil
                })
            let message = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
            var sent = 0
            var received: [UInt8] = []
            var ended = false
            while !ended {
                if sent < message.count {
                    if case .bytes(let count) = try client.send(message.span.extracting(sent...)) {
                        sent += count
                        if sent == message.count { try client.shutdownWrite() }
                    }
                }
                let piece = try [UInt8](capacity: 65536) { output throws(Errno) in
                    if try client.receive(into: &output) == .end { ended = true }
                }
                received += piece
                if piece.isEmpty { await Task.yield() }
            }
            await loop.run {}
            #expect(received == message)
            #expect(endReason.value == "end")
        }
    }

    @Test func aResetIsReported() async throws {
        try await withLoop { loop in
            let (client, handover) = try connectedPair(.loopback)
            let reported: String = try await withCheckedThrowingContinuation { continuation in
                let accepted = loop.execute {
                    do {
                        _ = try Echo(handover.take(), loop) { continuation.resume(returning: $0) }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
                #expect(accepted)
                try? client.take().reset()
            }
            #expect(reported == "ECONNRESET")
        }
    }

    private final class Recorder: LoopChannel {
        var events = 0
        var closed = 0
        var onEvent: (() -> Void)?
        func channelReady(_ readiness: Readiness) {
            events += 1
            onEvent?()
        }
        func loopWillClose() { closed += 1 }
    }

    /// Two channels become ready in one wait. The first one called deregisters the other, whose slot is reused at once. The
    /// pending event must reach neither the old registration nor the new one.
    @Test func anEventOfAnEndedRegistrationIsDropped() async throws {
        try await withLoop { loop in
            let outcome = try await loop.run { () -> Result<[Int], Errno> in
                do throws(Errno) {
                    let wakeUp = try WakeUp()
                    let core = try LoopCore(
                        wakeUp: wakeUp, inbox: LoopInbox(wakeUp: wakeUp), access: LoopAccess(),
                        activity: LoopActivity(now: MonotonicClock().now()), clock: MonotonicClock(),
                        diagnose: { _ in })
                    let wakeUps = [try WakeUp(), try WakeUp()]
                    let channels = [Recorder(), Recorder()]
                    let replacement = Recorder()
                    var registrations: [Registration] = []
                    for (channelWakeUp, channel) in zip(wakeUps, channels) {
                        registrations.append(try core.register(channelWakeUp.descriptor.rawValue, channel))
                    }
                    let idleWakeUp = try WakeUp()
                    for index in 0..<2 {
                        channels[index].onEvent = {
                            channels[index].onEvent = nil
                            channels[1 - index].onEvent = nil
                            #expect(core.deregister(registrations[1 - index], closing: false))
                            let reused = try? core.register(idleWakeUp.descriptor.rawValue, replacement)
                            #expect(reused?.slot == registrations[1 - index].slot)
                            #expect(reused?.generation != registrations[1 - index].generation)
                            #expect(!core.deregister(registrations[1 - index], closing: false))
                        }
                    }
                    for channelWakeUp in wakeUps { channelWakeUp.signal() }
                    _ = core.turn(of: loop)
                    return .success([
                        channels[0].events + channels[1].events, replacement.events, core.registrationCount,
                    ])
                } catch {
                    return .failure(error)
                }
            }.get()
            #expect(outcome == [1, 0, 2])
        }
    }

    @Test func shutdownNotifiesChannelsAndTimersAndRunsAcceptedWork() async throws {
        let loop = try EventLoop.start(name: "test-shutdown")
        let (clientEnd, handover) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let reported = Box<[String]>([])
        await loop.run {
            _ = try? Echo(handover.take(), loop) { endReason in
                reported.update { $0.append("channel \(endReason)") }
            }
            _ = loop.schedule(after: .seconds(3600)) { reason in
                reported.update { $0.append("timer \(reason)") }
            }
            _ = loop.schedule(at: .distantFuture) { reason in reported.update { $0.append("timer \(reason)") }
            }
            loop.beginShutdown()
            // Work is still accepted, so it runs, as does the work that it submits.
            let accepted = loop.execute {
                reported.update { $0.append("work") }
                #expect(loop.execute { reported.update { $0.append("more work") } })
            }
            #expect(accepted)
        }
        async let first: Void = loop.shutdown()
        async let second: Void = loop.shutdown()
        _ = await (first, second)
        loop.shutdownAndWait()
        #expect(
            reported.value.sorted() == [
                "channel closing", "more work", "timer loopClosing", "timer loopClosing", "work",
            ])
        #expect(!loop.execute { Issue.record("ran after the end") })
        #expect(!loop.executeInline { Issue.record("ran after the end") })
        let received = try [UInt8](capacity: 1) { output throws(Errno) in
            let outcome = try client.receive(into: &output)
            #expect(outcome == .end, "the server's descriptor is closed")
        }
        #expect(received.isEmpty)
    }

    /// Threads submit work while the loop ends: each piece is either run or refused, never lost.
    @Test func workIsEitherRunOrRefusedWhileTheLoopEnds() async throws {
        for _ in 0..<10 {
            let loop = try EventLoop.start(name: "test-race")
            let ran = Box(0)
            let accepted = Box(0)
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        for attempt in 0..<3000 {
                            if attempt == 1000 { loop.beginShutdown() }
                            guard loop.execute({ ran.update { $0 += 1 } }) else { return }
                            accepted.update { $0 += 1 }
                        }
                    }
                }
            }
            await loop.shutdown()
            #expect(ran.value == accepted.value)
        }
    }

    @Test func groupsDistributeByLoad() async throws {
        let group = try EventLoopGroup(count: 3, name: "test-group")
        #expect(Set((0..<6).map { _ in ObjectIdentifier(group.next()) }).count == 3)
        let busy = group.loops[1]
        let channelWakeUp = try WakeUp()
        let recorder = LoopBound(sending: Recorder(), to: busy)
        #expect(await busy.run { (try? busy.register(channelWakeUp.descriptor, recorder.value)) != nil })
        #expect((0..<6).allSatisfy { _ in group.next() !== busy })
        await group.shutdown()
        #expect(!busy.execute {})
    }

    @Test func packedGroupsUseTheirFirstLoopUntilItIsBusy() async throws {
        let clock = ManualClock()
        let group = try EventLoopGroup(count: 2, name: "test-packed", sharing: .packed, clock: clock)
        #expect((0..<6).allSatisfy { _ in group.next() === group.loops[0] })
        // A turn that takes as long as a window, all of it work. It counts when the next wait is over.
        await group.loops[0].run { clock.advance(by: .milliseconds(10)) }
        await group.loops[0].run {}
        #expect(group.loops[0].isBusy(at: clock.now()))
        #expect((0..<6).allSatisfy { _ in group.next() === group.loops[1] })
        await group.shutdown()
    }

    @Test func packedGroupsUseTheNextLoopWhenTheFirstIsFull() async throws {
        let group = try EventLoopGroup(count: 2, name: "test-full", sharing: .packed)
        let first = group.loops[0]
        let recorder = LoopBound(sending: Recorder(), to: first)
        let wakeUps = try (0..<EventLoopGroup.packedConnections).map { _ in try WakeUp() }
        let areRegistered = await first.run {
            wakeUps.allSatisfy { (try? first.register($0.descriptor, recorder.value)) != nil }
        }
        #expect(areRegistered && first.load == EventLoopGroup.packedConnections)
        #expect((0..<6).allSatisfy { _ in group.next() === group.loops[1] })
        await group.shutdown()
    }

    @Test func theDefaultGroupIsShared() throws {
        let group = try EventLoopGroup.shared()
        #expect(try EventLoopGroup.shared() === group)
        #expect(group.loops.count == min(NativeThread.usableCores, 4))
    }

    @Test func startingALoopWithoutDescriptorsIsATypedError() {
        SyscallFaults.inject([.tooManyDescriptors], in: .epollCreate)
        #expect(throws: Errno.tooManyDescriptors) { _ = try EventLoop.start(name: "test-emfile") }
    }
}

extension SocketAddress {
    /// 127.0.0.1 with a port chosen by the kernel.
    static var loopback: SocketAddress { .ipv4(.loopback, port: 0) }
}
