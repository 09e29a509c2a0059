// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// A client of a `TaskDriver` in place of a task. It records the driver's calls, answers them with its closures, and checks that
/// calls do not overlap and that none follows the end.
final class RecordingClient: TaskDriverClient {
    typealias Challenged =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)?

    /// Closures that answer the driver's questions. If one returns nil, its question stays unanswered.
    struct Answers: Sendable {
        var redirect: @Sendable (HTTPURLResponse, URLRequest) -> URLRequest?? = { .some($1) }
        var challenge: Challenged = { _ in (.performDefaultHandling, nil) }
        var stream: @Sendable () -> BodyStream? = { nil }
        var caches: @Sendable (CachedURLResponse) -> CachedURLResponse?? = { .some($0) }
        var plan: @Sendable (URLResponse) -> HopPlan = { _ in .deliver }
        var received: @Sendable (Data) -> Demand = { _ in .more }
        /// Whether questions are answered asynchronously, on another thread.
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
    /// Removes and returns the reply closures of redirects that were not answered. They retain the driver, which retains this
    /// client.
    func takeRedirectReplies() -> [@Sendable (URLRequest?) -> Void] {
        state.withLock { state in
            defer { state.redirectReplies = [] }
            return state.redirectReplies
        }
    }
    /// Removes and returns the reply closures of proposed cached responses that were not answered.
    func takeCacheReplies() -> [@Sendable (CachedURLResponse?) -> Void] {
        state.withLock { state in
            defer { state.cacheReplies = [] }
            return state.cacheReplies
        }
    }

    /// Returns whether the driver has called this client on the current thread while `body` ran, which T-1 forbids.
    func isCalled(during body: () -> Void) -> Bool {
        let thread = ObjectIdentifier(Thread.current)
        watched.withLock { $0 = (thread, 0) }
        body()
        return watched.withLock { watched in
            defer { watched = nil }
            return (watched?.callCount ?? 0) > 0
        }
    }
    /// The thread that runs `isCalled(during:)`, and the number of calls on it.
    private let watched = Lock<(thread: ObjectIdentifier, callCount: Int)?>(nil)

    /// Waits until the log contains this entry.
    func wait(for entry: String) async {
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
        // A task stores its new current request without calling code of the program.
        if entry != "sends" {
            watched.withLock { watched in
                if watched?.thread == thread { watched?.callCount += 1 }
            }
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
