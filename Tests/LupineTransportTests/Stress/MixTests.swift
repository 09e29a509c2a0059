// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Everything at once, in an order that a seed decides: from eight threads, against an origin that also resets, stalls and cuts
/// responses short. Each exchange ends once, with complete content or an error.
@Suite(.serialized, .timeLimit(.minutes(20))) struct MixTests {
    @Test func aMixOfEverythingEndsInOrder() async throws {
        try await withStressOrigin { origin in
            Self.misbehave(origin)
            var configuration = HTTPClient.Configuration()
            configuration.connectionsPerHost = 32
            configuration.ownLoops = 4
            configuration.redirectLimit = 3
            let client = HTTPClient(configuration: configuration)
            configuration.timeout = .milliseconds(20)
            let impatientClient = HTTPClient(configuration: configuration)
            let failures = await withTaskGroup(of: [String].self) { group in
                for thread in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: UInt64(thread))
                        var failures: [String] = []
                        for _ in 0..<StressSize.mixedExchanges / 8 / Self.width {
                            failures += await Self.burst(client, impatientClient, origin.url, &random)
                        }
                        return failures
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(failures.isEmpty, "\(failures.count): \(failures.prefix(5))")
            await client.shutdown()
            await impatientClient.shutdown()
        }
    }

    private static let width = 20

    private static func misbehave(_ origin: OriginServer) {
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        let plans: [(String, ScriptPlan)] = [
            ("/reset", ScriptPlan(.reset)), ("/close", ScriptPlan(.close)),
            ("/cut", ScriptPlan(.send(half + "short"), .close)),
            ("/broken", ScriptPlan(.send(half + "short"), .reset)),
            ("/nonsense", ScriptPlan(.send("HTTP/9.9 what\r\n\r\n"), .close)),
            ("/surplus", ScriptPlan(.send("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n"), .close)),
            ("/stall", ScriptPlan(.stall)),
        ]
        for (path, plan) in plans { origin.script(nil, path, plan) }
    }

    /// Sends some requests at the same time, and returns the failures.
    private static func burst(
        _ client: HTTPClient, _ impatientClient: HTTPClient, _ url: String, _ random: inout SeededRandom
    ) async -> [String] {
        let draws = (0..<width).map { _ in
            (kind: Int.random(in: 0..<12, using: &random), number: Int.random(in: 0..<50_000, using: &random))
        }
        return await withTaskGroup(of: String?.self) { group in
            for draw in draws {
                group.addTask {
                    do {
                        return try await sendOne(draw.kind, draw.number, client, impatientClient, url)
                    } catch { return "\(draw): \(error)" }
                }
            }
            var failures: [String] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return failures
        }
    }

    /// Sends one request of a kind; returns nil if it ended as that kind must.
    private static func sendOne(
        _ kind: Int, _ number: Int, _ client: HTTPClient, _ impatientClient: HTTPClient, _ url: String
    ) async throws -> String? {
        switch kind {
        case 0...3:
            return await ManyRequestsTests.fetch(number, client, url)
        case 4:
            let response = try await client.get("\(url)/redirect/\(1 + number % 3)")
            _ = try await response.body.collect()
            return response.status.code == 200 ? nil : "redirected to \(response.status)"
        case 5:
            return await failure(of: "redirect") {
                try await client.get("\(url)/redirect/4")
            } accepts: {
                if case .tooManyRedirects(limit: 3) = $0 { true } else { false }
            }
        case 6:
            return await failure(of: "stall") {
                try await impatientClient.get("\(url)/stall")
            } accepts: {
                if case .timedOut(_, _, .whole, _) = $0 { true } else { false }
            }
        case 7:
            return await cancelled {
                try await client.get("\(url)/stall")
            } after: {
                number % 40
            }
        case 8:
            return await cancelled {
                try await client.get("\(url)/infinite")
            } after: {
                number % 200
            }
        case 9:
            // Read so slowly that the connection pauses, and dropped before its end.
            let response = try await client.get("\(url)/bytes/2000000?seed=1")
            var seen = 0
            for try await piece in response.body {
                seen += piece.count
                for _ in 0..<number % 20 { await Task.yield() }
                if seen > 400_000 + number { break }
            }
            return seen > 400_000 ? nil : "a paused body ended after \(seen)"
        case 10:
            let path = ["/reset", "/close", "/cut", "/broken", "/nonsense"][number % 5]
            return await failure(of: path) {
                try await client.get(url + path)
            } accepts: {
                switch $0 {
                case .connectionLost, .http: true
                default: false
                }
            }
        default:
            let response = try await client.get("\(url)/surplus")
            return try await response.body.collect().isEmpty ? nil : "204 with a body"
        }
    }

    private static func failure(
        of name: String, _ send: () async throws -> HTTPResponse, accepts: (TransportError) -> Bool
    ) async -> String? {
        do {
            let response = try await send()
            let body = try await response.body.collect()
            return "\(name) was answered whole: \(response.status), \(body.count)"
        } catch let error as TransportError {
            return accepts(error) ? nil : "\(name): \(error)"
        } catch { return "\(name): \(error)" }
    }

    /// Cancels a task after `yieldCount` yields; it must end as cancelled.
    private static func cancelled(
        _ send: @escaping @Sendable () async throws -> HTTPResponse, after yieldCount: () -> Int
    ) async -> String? {
        let task = Task {
            let response = try await send()
            for try await _ in response.body {}
        }
        for _ in 0..<yieldCount() { await Task.yield() }
        task.cancel()
        do {
            try await task.value
            return "a cancelled request ended well"
        } catch let error as TransportError {
            return error == .cancelled ? nil : "cancelled: \(error)"
        } catch { return "cancelled: \(error)" }
    }
}
