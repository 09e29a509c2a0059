// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// The unsent output of an upgraded connection whose peer has stopped sending, or can receive nothing.
@Suite struct UpgradeEndTests {
    /// The peer closes its side first, and reads everything afterwards.
    @Test func outputIsStillSentToAPeerThatHasHalfClosed() async throws {
        let count = 8_000_000
        let plan = ScriptPlan(
            .expectHead, .send(UpgradeTests.answer), .halfClose, .waitForSignal("read"),
            .expectBytes(count), .signal("all"), .expectEnd, .stall)
        try await withPool(plan, buffers: 131_072) { stage in
            let recording = RecordingUpgrade()
            let sink = RecordingSink(upgrade: { connection in
                _ = connection.send([UInt8](repeating: 1, count: count))
                return recording.handler
            })
            try await stage.send(.get, fields: [(.connection, "upgrade"), (.upgrade, "chat")], sink: sink)
            for _ in 0..<5 { await stage.settle() }
            stage.origin.gate("read").open()
            await stage.origin.gate("all").wait()
            await recording.ended.wait()
            #expect(recording.error.value == .some(nil))
        }
    }

    /// A handler that has paused reading is told of the reset only when it resumes; output that it sends meanwhile is not kept.
    @Test func outputForALostPeerIsNotKept() async throws {
        let plan = ScriptPlan(.expectHead, .send(UpgradeTests.answer + "x"), .signal("gone"), .reset)
        try await withPool(plan) { stage in
            let paused = PausedUpgrade()
            let sink = RecordingSink(upgrade: { paused.makeHandler($0) })
            try await stage.send(.get, fields: [(.connection, "upgrade"), (.upgrade, "chat")], sink: sink)
            await stage.origin.gate("gone").wait()
            while await paused.send(100_000, on: stage.group.loops[0]) != nil {}
            #expect(await paused.send(100_000, on: stage.group.loops[0]) == nil)
            await paused.resume(on: stage.group.loops[0])
            await paused.ended.wait()
        }
    }

    /// Over TLS, the record after the one being read may be broken, and then nothing can be sent. Whether both records are read
    /// together depends on the kernel, so the test tries several times.
    @Test func aFailedWriteDoesNotInterruptTheDelivery() async throws {
        for _ in 0..<20 {
            let events = try await Self.eventsWithABrokenRecord()
            if events == ["received a", "received b", "sent nothing", "closed"] { return }
            try #require(events == ["received a", "received b", "sent all but 0", "closed"])
        }
        Issue.record("the broken record was never read together with the one before it")
    }

    private static func eventsWithABrokenRecord() async throws -> [String] {
        let plan = ScriptPlan(
            .expectHead, .send(UpgradeTests.answer + "a"), .waitForSignal("paused"), .send("b"),
            .sendBeneathTLS([23, 3, 3, 0, 40] + [UInt8](repeating: 9, count: 40)), .signal("sent"), .stall)
        return try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let answering = AnsweringUpgrade()
            let sink = RecordingSink(upgrade: { answering.makeHandler($0) })
            try await stage.send(
                "/", fields: [(.connection, "upgrade"), (.upgrade, "chat")],
                profile: SecurePool.profile(), sink: sink)
            await answering.hasPaused.wait()
            stage.origin.gate("paused").open()
            await stage.origin.gate("sent").wait()
            await answering.resume(on: stage.group.loops[0])
            await answering.ended.wait()
            return answering.events.value
        }
    }
}

/// Pauses after the first byte, and sends a byte when it receives the second.
private final class AnsweringUpgrade: Sendable {
    let hasPaused = Gate()
    let ended = Gate()
    let events = Box<[String]>([])
    private let connection = Box<LoopBound<UpgradedConnection>?>(nil)

    func makeHandler(_ connection: UpgradedConnection) -> any UpgradeHandler {
        self.connection.update { $0 = LoopBound(connection, on: connection.loop) }
        return Handler(self)
    }

    func resume(on loop: EventLoop) async {
        let bound = connection.value
        await loop.run { bound?.value.resume() }
    }

    private final class Handler: UpgradeHandler {
        private let upgrade: AnsweringUpgrade

        init(_ upgrade: AnsweringUpgrade) { self.upgrade = upgrade }

        func received(_ bytes: Span<UInt8>) -> Demand {
            let isFirst = upgrade.events.value.isEmpty
            upgrade.events.update { $0.append("received " + String(decoding: [bytes[0]], as: UTF8.self)) }
            if isFirst {
                upgrade.hasPaused.open()
                return .pause
            }
            let waiting = upgrade.connection.value?.value.send([1])
            upgrade.events.update { $0.append("sent " + (waiting.map { "all but \($0)" } ?? "nothing")) }
            return .more
        }

        func drained() {}

        func closed(_ error: TransportError?) {
            upgrade.events.update { $0.append("closed") }
            upgrade.ended.open()
        }
    }
}

/// Receives one byte and pauses.
private final class PausedUpgrade: Sendable {
    let ended = Gate()
    private let connection = Box<LoopBound<UpgradedConnection>?>(nil)

    func makeHandler(_ connection: UpgradedConnection) -> any UpgradeHandler {
        self.connection.update { $0 = LoopBound(connection, on: connection.loop) }
        return Handler(ended)
    }

    func send(_ count: Int, on loop: EventLoop) async -> Int? {
        let bound = connection.value
        return await withCheckedContinuation { continuation in
            _ = loop.execute {
                continuation.resume(
                    returning: bound?.value.send([UInt8](repeating: 2, count: count)))
            }
        }
    }

    func resume(on loop: EventLoop) async {
        let bound = connection.value
        await loop.run { bound?.value.resume() }
    }

    private final class Handler: UpgradeHandler {
        private let ended: Gate

        init(_ ended: Gate) { self.ended = ended }

        func received(_ bytes: Span<UInt8>) -> Demand { .pause }
        func drained() {}
        func closed(_ error: TransportError?) { ended.open() }
    }
}
