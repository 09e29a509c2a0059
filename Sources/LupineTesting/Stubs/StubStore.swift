// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTransport

/// The implementation of `Stubs`. It answers the sessions without a reference to them. Can be used on any thread.
final class StubStore: Sendable {
    /// A closure of the program that answers a request.
    typealias Handler = @Sendable (TestRequest) async throws -> TestResponse

    private struct Stub: Sendable {
        let pattern: RequestPattern
        let times: StubTimes
        let handler: Handler
        /// The number of requests that it has answered.
        var count = 0

        var isUsedUp: Bool { times.most.map { count >= $0 } ?? false }
        var isMet: Bool { count >= times.least }
        var text: String {
            "\(pattern): expected \(times.text), was asked \(StubTimes.times(count))"
        }
    }

    private struct State {
        var stubs: [Stub] = []
        /// The messages of the errors with which requests failed.
        var failures: [String] = []
    }

    let log = RequestLog()
    let clock: ManualClock?
    private let isInOrder: Bool
    private let state = Lock(State())
    /// The cookie storage of its sessions, unless the program sets another one.
    private let cookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage

    init(inOrder: Bool, clock: ManualClock?) {
        isInOrder = inOrder
        self.clock = clock
    }

    func add(_ pattern: RequestPattern, _ times: StubTimes, _ handler: @escaping Handler) {
        state.withLock { $0.stubs.append(Stub(pattern: pattern, times: times, handler: handler)) }
    }

    /// Returns a new configuration whose sessions are answered by this object.
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
        let (unmet, failures) = state.withLock { state in
            (state.stubs.filter { !$0.isMet }.map(\.text), state.failures)
        }
        var parts = unmet.isEmpty ? [] : ["expectations that were not met:\n" + Self.indented(unmet)]
        parts += failures
        guard !parts.isEmpty else { return }
        throw .notMet(parts.joined(separator: "\n"))
    }

    // MARK: choosing

    /// Chooses the stub for a request. Returns its handler, and the request with the values of the names in braces.
    private func handler(
        for request: TestRequest
    ) throws(StubError) -> (handler: Handler, TestRequest) {
        // Compared outside the lock: patterns call the program's code, which may use this object.
        let candidates = state.withLock { $0.stubs.map(\.pattern) }
        let differences = candidates.map { $0.differences(from: request) }
        let outcome = state.withLock { state -> Result<Stub, StubError> in
            let matching = differences.indices.filter { differences[$0].isEmpty }
            guard let index = matching.first(where: { !state.stubs[$0].isUsedUp }) else {
                let usedUp = matching.map { state.stubs[$0].text }
                let text =
                    usedUp.isEmpty
                    ? Self.refusal(of: request, candidates, differences)
                    : Self.refusal(of: request, usedUp: usedUp)
                state.failures.append(text)
                return .failure(.noStub(text))
            }
            let earlier = state.stubs[..<index].filter { isInOrder && !$0.isMet }.map(\.text)
            guard earlier.isEmpty else {
                let text = "\(Self.text(of: request)) came before:\n" + Self.indented(earlier)
                state.failures.append(text)
                return .failure(.outOfOrder(text))
            }
            state.stubs[index].count += 1
            return .success(state.stubs[index])
        }
        let stub = try outcome.get()
        var matched = request
        matched.parameters = stub.pattern.parameters(of: request)
        return (stub.handler, matched)
    }

    private static func text(of request: TestRequest) -> String {
        "\(request.method) \(request.url.absoluteString)"
    }

    private static func indented(_ lines: [String]) -> String {
        lines.map { "  " + $0 }.joined(separator: "\n")
    }

    private static func refusal(of request: TestRequest, usedUp: [String]) -> String {
        "every stub for \(text(of: request)) is used up:\n" + indented(usedUp)
    }

    private static func refusal(
        of request: TestRequest, _ patterns: [RequestPattern], _ differences: [[StubDifference]]
    ) -> String {
        let distances = differences.map { $0.reduce(0) { $0 + $1.weight } }
        let nearest = distances.indices.min { distances[$0] < distances[$1] }
        guard let nearest else { return "no stub for \(text(of: request)): there are none" }
        return "no stub for \(text(of: request)); the nearest of \(patterns.count) is \(patterns[nearest]):\n"
            + indented(differences[nearest].flatMap(\.lines))
    }
}

extension StubStore: StubResponder {
    var hasStoredCookies: Bool { false }

    func answer(_ request: TestRequest, _ original: URLRequest, for urlProtocol: StubURLProtocol) async throws
        -> TestResponse
    {
        log.add(request)
        let (handler, matched) = try handler(for: request)
        return try await handler(matched)
    }
}
