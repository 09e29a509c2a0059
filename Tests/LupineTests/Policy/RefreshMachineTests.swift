// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

extension RefreshMachine {
    /// Adapts a request, and passes `requiresRefresh` when the machine requests it.
    fileprivate mutating func adaptWithRequirement(_ adaptation: Adaptation, at now: Double) -> AdaptAction {
        let action = adapt(adaptation, at: now)
        guard case .readRequirement(let credential, let version) = action else { return action }
        return adapt(
            adaptation,
            requirement: RefreshRequirement(version: version, requiresRefresh: credential.requiresRefresh),
            at: now)
    }
}

/// Every transition of the machine of the authentication interceptor, without threads.
@Suite struct RefreshMachineTests {
    private struct Token: AuthenticationCredential {
        var name: String
        var requiresRefresh = false
    }

    private struct Refused: Error {}

    private typealias Machine = RefreshMachine<Token, String, String>

    private static func machine(
        _ token: Token? = Token(name: "a"), interval: Double = 30, attempts: Int? = 5
    ) -> Machine {
        Machine(credential: token, window: attempts.map { (interval, $0) })
    }

    private static let expired = Token(name: "old", requiresRefresh: true)

    /// Returns an action in a comparable form.
    private static func text(_ action: Machine.AdaptAction) -> String {
        switch action {
        case .apply(let token): "apply \(token.name)"
        case .readRequirement(let token, let version): "ask \(token.name) \(version)"
        case .fail(let error): "fail \(error)"
        case .wait: "wait"
        case .refresh(let token, _): "refresh \(token.name)"
        case .refuse(let waiting, let error):
            "refuse \(waiting.adaptations)\(waiting.retryCompletions) \(error)"
        }
    }

    private static func text(_ action: Machine.RejectAction) -> String {
        switch action {
        case .retry: "retry"
        case .fail(let error): "fail \(error)"
        case .wait: "wait"
        case .refresh(let token, _): "refresh \(token.name)"
        case .refuse(let waiting, let error):
            "refuse \(waiting.adaptations)\(waiting.retryCompletions) \(error)"
        }
    }

    @Test("[I-5.1] while adaptations wait for a refresh, further ones join them")
    func joins() {
        var machine = Self.machine(Self.expired)
        #expect(Self.text(machine.adaptWithRequirement("1", at: 0)) == "refresh old")
        #expect(Self.text(machine.adaptWithRequirement("2", at: 0)) == "wait")
        #expect(Self.text(machine.adaptWithRequirement("3", at: 0)) == "wait")
        let waiting = machine.finishRefresh(.success(Token(name: "new")), of: 0).requestsToContinue
        #expect(waiting.adaptations == ["1", "2", "3"] && waiting.retryCompletions == [])
        #expect(Self.text(machine.adaptWithRequirement("4", at: 0)) == "apply new")
    }

    @Test("[I-5.3] the requirement of a credential that was replaced meanwhile is ignored")
    func replacedWhileAsked() {
        var machine = Self.machine(Self.expired)
        #expect(Self.text(machine.adapt("1", at: 0)) == "ask old 0")
        machine.replace(by: Token(name: "new"))
        let requirement = Machine.RefreshRequirement(version: 0, requiresRefresh: true)
        #expect(Self.text(machine.adapt("1", requirement: requirement, at: 0)) == "ask new 1")
        let next = Machine.RefreshRequirement(version: 1, requiresRefresh: false)
        #expect(Self.text(machine.adapt("1", requirement: next, at: 0)) == "apply new")
    }

    @Test("[I-5.2] without a credential an adaptation fails")
    func missing() {
        var machine = Self.machine(nil)
        #expect(Self.text(machine.adaptWithRequirement("1", at: 0)) == "fail missingCredential")
    }

    @Test("[I-5.3] a failed refresh does not keep an expired credential from being refreshed again")
    func expiredAfterFailure() {
        var machine = Self.machine(Self.expired)
        #expect(Self.text(machine.adaptWithRequirement("1", at: 0)) == "refresh old")
        #expect(machine.finishRefresh(.failure(Refused()), of: 0).requestsToFail.adaptations == ["1"])
        #expect(Self.text(machine.adaptWithRequirement("2", at: 0)) == "refresh old")
    }

    @Test("[I-5.4] [I-5.15] late rejections fail with the refresh's error, until an adaptation succeeds")
    func lateRejections() {
        var machine = Self.machine()
        #expect(Self.text(machine.decideRetry(version: 0, completion: "1", at: 0)) == "refresh a")
        #expect(machine.finishRefresh(.failure(Refused()), of: 0).requestsToFail.retryCompletions == ["1"])
        #expect(Self.text(machine.decideRetry(version: 0, completion: "2", at: 0)) == "fail Refused()")
        #expect(Self.text(machine.decideRetry(version: 0, completion: "3", at: 0)) == "fail Refused()")
        #expect(Self.text(machine.adaptWithRequirement("4", at: 0)) == "apply a")
        #expect(Self.text(machine.decideRetry(version: 0, completion: "5", at: 0)) == "refresh a")
    }

    @Test("[I-5.5] a refresh started by a rejection delays no adaptation, even with an expired credential")
    func notHeldBack() {
        var machine = Self.machine(Self.expired)
        #expect(Self.text(machine.decideRetry(version: 0, completion: "1", at: 0)) == "refresh old")
        #expect(Self.text(machine.adaptWithRequirement("2", at: 0)) == "apply old")
        machine.replace(by: nil)
        #expect(Self.text(machine.adaptWithRequirement("3", at: 0)) == "fail missingCredential")
    }

    @Test("[I-5.10] the rejection of an older version is retried; of this version, waits or starts a refresh")
    func rejections() {
        var machine = Self.machine()
        machine.replace(by: Token(name: "b"))
        #expect(Self.text(machine.decideRetry(version: 0, completion: "1", at: 0)) == "retry")
        #expect(Self.text(machine.decideRetry(version: 1, completion: "2", at: 0)) == "refresh b")
        #expect(Self.text(machine.decideRetry(version: 1, completion: "3", at: 0)) == "wait")
        let waiting = machine.finishRefresh(.success(Token(name: "c")), of: 1).requestsToContinue
        #expect(waiting.retryCompletions == ["2", "3"] && machine.version == 2)
        #expect(Self.text(machine.decideRetry(version: 1, completion: "4", at: 0)) == "retry")
    }

    @Test("[I-5.11] refreshes that started within the window count, older ones do not")
    func window() {
        var machine = Self.machine(Self.expired, interval: 10, attempts: 2)
        for start in [0.0, 4] {
            #expect(Self.text(machine.adaptWithRequirement("x", at: start)) == "refresh old")
            let outcome = machine.finishRefresh(.success(Self.expired), of: machine.version)
            #expect(outcome.requestsToContinue.adaptations == ["x"])
        }
        #expect(Self.text(machine.adaptWithRequirement("y", at: 10)) == #"refuse ["y"][] excessiveRefresh"#)
        // The first refresh is exactly at the edge of the window, where it still counts; a moment later it does not.
        #expect(Self.text(machine.adaptWithRequirement("z", at: 10.5)) == "refresh old")
    }

    @Test("[I-5.11] a window of zero attempts refuses every refresh; without a window none is refused")
    func extremes() {
        var never = Self.machine(attempts: 0)
        let refusal = never.decideRetry(version: 0, completion: "1", at: 0)
        #expect(Self.text(refusal) == #"refuse []["1"] excessiveRefresh"#)
        #expect(Self.text(never.decideRetry(version: 0, completion: "2", at: 0)) == "fail excessiveRefresh")
        var always = Self.machine(Self.expired, attempts: nil)
        for turn in 0..<1_000 {
            #expect(Self.text(always.adaptWithRequirement("\(turn)", at: 0)) == "refresh old")
            _ = always.finishRefresh(.success(Self.expired), of: always.version)
        }
    }

    @Test(
        "[I-5.17] the result of refreshing a credential that was replaced is dropped",
        arguments: [Token(name: "set"), nil], [true, false])
    private func replacing(_ new: Token?, _ succeeds: Bool) {
        var machine = Self.machine(Self.expired)
        #expect(Self.text(machine.decideRetry(version: 0, completion: "1", at: 0)) == "refresh old")
        machine.replace(by: new)
        #expect(machine.version == 1)
        let late: Result<Token, any Error> = succeeds ? .success(Token(name: "late")) : .failure(Refused())
        let outcome = machine.finishRefresh(late, of: 0)
        #expect(outcome.requestsToContinue.retryCompletions == ["1"])
        #expect(outcome.requestsToFail.retryCompletions == [])
        #expect(machine.credential?.name == new?.name && machine.version == 1)
        let expected = new == nil ? "fail missingCredential" : "apply set"
        #expect(Self.text(machine.adaptWithRequirement("2", at: 0)) == expected)
        if new != nil {
            #expect(Self.text(machine.decideRetry(version: 1, completion: "3", at: 0)) == "refresh set")
        }
    }

    @Test(
        "[I-5.17] requests that waited for a dropped refresh wait for the running one",
        arguments: [true, false])
    func replacingWhileBothRun(_ succeeds: Bool) {
        var machine = Self.machine()
        #expect(Self.text(machine.decideRetry(version: 0, completion: "1", at: 0)) == "refresh a")
        machine.replace(by: Token(name: "set"))
        #expect(Self.text(machine.decideRetry(version: 1, completion: "3", at: 0)) == "refresh set")
        let late: Result<Token, any Error> = succeeds ? .success(Token(name: "late")) : .failure(Refused())
        let dropped = machine.finishRefresh(late, of: 0)
        #expect(dropped.requestsToContinue.retryCompletions == [])
        #expect(dropped.requestsToFail.retryCompletions == [])
        #expect(machine.credential?.name == "set")
        let outcome = machine.finishRefresh(.success(Token(name: "set+")), of: 1)
        #expect(outcome.requestsToContinue.retryCompletions == ["1", "3"])
        #expect(machine.credential?.name == "set+" && machine.version == 2)
    }
}
