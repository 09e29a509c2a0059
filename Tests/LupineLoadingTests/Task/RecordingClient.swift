// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// A test double of a task: it records its calls, answers with its closures, and checks that the calls come one at a time and
/// none after the end.
final class RecordingClient: TaskDriverClient {
    typealias Challenged =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)?

    /// The answers to questions; nil leaves a question unanswered.
    struct Answers: Sendable {
        var redirect: @Sendable (HTTPURLResponse, URLRequest) -> URLRequest?? = { .some($1) }
        var challenge: Challenged = { _ in (.performDefaultHandling, nil) }
        var stream: @Sendable () -> BodyStream? = { nil }
        var caches: @Sendable (CachedURLResponse) -> CachedURLResponse?? = { .some($0) }
        var plan: @Sendable (URLResponse) -> HopPlan = { _ in .deliver }
        var received: @Sendable (Data) -> Demand = { _ in .more }
        /// True if answers come later, from another thread.
        var isSlow = false
        /// The value of `driverDefersCallbacks`.
        var defersCallbacks = false
    }

    struct Notes: Sendable {
        var log: [String] = []
        var current: [URLRequest] = []
        var responses: [URLResponse] = []
        var data = Data()
        var pieces: [Int] = []
        var challenges: [URLAuthenticationChallenge] = []
        var proposals: [URLRequest] = []
        var offers: [CachedURLResponse] = []
        var failure: (any Error)?
        var metrics: URLSessionTaskMetrics?
        var ends = 0

        var error: URLError? { failure as? URLError }
    }

    private struct State: Sendable {
        var notes = Notes()
        var isBusy = false
        var waiting: [(String, CheckedContinuation<Void, Never>)] = []
        var redirectReplies: [@Sendable (URLRequest?) -> Void] = []
        var cacheReplies: [@Sendable (CachedURLResponse?) -> Void] = []
    }

    let driverTask = URLSessionTask()
    var driverIdentifier: Int? { nil }
    var driverDefersCallbacks: Bool { answers.defersCallbacks }
    private let answers: Answers
    private let state = Lock(State())

    init(_ answers: Answers = Answers()) { self.answers = answers }

    var notes: Notes { state.withLock { $0.notes } }
    var log: [String] { notes.log }
    /// Returns the replies of redirects that were not answered. They hold the driver, which holds this client.
    func takeRedirectReplies() -> [@Sendable (URLRequest?) -> Void] {
        state.withLock { state in
            defer { state.redirectReplies = [] }
            return state.redirectReplies
        }
    }
    /// Returns the replies of offers to the cache that were not answered.
    func takeCacheReplies() -> [@Sendable (CachedURLResponse?) -> Void] {
        state.withLock { state in
            defer { state.cacheReplies = [] }
            return state.cacheReplies
        }
    }

    /// Returns true if a call came on this thread while `body` ran: then the driver has called back inside (T-1).
    func hears(inside body: () -> Void) -> Bool {
        let thread = ObjectIdentifier(Thread.current)
        inside.withLock { $0 = (thread, 0) }
        body()
        return inside.withLock { inside in
            defer { inside = nil }
            return (inside?.1 ?? 0) > 0
        }
    }
    private let inside = Lock<(ObjectIdentifier, Int)?>(nil)

    /// Waits until this entry is in the log.
    func heard(_ entry: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.notes.log.contains(entry) { return true }
                state.waiting.append((entry, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func call<Result>(_ entry: String, _ body: () -> Result) -> Result {
        let thread = ObjectIdentifier(Thread.current)
        // A new current request is stored in the task, and calls no code of the program.
        if entry != "sends" {
            inside.withLock { if let found = $0, found.0 == thread { $0 = (thread, found.1 + 1) } }
        }
        let (isBusy, ends) = state.withLock { state in
            defer { state.isBusy = true }
            return (state.isBusy, state.notes.ends)
        }
        #expect(!isBusy, "\(entry) comes while another call has not returned")
        #expect(ends == 0, "\(entry) comes after the end")
        if entry == "end" { state.withLock { $0.notes.ends += 1 } }
        let result = body()
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.isBusy = false
            state.notes.log.append(entry)
            let ready = state.waiting.filter { $0.0 == entry }.map(\.1)
            state.waiting.removeAll { $0.0 == entry }
            return ready
        }
        for waiter in ready { waiter.resume() }
        return result
    }

    private func reply(_ body: @escaping @Sendable () -> Void) {
        if answers.isSlow { DispatchQueue.global().async(execute: body) } else { body() }
    }

    // MARK: TaskDriverClient

    var challengedTask: (any ServerTrustChallenger)? { nil }
    var driverJudges: [ObjectToken] { [] }

    func driverWillSend(_ request: URLRequest, authorization: String?) {
        call("sends") { state.withLock { $0.notes.current.append(request) } }
    }

    func driverWaitsForConnectivity() { call("waits") {} }

    func driverFollowsRedirect(_ request: URLRequest) {}
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void
    ) {
        call("redirect \(response.statusCode)") {
            state.withLock { $0.notes.proposals.append(request) }
            guard let answer = answers.redirect(response, request) else {
                return state.withLock { $0.redirectReplies.append(reply) }
            }
            self.reply { reply(answer) }
        }
    }

    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        call("challenge") {
            state.withLock { $0.notes.challenges.append(challenge) }
            guard let (disposition, credential) = answers.challenge(challenge) else { return }
            self.reply { reply(disposition, credential) }
        }
    }

    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) {
        call("stream") {
            let stream = answers.stream()
            self.reply { reply(stream) }
        }
    }

    func driverSent(total: Int64, expected: Int64) { call("sent \(total)") {} }
    func driverReceivedInterimResponse(_ response: HTTPURLResponse) { call("interim") {} }

    func driverReceivedResponse(_ response: URLResponse) -> HopPlan {
        let status = (response as? HTTPURLResponse)?.statusCode
        return call("response \(status ?? 0)") {
            state.withLock { $0.notes.responses.append(response) }
            return answers.plan(response)
        }
    }

    func driverReceivedContent(_ data: Data) -> Demand {
        call("data") {
            #expect(!data.isEmpty)
            state.withLock { state in
                state.notes.data.append(data)
                state.notes.pieces.append(data.count)
            }
            return answers.received(data)
        }
    }

    func driverSpliced(_ count: Int) -> Demand { call("spliced \(count)") { .more } }

    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        call("caches") {
            state.withLock { $0.notes.offers.append(proposal) }
            guard let answer = answers.caches(proposal) else {
                return state.withLock { $0.cacheReplies.append(reply) }
            }
            self.reply { reply(answer) }
        }
    }

    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler {
        preconditionFailure("no scripted hop leaves HTTP")
    }

    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        call("end") {
            state.withLock { state in
                state.notes.failure = error
                state.notes.metrics = metrics
            }
        }
    }
}
