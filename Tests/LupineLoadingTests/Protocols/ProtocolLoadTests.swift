// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of a hop that a protocol class of the program performs.
struct ProtocolLoadTests {
    /// A clock that only the test advances.
    final class StillClock: Sendable {
        private struct Alarm: Sendable {
            let at: Instant
            let ring: @Sendable () -> Void
        }

        private let now = LockedValue(Instant(nanoseconds: 0))
        private let alarms = LockedValue<[Int: Alarm]>([:])
        private let count = LockedValue(0)

        var clock: SessionClock {
            SessionClock(
                now: { [self] in now.value },
                alarm: { [self] at, ring in
                    count.update { $0 += 1 }
                    let number = count.value
                    alarms.update { $0[number] = Alarm(at: at, ring: ring) }
                    return { [self] in alarms.update { $0[number] = nil } }
                })
        }

        var isSet: Bool { !alarms.value.isEmpty }

        /// Advances the clock, and calls the alarms that are due.
        func advance(_ interval: Interval) {
            now.set(now.value + interval)
            let due = alarms.value.filter { $0.value.at <= now.value }
            for (number, alarm) in due {
                alarms.update { $0[number] = nil }
                alarm.ring()
            }
        }
    }

    static func load(
        _ host: String, _ witness: HopWitness, idle: Interval? = nil, _ clock: StillClock = StillClock()
    ) throws -> ProtocolLoad {
        let request = URLRequest(url: try #require(URL(string: "echo://\(host)/")))
        return ProtocolLoad(
            ScriptedProtocol.self, canonical: ScriptedProtocol.canonicalRequest(for: request),
            task: URLSessionTask(), idleTimeout: idle, clock: clock.clock, client: witness)
    }

    @Test("[U-17.4, U-17.5] a protocol's calls are reported in order; it is stopped once, also after success")
    func success() async throws {
        let (host, scenario) = ScriptedProtocol.register { loader in
            #expect(loader.request.value(forHTTPHeaderField: "X-Canonical") == "yes")
            loader.respond(policy: .allowedInMemoryOnly)
            loader.load("a")
            loader.load("")
            loader.load(String(repeating: "b", count: 100_000))
            loader.finish()
            loader.load("late")
            loader.fail(URLError(.badURL))
            loader.finish()
        }
        let witness = HopWitness()
        try Self.load(host, witness).start()
        let log = await witness.end()
        await scenario.stopped.wait()
        #expect(log.order == ["response", "data", "data", "data", "end"] && log.overlaps == 0)
        #expect(log.error == nil && log.policy == .allowedInMemoryOnly && log.body.count == 100_001)
        #expect(log.metrics?.fetchType == .unknown && log.metrics?.response === log.response)
        #expect(scenario.log.value == ["start", "stop"])
    }

    @Test("[U-17.5] the first end counts, on any thread")
    func firstEndWins() async throws {
        for round in 0..<20 {
            let (host, scenario) = ScriptedProtocol.register { loader in
                let loader = UncheckedSendable(loader)
                loader.value.respond()
                DispatchQueue.concurrentPerform(iterations: 8) { index in
                    loader.value.load("\(index)")
                    if index % 2 == round % 2 {
                        loader.value.finish()
                    } else {
                        loader.value.fail(URLError(.badURL))
                    }
                }
            }
            let witness = HopWitness()
            try Self.load(host, witness).start()
            let log = await witness.end()
            await scenario.stopped.wait()
            #expect(log.ends == 1 && log.overlaps == 0 && log.order.last == "end")
            #expect(scenario.log.value == ["start", "stop"])
        }
    }

    private struct OwnError: Error {}

    @Test("[U-17.5] a failure ends the load with its error")
    func failures() async throws {
        let errors: [any Error] = [URLError(.dataNotAllowed), OwnError()]
        for error in errors {
            let (host, _) = ScriptedProtocol.register { $0.fail(error) }
            let witness = HopWitness()
            try Self.load(host, witness).start()
            let log = await witness.end()
            #expect(log.order == ["end"])
            #expect(log.failure.map { type(of: $0) == type(of: error) } == true)
            #expect(log.error?.code == (error as? URLError)?.code)
        }
    }

    @Test("[U-17.5] finishing without a response is a success")
    func noResponse() async throws {
        let (host, _) = ScriptedProtocol.register { loader in
            loader.load("bytes")
            loader.finish()
        }
        let witness = HopWitness()
        try Self.load(host, witness).start()
        let log = await witness.end()
        #expect(log.order == ["data", "end"] && log.text == "bytes" && log.error == nil)
    }

    @Test("[U-17.4, U-17.7] a cancelled load stops its protocol once, and ignores its calls")
    func cancelled() async throws {
        let (host, scenario) = ScriptedProtocol.register { $0.respond() }
        let witness = HopWitness()
        let load = try Self.load(host, witness)
        load.start()
        await witness.responseReceived.wait()
        load.cancel(URLError(.cancelled))
        load.cancel(URLError(.timedOut))
        let log = await witness.end()
        await scenario.stopped.wait()
        #expect(log.order == ["response", "end"] && log.error?.code == .cancelled)
        #expect(scenario.log.value == ["start", "stop"])
        // Cancelled before its start: no protocol is created.
        let (other, unused) = ScriptedProtocol.register { $0.respond() }
        let early = HopWitness()
        let never = try Self.load(other, early)
        never.cancel(URLError(.cancelled))
        never.start()
        #expect(await early.end().order == ["end"])
        #expect(unused.log.value.isEmpty)
    }

    @Test("[U-17.6] a redirect is reported and holds later calls; skipping stops the protocol")
    func redirect() async throws {
        let target = URLRequest(url: try #require(URL(string: "http://elsewhere.test/")))
        let (host, scenario) = ScriptedProtocol.register { loader in
            guard let url = loader.request.url else { return }
            let response = URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            loader.client?.urlProtocol(loader, wasRedirectedTo: target, redirectResponse: response)
            loader.respond()
            loader.finish()
        }
        let witness = HopWitness()
        let load = try Self.load(host, witness)
        load.start()
        await witness.questionReceived.wait()
        await scenario.started.wait()
        #expect(witness.log.value.redirect == target && witness.log.value.order == ["redirect"])
        load.skip()
        let log = await witness.end()
        await scenario.stopped.wait()
        #expect(log.order == ["redirect", "end"] && log.error == nil)
        #expect(scenario.log.value == ["start", "stop"])
    }

    @Test("[U-17.6] a redirect after the response is ignored, and delays nothing")
    func lateRedirect() async throws {
        let target = URLRequest(url: try #require(URL(string: "http://elsewhere.test/")))
        let (host, _) = ScriptedProtocol.register { loader in
            guard let url = loader.request.url else { return }
            let response = URLResponse(
                url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            loader.respond()
            loader.client?.urlProtocol(loader, wasRedirectedTo: target, redirectResponse: response)
            loader.load("bytes")
            loader.finish()
        }
        let witness = HopWitness()
        try Self.load(host, witness).start()
        let log = await witness.end()
        #expect(log.order == ["response", "data", "end"] && log.text == "bytes" && log.redirect == nil)
    }

    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        let notes = LockedValue<[String]>([])
        let isCalled = Gate()
        private func note(_ text: String) {
            notes.update { $0.append(text) }
            isCalled.open()
        }
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
            note("use \(credential.user ?? "")")
        }
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { note("continue") }
        func cancel(_ challenge: URLAuthenticationChallenge) { note("cancel") }
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) { note("default") }
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { note("reject") }
    }

    static let answers: [(URLSession.AuthChallengeDisposition, URLCredential?, String)] = [
        (.useCredential, ChallengeScene.credential, "use Mufasa"), (.useCredential, nil, "continue"),
        (.performDefaultHandling, nil, "default"), (.cancelAuthenticationChallenge, nil, "cancel"),
        (.rejectProtectionSpace, nil, "reject"),
    ]

    @Test("[U-17.6] a challenge is answered through its sender", arguments: answers)
    func challenges(
        _ disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?, note: String
    ) async throws {
        let sender = Sender()
        let challenge = URLAuthenticationChallenge(
            protectionSpace: CredentialTests.space(), proposedCredential: nil, previousFailureCount: 0,
            failureResponse: nil, error: nil, sender: sender)
        let (host, _) = ScriptedProtocol.register { $0.client?.urlProtocol($0, didReceive: challenge) }
        let witness = HopWitness()
        let load = try Self.load(host, witness)
        load.start()
        await witness.questionReceived.wait()
        witness.log.value.reply?(disposition, credential)
        await sender.isCalled.wait()
        #expect(sender.notes.value == [note] && witness.log.value.challenge === challenge)
        load.cancel(URLError(.cancelled))
        _ = await witness.end()
    }

    @Test("[U-17.6] the answer to a withdrawn challenge is ignored")
    func withdrawn() async throws {
        let sender = Sender()
        let challenge = URLAuthenticationChallenge(
            protectionSpace: CredentialTests.space(), proposedCredential: nil, previousFailureCount: 0,
            failureResponse: nil, error: nil, sender: sender)
        let (host, scenario) = ScriptedProtocol.register { loader in
            loader.client?.urlProtocol(loader, didReceive: challenge)
            loader.client?.urlProtocol(loader, didCancel: challenge)
        }
        let witness = HopWitness()
        let load = try Self.load(host, witness)
        load.start()
        await scenario.started.wait()
        witness.log.value.reply?(.performDefaultHandling, nil)
        load.cancel(URLError(.cancelled))
        await scenario.stopped.wait()
        #expect(sender.notes.value.isEmpty)
    }

    @Test(
        "[U-17.7] the idle time-out runs while the protocol is silent, and not while a reply is awaited")
    func idleTimeout() async throws {
        let clock = StillClock()
        let (host, scenario) = ScriptedProtocol.register { $0.respond() }
        let witness = HopWitness()
        let load = try Self.load(host, witness, idle: .seconds(10), clock)
        load.start()
        await scenario.started.wait()
        clock.advance(.seconds(9))
        load.setSuspended(true)
        clock.advance(.seconds(100))
        load.setSuspended(false)
        clock.advance(.seconds(9))
        #expect(witness.log.value.ends == 0 && clock.isSet)
        clock.advance(.seconds(2))
        let log = await witness.end()
        await scenario.stopped.wait()
        #expect(log.error?.code == .timedOut && scenario.log.value == ["start", "stop"] && !clock.isSet)
    }

    @Test("[U-17.7] each call of a protocol restarts the idle time-out")
    func signsOfLife() async throws {
        let clock = StillClock()
        let isReported = Gate()
        let mayContinue = Gate()
        let (host, scenario) = ScriptedProtocol.register { loader in
            loader.respond()
            let loader = UncheckedSendable(loader)
            Task {
                await mayContinue.wait()
                loader.value.load("x")
                isReported.open()
            }
        }
        let witness = HopWitness()
        try Self.load(host, witness, idle: .seconds(10), clock).start()
        await scenario.started.wait()
        clock.advance(.seconds(8))
        mayContinue.open()
        await isReported.wait()
        clock.advance(.seconds(8))
        #expect(witness.log.value.ends == 0)
        clock.advance(.seconds(3))
        #expect(await witness.end().error?.code == .timedOut)
    }

    @Test func callsWhileTheClientIsPausedAreKept() async throws {
        let (host, scenario) = ScriptedProtocol.register { loader in
            loader.respond()
            for index in 0..<10 { loader.load("\(index)") }
            loader.finish()
        }
        let witness = HopWitness(demand: { _ in .pause })
        let load = try Self.load(host, witness)
        load.start()
        await scenario.started.wait()
        #expect(witness.log.value.pieces.count == 1)
        for _ in 0..<10 { load.resumeReading() }
        let log = await witness.end()
        #expect(log.text == "0123456789" && log.order.last == "end")
    }

    @Test func aValidCachedResponseIsDelivered() async throws {
        let (host, _) = ScriptedProtocol.register { loader in
            guard let url = loader.request.url else { return }
            let response = URLResponse(
                url: url, mimeType: "a/b", expectedContentLength: 3, textEncodingName: nil)
            let cached = CachedURLResponse(response: response, data: Data("old".utf8))
            loader.client?.urlProtocol(loader, cachedResponseIsValid: cached)
            loader.finish()
        }
        let witness = HopWitness()
        try Self.load(host, witness).start()
        let log = await witness.end()
        #expect(log.order == ["response", "data", "end"] && log.text == "old" && log.policy == .notAllowed)
    }

    @Test("[U-17.5] the content of a download is written to its file")
    func splices() async throws {
        try await FileLoadTests.withFolder { folder in
            let file = folder.appending(path: "copy")
            let target = FileTarget(try Descriptor.writing(path: file.path))
            let (host, _) = ScriptedProtocol.register { loader in
                loader.respond()
                for index in 0..<100 { loader.load("\(index),") }
                loader.finish()
            }
            let witness = HopWitness(plan: { _ in .splice(into: target) })
            try Self.load(host, witness).start()
            let log = await witness.end()
            let expected = (0..<100).map { "\($0)," }.joined()
            #expect(try String(contentsOf: file, encoding: .utf8) == expected)
            #expect(log.spliced == expected.utf8.count && log.pieces.isEmpty)
        }
    }
}
