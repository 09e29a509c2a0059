// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// A custom evaluator that blocks delays its own connection, and at most others with a custom evaluator.
@Suite struct HostileEvaluatorTests {
    /// An evaluator whose calls block until the test releases them.
    private final class Blocker: Sendable {
        let began = Gate()
        let calls = Box(0)
        private let release = DispatchSemaphore(value: 0)

        var trust: TrustEvaluator {
            .custom { [self] _, reply in
                #expect(EventLoop.current == nil)
                calls.update { $0 += 1 }
                began.open()
                release.wait()
                reply(.success(()))
            }
        }

        /// Releases one running call, or the next call.
        func releaseOne() { release.signal() }
    }

    /// Returns once `waiting` callouts wait for a thread, and `running` callouts run.
    private static func wait(_ stage: SecurePool, waiting: Int, running: Int) async {
        while stage.group.callouts.load != (waiting, running) { await Task.yield() }
    }

    private static func threadNames(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }.filter { $0.hasPrefix(prefix) }
    }

    // MARK: other connections

    @Test("[O-7] a request on the same loop is answered while an evaluator waits for it")
    func otherRequestsAreAnswered() async throws {
        let plain = try OriginServer.start()
        let blocker = Blocker()
        try await withSecureStack(
            settings: .with {
                $0.trust = blocker.trust
                $0.ownLoops = 1
            }
        ) { client, origin in
            let url = SecureStage.url(origin, "/get")
            async let secure = client.get(url).body.collect()
            await blocker.began.wait()
            let answer = try await client.get(plain.url + "/get")
            _ = try await answer.body.collect()
            #expect(answer.status.code == 200)
            blocker.releaseOne()
            _ = try await secure
            #expect(blocker.calls.value == 1)
        }
        await plain.shutdown()
    }

    @Test("[O-7] a request on the same loop is answered while the evaluator of a proxy waits")
    func otherRequestsAreAnsweredBesideAProxy() async throws {
        let plain = try OriginServer.start()
        let blocker = Blocker()
        let steps: [Script.Step] = [.expectHead, .reply("one"), .stall]
        try await withSecureStack(
            SecureStage.serving(["good"], ScriptPlan([Script(steps, on: .content)])),
            settings: .with {
                $0.proxyTrust = blocker.trust
                $0.ownLoops = 1
                $0.proxy = .url(
                    "https://good.test:\($0.overrides.keys.first?.port ?? 0)", except: "127.0.0.1")
            }
        ) { client, origin in
            async let proxied = client.get("http://far.test/").body.text()
            await blocker.began.wait()
            _ = try await client.get(plain.url + "/get").body.collect()
            blocker.releaseOne()
            let text = try await proxied
            #expect(text == "one")
        }
        await plain.shutdown()
    }

    @Test("names are looked up while every thread for evaluators is in use")
    func lookUpsContinue() async throws {
        let blocker = Blocker()
        try await withSecurePool(callouts: 1) { stage in
            let held = try stage.exchange(profile: SecurePool.profile(trust: blocker.trust))
            stage.pool.submit(held.exchange)
            await blocker.began.wait()
            let loop = stage.group.loops[0]
            let resolver = Resolver { _, _ throws(ResolutionError) in throw .nameNotFound }
            let answered = Gate()
            await loop.run { _ = resolver.lookUp("a.test", port: 1, on: loop) { _ in answered.open() } }
            await answered.wait()
            blocker.releaseOne()
            await held.sink.ended.wait()
            #expect(held.sink.failure == nil)
        }
    }

    // MARK: more evaluators than threads

    @Test("evaluators that find no thread wait until the handshake time-out")
    func waitingIsTimed() async throws {
        let clock = ManualClock()
        let (blockers, queuedBlockers) = ([Blocker(), Blocker()], [Blocker(), Blocker()])
        let setTimeout = { (dial: inout DialConfiguration) in dial.tlsHandshakeTimeout = .milliseconds(100) }
        try await withSecurePool(dial: setTimeout, clock: clock, callouts: 2) { stage in
            var sinks: [RecordingSink] = []
            for (index, blocker) in (blockers + queuedBlockers).enumerated() {
                let pair = try stage.exchange("/get", profile: SecurePool.profile(trust: blocker.trust))
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
                await Self.wait(stage, waiting: max(0, index - 1), running: min(2, index + 1))
            }
            clock.advance(by: .milliseconds(100))
            for sink in sinks {
                await sink.ended.wait()
                #expect(sink.failure?.isTimeOut(of: "good.test", .tlsHandshake) == true)
            }
            #expect(stage.group.callouts.load == (0, 2))
            for blocker in blockers { blocker.releaseOne() }
            // Their threads serve others again; evaluators that have waited too long are not called.
            let next = Blocker()
            next.releaseOne()
            let sink = try await stage.send(profile: SecurePool.profile(trust: next.trust))
            #expect(sink.failure == nil)
            #expect((blockers + queuedBlockers).map(\.calls.value) == [1, 1, 0, 0])
            #expect(sinks.allSatisfy { $0.log.value.ends == 1 })
        }
    }

    @Test("evaluators that wait get their turn in order")
    func waitingEnds() async throws {
        let order = Box<[Int]>([])
        let first = Blocker()
        try await withSecurePool(callouts: 1) { stage in
            let held = try stage.exchange("/get", profile: SecurePool.profile(trust: first.trust))
            stage.pool.submit(held.exchange)
            await first.began.wait()
            var sinks = [held.sink]
            for number in 0..<3 {
                let trust = TrustEvaluator.custom { _, reply in
                    order.update { $0.append(number) }
                    reply(.success(()))
                }
                let pair = try stage.exchange("/get", profile: SecurePool.profile(trust: trust))
                stage.pool.submit(pair.exchange)
                sinks.append(pair.sink)
                await Self.wait(stage, waiting: number + 1, running: 1)
            }
            first.releaseOne()
            for sink in sinks {
                await sink.ended.wait()
                #expect(sink.failure == nil)
            }
        }
        #expect(order.value == [0, 1, 2])
    }

    // MARK: cancellation

    @Test("an evaluator whose request is cancelled while it waits is never called")
    func cancelledWhileWaiting() async throws {
        let (first, second, third) = (Blocker(), Blocker(), Blocker())
        try await withSecurePool(callouts: 1) { stage in
            func begin(_ blocker: Blocker) throws -> (exchange: Exchange, sink: RecordingSink) {
                let pair = try stage.exchange("/get", profile: SecurePool.profile(trust: blocker.trust))
                stage.pool.submit(pair.exchange)
                return pair
            }
            let held = try begin(first)
            await first.began.wait()
            let cancelled = try begin(second)
            await Self.wait(stage, waiting: 1, running: 1)
            let last = try begin(third)
            await Self.wait(stage, waiting: 2, running: 1)
            cancelled.exchange.cancel(.cancelled)
            await cancelled.sink.ended.wait()
            #expect(cancelled.sink.failure == .cancelled)
            await Self.wait(stage, waiting: 1, running: 1)
            first.releaseOne()
            third.releaseOne()
            for pair in [held, last] {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == nil)
            }
            #expect([first, second, third].map(\.calls.value) == [1, 0, 1])
        }
    }

    @Test("a request that is cancelled while its evaluator runs ends once, and the reply is ignored")
    func cancelledWhileRunning() async throws {
        let (first, second) = (Blocker(), Blocker())
        try await withSecurePool(callouts: 1) { stage in
            let pair = try stage.exchange("/get", profile: SecurePool.profile(trust: first.trust))
            stage.pool.submit(pair.exchange)
            await first.began.wait()
            pair.exchange.cancel(.cancelled)
            await pair.sink.ended.wait()
            first.releaseOne()
            // Runs on the same thread, so after the answer that is no longer needed.
            second.releaseOne()
            let sink = try await stage.send(profile: SecurePool.profile(trust: second.trust))
            #expect(sink.failure == nil)
            #expect(pair.sink.failure == .cancelled && pair.sink.log.value.ends == 1)
            #expect(stage.origin.counts.requests == 1)
        }
    }

    @Test("profiles do not release an evaluator while they hold their lock")
    func profilesReleaseEvaluatorsOutsideOfTheirLock() {
        final class Token: Sendable {
            let profiles: TLSProfiles
            init(_ profiles: TLSProfiles) { self.profiles = profiles }
            deinit { _ = profiles.profile(TLSConfiguration(), trust: .disabled) }
        }
        let profiles = TLSProfiles(revocation: .none, limit: 1)
        for _ in 0..<3 {
            let token = Token(profiles)
            let trust = TrustEvaluator.custom { _, reply in
                _ = token
                reply(.success(()))
            }
            _ = profiles.profile(TLSConfiguration(), trust: trust)
        }
        _ = profiles.profile(TLSConfiguration(), trust: .default)
    }

    @Test("[O-7] objects that an evaluator captures are not released on a loop")
    func closureIsReleasedElsewhere() async throws {
        final class CapturedObject: Sendable {
            let ended: @Sendable (Bool) -> Void
            init(_ ended: @escaping @Sendable (Bool) -> Void) { self.ended = ended }
            deinit { ended(EventLoop.current != nil) }
        }
        let (releases, releaseEvents) = AsyncStream.makeStream(of: Bool.self)
        try await withSecurePool { stage in
            let captured = CapturedObject { releaseEvents.yield($0) }
            let trust = TrustEvaluator.custom { [captured] _, reply in
                withExtendedLifetime(captured) { reply(.success(())) }
            }
            let sink = try await stage.send("/get", profile: SecurePool.profile(trust: trust))
            #expect(sink.failure == nil)
        }
        // The idle connection has ended with its pool; it was the last owner of the profile.
        for await isOnLoop in releases {
            #expect(!isOnLoop)
            break
        }
    }

    // MARK: the end

    @Test("the first evaluator starts a thread, which ends with the group")
    func threadsEndWithTheGroup() async throws {
        let (running, waiting) = (Blocker(), Blocker())
        try await withSecurePool(callouts: 1, name: "evl-end") { stage in
            let profile = SecurePool.profile(trust: running.trust)
            #expect(try await stage.send(profile: SecurePool.profile()).failure == nil)
            #expect(try Self.threadNames("evl-end-ask").isEmpty)
            running.releaseOne()
            #expect(try await stage.send("/get", profile: profile).failure == nil)
            #expect(try Self.threadNames("evl-end-ask").count == 1)
            // One evaluator runs, the other waits for its thread.
            let pairs = try [running, waiting].map { blocker in
                try stage.exchange("/get", profile: SecurePool.profile(trust: blocker.trust))
            }
            for (index, pair) in pairs.enumerated() {
                stage.pool.submit(pair.exchange)
                await Self.wait(stage, waiting: index, running: 1)
            }
            let group = stage.group
            let end = Task { await group.shutdown() }
            // Only the shutdown waits for the program's code.
            for pair in pairs {
                await pair.sink.ended.wait()
                #expect(pair.sink.failure == .shutDown && pair.sink.log.value.ends == 1)
            }
            running.releaseOne()
            await end.value
            #expect(running.calls.value == 2 && waiting.calls.value == 0)
            // The kernel removes a thread from the list a moment after it wakes those who join it.
            while try !Self.threadNames("evl-end").isEmpty { await Task.yield() }
        }
    }

    @Test("a group with callouts ends, blocking or not", arguments: [true, false])
    func groupsEnd(_ blocks: Bool) async throws {
        let group = try EventLoopGroup(count: 2, name: "evl-two", callouts: 2)
        let (began, release) = (Gate(), DispatchSemaphore(value: 0))
        let done = Box(0)
        for _ in 0..<3 {
            try group.callouts.submit(group.callouts.newTicket()) {
                began.open()
                release.wait()
                done.update { $0 += 1 }
            }
        }
        await began.wait()
        for _ in 0..<3 { release.signal() }
        if blocks { group.shutdownAndWait() } else { await group.shutdown() }
        // Callouts that had not begun may have been dropped; those that had begun have finished.
        #expect((1...3).contains(done.value) && group.callouts.load == (0, 0))
        // After the end, nothing is called.
        let calls = done.value
        try group.callouts.submit(group.callouts.newTicket()) { done.update { $0 += 1 } }
        await group.shutdown()
        #expect(done.value == calls)
    }
}
