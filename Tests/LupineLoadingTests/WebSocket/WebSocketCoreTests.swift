// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

/// The core of a WebSocket task, with a delegate queue that the test runs by hand.
struct WebSocketCoreTests {
    private struct Job: Sendable {
        let run: @Sendable () -> Void
    }

    /// The delegate queue: the jobs to run, in order.
    private final class Jobs: Sendable {
        private let waiting = Lock<[Job]>([])

        func add(_ run: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(Job(run: run)) } }

        func runAll() {
            while let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job.run() }
        }
    }

    /// Runs `body` on a loop, with a core whose delegate queue waits, and a log.
    private func withCore(
        _ body: @escaping @Sendable (WebSocketCore, Jobs, CallLog, EventLoop) -> Void
    ) async throws {
        let group = try EventLoopGroup(count: 1, name: "socket")
        let loop = group.loops[0]
        await withCheckedContinuation { continuation in
            let isTaken = loop.execute {
                let (core, jobs) = (WebSocketCore(), Jobs())
                core.setPoster { jobs.add($0) }
                body(core, jobs, CallLog(), loop)
                continuation.resume()
            }
            if !isTaken { continuation.resume() }
        }
        await group.shutdown()
    }

    private static func driver(for core: WebSocketCore, over wire: DeafWire = DeafWire())
        -> WebSocketDriver
    {
        WebSocketDriver(over: wire, WebSocketAgreement(), messageLimit: 1 << 20, owner: core)
    }

    @Test(
        "[U-8.4] a receiver added before the connection is open gets nothing before the delegate's call")
    func earlyReceiver() async throws {
        try await withCore { core, jobs, log, loop in
            core.receive { result in log.add((try? result.get()) == nil ? "failed" : "message") }
            core.open(Self.driver(for: core), on: loop) { jobs.add { log.add("open") } }
            _ = core.webSocketReceived(WebSocketMessage(.text, [0x61]))
            jobs.runAll()
            #expect(log.entries == ["open", "message"])
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
        }
    }

    @Test(
        "[U-8.4] messages that wait for the connection are sent in order, and yield to other jobs of the loop"
    )
    func manySends() async throws {
        let group = try EventLoopGroup(count: 1, name: "socket")
        let loop = group.loops[0]
        let (core, jobs, heard) = (WebSocketCore(), Jobs(), LockedValue<[Int]>([]))
        core.setPoster { jobs.add($0) }
        for index in 0..<5_000 {
            core.send(WebSocketMessage(.binary, [UInt8(truncatingIfNeeded: index)])) { error in
                if error == nil { heard.update { $0.append(index) } }
            }
        }
        let (steps, step) = AsyncStream<Int>.makeStream()
        _ = loop.execute {
            let wire = DeafWire()
            loop.executeOnLoop { step.yield(wire.sent) }
            wire.expectedCount = 5_000
            wire.onExpectedCount = { step.finish() }
            core.open(Self.driver(for: core, over: wire), on: loop) {}
        }
        var before: [Int] = []
        for await count in steps { before.append(count) }
        #expect(before.count == 1 && before.allSatisfy { 1...TurnAllowance.steps ~= $0 }, "\(before)")
        // The completion of the last message is queued after its write.
        await withCheckedContinuation { continuation in _ = loop.execute { continuation.resume() } }
        jobs.runAll()
        #expect(heard.value == Array(0..<5_000))
        core.abort(URLError.cancelled(url: nil))
        jobs.runAll()
        await group.shutdown()
    }

    @Test("[U-8.4] a message that arrived before the end is received after it")
    func messageBeforeEnd() async throws {
        try await withCore { core, jobs, log, loop in
            for _ in 0..<2 {
                core.receive { result in log.add((try? result.get()) == nil ? "failed" : "message") }
            }
            core.open(Self.driver(for: core), on: loop) { jobs.add { log.add("open") } }
            _ = core.webSocketReceived(WebSocketMessage(.text, [0x61]))
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
            #expect(log.entries == ["open", "message", "failed"])
        }
    }

    @Test("[U-8.9] the connection can be closed in the delegate's didOpen")
    func closeWhenOpen() async throws {
        try await withCore { core, jobs, log, loop in
            #expect(!core.close(.goingAway, reason: nil), "there is nothing to close")
            core.open(Self.driver(for: core), on: loop) {
                log.add(core.close(.goingAway, reason: nil) ? "closes" : "cannot")
            }
            #expect(log.entries == ["closes"])
            // `DeafWire` reports nothing, so the test ends the conversation.
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
        }
    }

    @Test(
        "many messages pause reading even if a receiver waits, because the delegate queue may be busy",
        arguments: [(2, 600 << 10), (256, 1)])
    func busyQueue(_ count: Int, _ length: Int) async throws {
        try await withCore { core, jobs, log, loop in
            core.open(Self.driver(for: core), on: loop) {}
            for _ in 0..<count { core.receive { _ in log.add("message") } }
            let message = WebSocketMessage(.binary, [UInt8](repeating: 0, count: length))
            for number in 1...count {
                #expect(core.webSocketReceived(message) == (number == count ? .pause : .more))
            }
            jobs.runAll()
            #expect(log.entries.count == count)
            #expect(core.webSocketReceived(WebSocketMessage(.binary, [0])) == .more)
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
        }
    }

    @Test("held messages wait, and pause reading when they are many")
    func withheld() async throws {
        try await withCore { core, jobs, log, loop in
            core.open(Self.driver(for: core), on: loop) {}
            core.holdMessages(true, decision: 1)
            for _ in 0..<2 {
                core.receive { result in log.add((try? result.get()) == nil ? "failed" : "message") }
            }
            let large = WebSocketMessage(.binary, [UInt8](repeating: 0, count: 600 << 10))
            #expect(core.webSocketReceived(large) == .more)
            #expect(core.webSocketReceived(large) == .pause, "although somebody waits for it")
            jobs.runAll()
            #expect(log.entries.isEmpty)
            core.holdMessages(false, decision: 2)
            jobs.runAll()
            #expect(log.entries == ["message", "message"])
            // An earlier decision that comes late changes nothing.
            core.holdMessages(true, decision: 1)
            core.receive { result in log.add((try? result.get()) == nil ? "failed" : "message") }
            _ = core.webSocketReceived(WebSocketMessage(.text, [0x61]))
            jobs.runAll()
            #expect(log.entries == ["message", "message", "message"])
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
        }
    }

    @Test("[U-8.4] held messages are received at the end, followed by the end")
    func withheldToTheEnd() async throws {
        try await withCore { core, jobs, log, loop in
            core.setEndHandler { _ in log.add("ended") }
            core.open(Self.driver(for: core), on: loop) {}
            core.holdMessages(true, decision: 1)
            Self.receive(core, 3, log)
            for _ in 0..<2 { _ = core.webSocketReceived(WebSocketMessage(.text, [0x61])) }
            jobs.runAll()
            #expect(log.entries.isEmpty)
            core.webSocketEnded(.lost, nil)
            jobs.runAll()
            #expect(log.entries == ["message", "message", "failed", "ended"])
        }
    }

    /// Receives this many messages, each after the one before has come.
    private static func receive(_ core: WebSocketCore, _ left: Int, _ log: CallLog) {
        guard left > 0 else { return }
        core.receive { result in
            log.add((try? result.get()) == nil ? "failed" : "message")
            receive(core, left - 1, log)
        }
    }

    @Test("[U-6.4] a suspended connection is closed when its task ends")
    func heldToTheEnd() async throws {
        let closed = CallLog()
        try await withCore { core, jobs, _, loop in
            let wire = DeafWire()
            core.open(Self.driver(for: core, over: wire), on: loop) {}
            core.setSuspended(true)
            let seen = LoopBound(wire, on: loop)
            // Each job runs after those that the core has submitted to the loop.
            _ = loop.execute {
                core.abort(URLError(.cancelled))
                jobs.runAll()
                _ = loop.execute { closed.add("\(seen.value.isClosed)") }
            }
        }
        #expect(closed.entries == ["true"])
    }

    @Test("[U-8.9] a close frame is sent although the task is suspended")
    func closedWhenHeld() async throws {
        let sent = CallLog()
        try await withCore { core, jobs, _, loop in
            let wire = DeafWire()
            core.open(Self.driver(for: core, over: wire), on: loop) {}
            core.setSuspended(true)
            let seen = LoopBound(wire, on: loop)
            _ = loop.execute {
                #expect(core.close(.goingAway, reason: nil))
                _ = loop.execute {
                    sent.add("\(seen.value.sent)")
                    core.abort(URLError(.cancelled))
                    jobs.runAll()
                }
            }
        }
        #expect(sent.entries == ["1"])
    }

    @Test("a connection after the end is not announced")
    func tooLate() async throws {
        try await withCore { core, jobs, log, loop in
            core.abort(URLError(.cancelled))
            core.open(Self.driver(for: core), on: loop) { log.add("open") }
            jobs.runAll()
            #expect(log.entries.isEmpty)
        }
    }
}

/// A wire that accepts everything and reports nothing.
private final class DeafWire: WebSocketWire {
    private(set) var isClosed = false
    private(set) var sent = 0
    /// The number of messages after which `onAll` is called.
    var expectedCount = Int.max
    var onExpectedCount: (() -> Void)?

    var isLate: Bool { false }

    func send(_ bytes: [UInt8]) -> Int? {
        sent += 1
        if sent == expectedCount { onExpectedCount?() }
        return 0
    }
    func runInNextTurn(_ step: @escaping () -> Void) {}
    func resume() {}
    func close() { isClosed = true }
    func startTimer(_ body: @escaping () -> Void) {}
    func cancelTimer() {}
}
