// SPDX-License-Identifier: MIT

import Testing

@testable import LupineChaos

/// Tests of the checker: it reports nothing for correct observations, and each kind of violation.
struct ChaosCheckTests {
    /// Returns the first plan that meets the conditions.
    private static func plan(
        seed: UInt64 = 1, cancelled: Bool = false, over version: ChaosVersion = .http1,
        _ fits: (ChaosPlan) -> Bool
    ) throws -> ChaosPlan {
        let plans = (0..<50_000).lazy.map {
            ChaosPlan(seed: seed, number: $0, secure: false, over: version)
        }
        return try #require(plans.first { ($0.cancellation != .never) == cancelled && fits($0) })
    }

    /// Returns the observation of a request that succeeded at its last attempt.
    private static func good(_ plan: ChaosPlan, attempts: Int = 1) -> ChaosObservation {
        ChaosObservation(
            calls: Array(repeating: 1, count: plan.handlers), outcome: .whole, attempts: attempts,
            name: plan.trial(attempts - 1).name)
    }

    @Test("what ends as planned is right")
    func right() throws {
        let plan = try Self.plan { $0.misbehaviours[0] == .none }
        #expect(ChaosCheck.violations(plan, Self.good(plan)).isEmpty)
        let retried = try Self.plan { $0.misbehaviours[0] == .garbage && $0.misbehaviours[1] == .none }
        var seen = Self.good(retried, attempts: 2)
        seen.failures = [0: [.badResponse]]
        #expect(ChaosCheck.violations(retried, seen).isEmpty)
        let failing = try Self.plan { $0.misbehaviours.last == .lateHead && $0.misbehaviours.count == 1 }
        var late = Self.good(failing)
        late.outcome = .failure(.timedOut, "")
        late.name = nil
        #expect(ChaosCheck.violations(failing, late).isEmpty)
    }

    @Test(
        "each way of being wrong is found",
        arguments: [
            "a handler that is called twice", "a handler that is never called", "a handler too many",
            "another body", "a part of another body", "another request's response",
            "an earlier attempt's response", "no response", "more attempts than planned", "no attempt",
            "an error out of nothing", "an unexpected error", "a cancellation that nobody asked for",
            "an error on the way that was not planned",
        ])
    func wrong(_ way: String) throws {
        let plan = try Self.plan { $0.misbehaviours == [.none, .none, .none] && $0.number > 0 }
        var seen = Self.good(plan)
        switch way {
        case "a handler that is called twice": seen.calls[0] = 2
        case "a handler that is never called": seen.calls[0] = 0
        case "a handler too many": seen.calls.append(1)
        case "another body": seen.outcome = .wrong("3 octets")
        case "a part of another body": seen.wrongPart = "3 octets"
        case "another request's response": seen.name = "1/0/0"
        case "an earlier attempt's response": seen.attempts = 2
        case "no response": seen.name = nil
        case "more attempts than planned":
            seen.attempts = 4
            seen.name = plan.trial(3).name
        case "no attempt": seen.attempts = 0
        case "an error out of nothing": seen.outcome = .failure(.lost, "lost")
        case "an unexpected error": seen.outcome = .failure(.unexpected, "what?")
        case "a cancellation that nobody asked for": seen.outcome = .failure(.cancelled, "")
        default: seen.failures = [0: [.timedOut]]
        }
        #expect(!ChaosCheck.violations(plan, seen).isEmpty)
    }

    @Test("what has to fail and ends well is found, and so is the wrong error")
    func lies() throws {
        for misbehaviour in Misbehaviour.allCases where !misbehaviour.verdict.allowsSuccess {
            guard !misbehaviour.needsTLS else { continue }
            let plan = try Self.plan(over: misbehaviour.version ?? .http1) {
                $0.misbehaviours[0] == misbehaviour
            }
            #expect(!ChaosCheck.violations(plan, Self.good(plan)).isEmpty, "\(misbehaviour)")
            for failure in ChaosFailure.allCases where !misbehaviour.verdict.failures.contains(failure) {
                var seen = Self.good(plan)
                seen.name = nil
                seen.outcome = .failure(failure, "")
                #expect(!ChaosCheck.violations(plan, seen).isEmpty, "\(misbehaviour) \(failure)")
            }
        }
    }

    @Test("a request that gives up too early is found, if its retrier would have tried again")
    func gaveUp() throws {
        for (seed, isFound) in [(UInt64(1), true), (2, false)] {
            let plan = try Self.plan(seed: seed) {
                $0.misbehaviours[0] == .gzipCorrupt && $0.form.isRepeatable
            }
            var seen = Self.good(plan)
            seen.outcome = .failure(.corrupt, "")
            #expect(ChaosCheck.violations(plan, seen).isEmpty == !isFound)
        }
    }

    @Test("who asked for a cancellation may get it, or what was planned, and nothing else")
    func cancelled() throws {
        let plan = try Self.plan(cancelled: true) { $0.misbehaviours[0] == .none }
        var seen = Self.good(plan)
        #expect(ChaosCheck.violations(plan, seen).isEmpty)
        seen.outcome = .failure(.cancelled, "")
        #expect(ChaosCheck.violations(plan, seen).isEmpty)
        seen.outcome = .failure(.lost, "")
        #expect(!ChaosCheck.violations(plan, seen).isEmpty)
    }

    @Test("a POST that comes again is found, unless the origin had said that it did nothing about it")
    func repeated() {
        let log = TrialLog()
        func trial(_ form: ChaosForm, _ misbehaviour: Misbehaviour) -> ChaosTrial {
            ChaosTrial(
                seed: 1, number: 2, attempt: 0, misbehaviour: misbehaviour, form: form, size: 1, uploadSize: 1
            )
        }
        for form in [ChaosForm.post, .streamUpload, .upload] {
            for times in 0..<4 { #expect(log.record(trial(form, .streamRefused)) == (times == 0)) }
            #expect(log.record(trial(form, .refusedOnce)))
            #expect(!log.record(trial(form, .refusedOnce)))
            #expect(!log.record(trial(form, .none)))
            #expect(log.takeRepeated(seed: 1).isEmpty)
        }
        for misbehaviour in [Misbehaviour.none, .refusedOnce, .silentConnection] {
            for _ in 0..<3 { _ = log.record(trial(.post, misbehaviour)) }
            #expect(!log.takeRepeated(seed: 1).isEmpty, "\(misbehaviour)")
        }
        #expect(log.takeRepeated(seed: 1).isEmpty)
    }

    @Test("what a process has more than before is found")
    func leftovers() {
        let before = ProcessInventory(
            descriptors: ["socket:"], ownThreads: ["lupine-loop-0"], threads: 4, temporary: [])
        #expect(before.leftovers(since: before).isEmpty)
        for change in [\ProcessInventory.descriptors, \.ownThreads, \.temporary] {
            var after = before
            after[keyPath: change].append("one more")
            #expect(after.leftovers(since: before).count == 1)
        }
    }

    @Test("pieces go on, or begin anew; whatever stands elsewhere is found")
    func pieces() {
        let body = Array("abcdefghabc".utf8)
        func matched(_ pieces: String...) -> PieceMatcher {
            var matcher = PieceMatcher(body)
            for piece in pieces { matcher.add(Array(piece.utf8)) }
            return matcher
        }
        #expect(matched("abcdefghabc").isWhole)
        #expect(matched("abc", "", "defgh", "abc").isWhole)
        #expect(matched("abcd", "abcdefgh", "abc").isWhole)
        #expect(matched("abc", "abc", "defghabc").isWhole)
        for wrong in [matched(), matched("abcdefgh"), matched("abcdefghabc", "a")] { #expect(!wrong.isWhole) }
        for wrong in [matched("b"), matched("abc", "e"), matched("abcdefghabc", "d")] {
            #expect(wrong.wrongPiece != nil && !wrong.isWhole)
        }
    }
}
