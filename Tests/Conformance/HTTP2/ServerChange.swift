// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// Concurrent GETs and POSTs without a pause, to a server that is replaced again and again.
///
/// Every response names the server that made it (X-Server). The next replacement waits until the last one has answered, and until
/// each asker has begun and ended a request after that: so no request meets more than two servers.
struct ServerChange {
    /// The results of the requests.
    struct Outcome: Sendable {
        /// The POSTs by the last part of their paths, each used once, with their errors, or nil.
        var posts: [String: TransportError?] = [:]
        /// The errors of GETs.
        var failures: [TransportError] = []
        /// The number of GETs that were answered.
        var answered = 0
    }

    let client: HTTPClient
    let url: String
    /// The path of the GETs.
    let page: String
    /// The content of that page.
    let content: String

    private static let askers = 16

    /// Sends requests until the server has been replaced `times` times. POSTs go to `/once/NAME`, which answers with the path.
    func run(times: Int, replace: () async throws -> Void) async throws -> Outcome {
        let rounds = Rounds(Self.askers)
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            for asker in 0..<Self.askers {
                group.addTask { await ask(asker, rounds) }
            }
            let result: Result<Void, any Error>
            do {
                await rounds.expected().wait()
                for _ in 0..<times where !rounds.isOver {
                    let met = rounds.expected()
                    try await replace()
                    await met.wait()
                }
                result = .success(())
            } catch { result = .failure(error) }
            rounds.end()
            let outcome = try await group.reduce(into: Outcome()) { sum, one in
                sum.posts.merge(one.posts) { first, _ in first }
                sum.failures += one.failures
                sum.answered += one.answered
            }
            try result.get()
            return outcome
        }
    }

    private func ask(_ asker: Int, _ rounds: Rounds) async -> Outcome {
        var outcome = Outcome()
        var step = 0
        while let round = rounds.begin() {
            let name = "\(asker)-\(step)"
            step += 1
            do throws(TransportError) {
                if asker.isMultiple(of: 2) {
                    let answer = try await text(.get, page, .none)
                    guard answer.text == content else { throw .content("a GET brought \(answer.text)") }
                    outcome.answered += 1
                    rounds.end(asker, of: round, server: answer.server)
                } else {
                    outcome.posts[name] = .some(nil)
                    let answer = try await text(.post, "/once/\(name)", .text("content of \(name)"))
                    guard answer.text == "/once/\(name)" else {
                        throw .content("a POST brought \(answer.text)")
                    }
                    rounds.end(asker, of: round, server: answer.server)
                }
            } catch {
                if asker.isMultiple(of: 2) {
                    outcome.failures.append(error)
                } else {
                    outcome.posts[name] = error
                }
                rounds.end(asker, of: round, server: nil)
            }
        }
        return outcome
    }

    private func text(
        _ method: LupineHTTP.Method, _ path: String, _ body: HTTPRequest.Body
    ) async throws(TransportError) -> (text: String, server: String?) {
        let response = try await client.send(
            try HTTPRequest(method: method, url: url + path, body: body))
        return (try await response.body.text(), (try? FieldName("X-Server")).flatMap { response.fields[$0] })
    }
}

/// Records which servers have answered, and which askers have made a request since.
private final class Rounds: Sendable {
    private struct State: Sendable {
        var servers: Set<String> = []
        /// The number of servers that have answered; a request belongs to the round that it begins in.
        var round = 0
        /// The askers that have not begun and ended a request in this round.
        var late: Set<Int> = []
        /// Whether a new server is expected to answer.
        var isExpecting = true
        var met = Gate()
        var failures = 0
        var isOver = false
    }

    private static let mostFailures = 500
    private let askers: Int
    private let state = Lock(State())

    init(_ askers: Int) { self.askers = askers }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Returns a gate that opens when a new server has answered, and each asker has made a request since.
    func expected() -> Gate {
        let gate = Gate()
        let isOver = state.withLock { state in
            state.isExpecting = true
            state.met = gate
            return state.isOver
        }
        if isOver { gate.open() }
        return gate
    }

    /// Begins a request: returns its round, or nil when no more are wanted.
    func begin() -> Int? { state.withLock { $0.isOver ? nil : $0.round } }

    /// Ends a request.
    func end(_ asker: Int, of round: Int, server: String?) {
        let gate = state.withLock { state -> Gate? in
            if let server {
                if state.servers.insert(server).inserted {
                    state.round += 1
                    state.late = Set(0..<askers)
                    state.isExpecting = false
                }
            } else {
                state.failures += 1
                // If no server answers any more, there is nothing to wait for.
                if state.failures > Self.mostFailures { state.isOver = true }
            }
            if round == state.round { state.late.remove(asker) }
            return state.isOver || (!state.isExpecting && state.late.isEmpty) ? state.met : nil
        }
        gate?.open()
    }

    func end() { state.withLock { $0.isOver = true } }
}

extension ServerChange.Outcome {
    /// Compares the results of the requests with the numbers of times that the server has handled each POST's path.
    ///
    /// A GET is never lost. A POST is handled once; or it fails with an error that leaves open whether the server handled it. A
    /// request that a server has not processed is sent again until one processes it: no request meets more than two servers that
    /// shut down.
    func expectNothingLost(served: [String: Int]) {
        #expect(failures.isEmpty)
        for (name, failure) in posts {
            let count = served[name] ?? 0
            switch failure {
            case nil: #expect(count == 1, "\(name) was answered and made \(count) times")
            case .connectionLost?, .http2(_, _, .goAway)?, .http(_, _, .truncated)?:
                #expect(count <= 1, "\(name) was made \(count) times")
            case let other?: Issue.record("\(name): \(other)")
            }
        }
        #expect(Set(served.keys).isSubset(of: posts.keys))
    }
}
