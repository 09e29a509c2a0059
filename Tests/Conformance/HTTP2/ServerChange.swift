// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// GETs and POSTs, many at once and without a pause, to a server that is replaced under them again and again.
///
/// Every response names the server that made it (X-Server). The next replacement comes when the one before has answered, and each of
/// those who ask has begun and ended a request behind that: no request can meet more than two of them.
struct ServerChange {
    /// What became of the requests.
    struct Outcome: Sendable {
        /// The POSTs by the last part of their paths, each used once: what they failed with, or nil.
        var posts: [String: TransportError?] = [:]
        /// What GETs failed with.
        var failures: [TransportError] = []
        /// How many GETs were answered.
        var answered = 0
    }

    let client: HTTPClient
    let url: String
    /// What is fetched.
    let page: String
    /// What it says.
    let content: String

    private static let askers = 16

    /// Runs traffic until the server has been replaced so often. POSTs go to `/once/NAME`, which answers with the path.
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

/// Who has met which server.
private final class Rounds: Sendable {
    private struct State: Sendable {
        var servers: Set<String> = []
        /// How many servers have been met; a request belongs to the round that it begins in.
        var round = 0
        /// Who has not begun and ended a request in this round.
        var late: Set<Int> = []
        /// A server is expected that nobody has met.
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

    /// Opens when another server has been met, and everybody has made a request since.
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

    /// A request begins; nil when no more are wanted.
    func begin() -> Int? { state.withLock { $0.isOver ? nil : $0.round } }

    /// A request is over.
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
                // Where nobody answers any more there is nothing to wait for.
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
    /// Holds what became of the requests against how often the server has served each path of a POST.
    ///
    /// A GET is never lost. A POST is made once; or it fails, and the error says that the connection ended with no word of what was
    /// done. What a server has not worked on is sent again until one does: nobody meets more than two of them on their way out.
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
