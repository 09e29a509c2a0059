// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTransport

/// The implementation of `Stubs`: chooses the stub that answers a request. It has no reference to the sessions that it serves.
/// Can be used on any thread.
final class StubStore: Sendable {
    /// A closure of the program that answers a request.
    typealias Handler = @Sendable (TestRequest) async throws -> TestResponse

    private struct Stub: Sendable {
        let pattern: RequestPattern
        /// The expected number of requests.
        let times: StubTimes
        /// The closure that answers the requests.
        let handler: Handler
        /// The number of requests that the stub has answered.
        var count = 0

        /// Whether the stub has answered as many requests as it may.
        var isUsedUp: Bool { times.most.map { count >= $0 } ?? false }
        /// Whether the stub has answered as many requests as the test expects.
        var isMet: Bool { count >= times.least }
        /// The stub and its numbers of requests, as messages show them.
        var text: String {
            "\(pattern): expected \(times.text), was asked \(StubTimes.times(count))"
        }
    }

    private struct State {
        /// The stubs in the order in which they were added. No stub is ever removed.
        var stubs: [Stub] = []
        /// The messages of the errors with which requests failed.
        var failures: [String] = []
    }

    let log = RequestLog()
    /// The clock of the sessions; nil for the system clock.
    let clock: ManualClock?
    /// Whether an expectation may only be met after all those before it have been met.
    private let requiresOrder: Bool
    private let state = Lock(State())
    /// The cookie storage of its sessions, unless the program sets another one.
    private let cookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage

    init(inOrder requiresOrder: Bool, clock: ManualClock?) {
        self.requiresOrder = requiresOrder
        self.clock = clock
    }

    /// Adds a stub after the existing ones.
    func add(_ pattern: RequestPattern, _ times: StubTimes, _ handler: @escaping Handler) {
        state.withLock { $0.stubs.append(Stub(pattern: pattern, times: times, handler: handler)) }
    }

    /// Returns a new configuration for sessions whose requests this object answers.
    func configuration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.af.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = cookieStorage
        install(in: configuration)
        clock?.govern(configuration)
        return configuration
    }

    /// Throws an error that lists unmet expectations and failed requests.
    func verify() throws(StubError) {
        let (unmetStubs, failures) = state.withLock { state in
            (state.stubs.filter { !$0.isMet }.map(\.text), state.failures)
        }
        var problems: [String] = []
        if !unmetStubs.isEmpty {
            problems.append("expectations that were not met:\n" + Self.indented(unmetStubs))
        }
        problems += failures
        guard !problems.isEmpty else { return }
        throw .notMet(problems.joined(separator: "\n"))
    }

    // MARK: choosing

    /// Chooses the stub for a request, and counts the request for the stub. Returns the stub's handler, and the request with the
    /// values of the names in braces. If there is no stub, records that for `verify`, and throws.
    private func handler(
        for request: TestRequest
    ) throws(StubError) -> (handler: Handler, request: TestRequest) {
        // The patterns are compared without the lock: they call the program's code, which may use this object. Stubs are only
        // ever appended, so the indices remain valid.
        let candidates = state.withLock { $0.stubs.map(\.pattern) }
        let differences = candidates.map { $0.differences(from: request) }
        let outcome = state.withLock { state -> Result<Stub, StubError> in
            let matching = differences.indices.filter { differences[$0].isEmpty }
            guard let index = matching.first(where: { !state.stubs[$0].isUsedUp }) else {
                let usedUp = matching.map { state.stubs[$0].text }
                let message =
                    usedUp.isEmpty
                    ? Self.refusal(of: request, candidates, differences)
                    : Self.refusal(of: request, usedUp: usedUp)
                state.failures.append(message)
                return .failure(.noStub(message))
            }
            // The earlier expectations that are still to be met; none if the order does not matter.
            let earlier = state.stubs[..<index].filter { requiresOrder && !$0.isMet }.map(\.text)
            guard earlier.isEmpty else {
                let message = "\(Self.text(of: request)) came before:\n" + Self.indented(earlier)
                state.failures.append(message)
                return .failure(.outOfOrder(message))
            }
            state.stubs[index].count += 1
            return .success(state.stubs[index])
        }
        let stub = try outcome.get()
        var requestWithParameters = request
        requestWithParameters.parameters = stub.pattern.parameters(of: request)
        return (stub.handler, requestWithParameters)
    }

    /// Returns a request as messages show it.
    private static func text(of request: TestRequest) -> String {
        "\(request.method) \(request.url.absoluteString)"
    }

    /// Returns the lines as one text, each indented.
    private static func indented(_ lines: [String]) -> String {
        lines.map { "  " + $0 }.joined(separator: "\n")
    }

    /// Returns the message for a request whose matching stubs are all used up.
    private static func refusal(of request: TestRequest, usedUp: [String]) -> String {
        "every stub for \(text(of: request)) is used up:\n" + indented(usedUp)
    }

    /// Returns the message for a request that no stub matches: the differences to the nearest stub.
    private static func refusal(
        of request: TestRequest, _ patterns: [RequestPattern], _ differences: [[StubDifference]]
    ) -> String {
        // The distance of a stub is the sum of the weights of its differences.
        let distances = differences.map { $0.reduce(0) { $0 + $1.weight } }
        let nearest = distances.indices.min { distances[$0] < distances[$1] }
        guard let nearest else { return "no stub for \(text(of: request)): there are none" }
        return "no stub for \(text(of: request)); the nearest of \(patterns.count) is \(patterns[nearest]):\n"
            + indented(differences[nearest].flatMap(\.lines))
    }
}

extension StubStore: StubResponder {
    /// False: the protocol stores the cookies of the responses.
    var hasStoredCookies: Bool { false }

    func answer(_ request: TestRequest, _ original: URLRequest, for urlProtocol: StubURLProtocol) async throws
        -> TestResponse
    {
        log.add(request)
        let (handler, requestWithParameters) = try handler(for: request)
        return try await handler(requestWithParameters)
    }
}
