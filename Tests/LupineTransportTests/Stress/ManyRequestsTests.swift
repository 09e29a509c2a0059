// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import LupineTransport
import Synchronization
import Testing

/// Many requests at once: each is answered completely, with its own body, over no more connections than allowed.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ManyRequestsTests {
    @Test func tenThousandRequestsThroughSixtyFourConnections() async throws {
        try await withStressOrigin { origin in
            var configuration = HTTPClient.Configuration()
            configuration.connectionsPerHost = 64
            configuration.ownLoops = 4
            let client = HTTPClient(configuration: configuration)
            let failures = await withTaskGroup(of: String?.self) { group in
                for index in 0..<StressSize.requests {
                    group.addTask {
                        await Self.fetch(index, client, origin.url)
                    }
                }
                var failures: [String] = []
                for await failure in group { if let failure { failures.append(failure) } }
                return failures
            }
            #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(5))")
            #expect(origin.counts.requests == StressSize.requests)
            #expect(client.connectionsOpened == 64)
            #expect(origin.counts.connectionsAccepted == 64)
            await client.shutdown()
            await origin.waitUntilEmpty()
        }
    }

    /// Sends one request with its own size and framing; returns a description of the failure, or nil.
    static func fetch(_ index: Int, _ client: HTTPClient, _ url: String) async -> String? {
        let seed = UInt64(index)
        let count = [0, 1, 100, 1_460, 5_000, 20_000, 70_000][index % 7] + index % 13
        let expected = CheckSum(seed: seed, count: count)
        do {
            let body: HTTPRequest.Body
            switch index % 4 {
            case 0:
                let response = try await client.get("\(url)/bytes/\(count)?seed=\(seed)")
                return try await verdict(index, CheckSum(response.body.collect()) == expected)
            case 1:
                let size = 1 + index % 4_000
                let response = try await client.get(
                    "\(url)/stream-bytes/\(count)?seed=\(seed)&chunk_size=\(size)")
                var sum = CheckSum()
                for try await piece in response.body { sum.update(piece.span) }
                return verdict(index, sum == expected)
            case 2: body = .bytes(CheckSum.octets(seed: seed, count: count))
            default: body = pieces(of: CheckSum.octets(seed: seed, count: count), index % 3 == 0)
            }
            let response = try await client.send(
                try HTTPRequest(method: .post, url: "\(url)/sum", body: body))
            return try await verdict(index, response.body.text() == String(expected.value))
        } catch {
            return "\(index): \(error)"
        }
    }

    static func pieces(of octets: [UInt8], _ hasLength: Bool) -> HTTPRequest.Body {
        let offset = Box(0)
        return .stream(length: hasLength ? Int64(octets.count) : nil) {
            let start = offset.value
            guard start < octets.count else { return nil }
            let end = min(octets.count, start + 7_001)
            offset.update { $0 = end }
            return Array(octets[start..<end])
        }
    }

    private static func verdict(_ index: Int, _ isCorrect: Bool) -> String? {
        isCorrect ? nil : "\(index): the body is not what was sent"
    }

    @Test func twoThousandConnectionsAtOnce() async throws {
        try DescriptorLimit.raise()
        let wanted = StressSize.connections
        try await withStressOrigin { origin in
            let all = origin.gate("all")
            let hold = HoldRoute(wanted, all)
            origin.route("GET", "/hold/{n}") { request throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array(request.parameters[0].utf8))
                hold.arrive()
                response.gate = all
                return response
            }
            var configuration = HTTPClient.Configuration()
            configuration.connectionsPerHost = wanted
            configuration.totalConnections = wanted
            configuration.ownLoops = 4
            let client = HTTPClient(configuration: configuration)
            let failures = await withTaskGroup(of: String?.self) { group in
                for index in 0..<wanted {
                    group.addTask {
                        do {
                            let response = try await client.get("\(origin.url)/hold/\(index)")
                            let text = try await response.body.text()
                            return text == String(index) ? nil : "\(index): \(text)"
                        } catch { return "\(index): \(error)" }
                    }
                }
                var failures: [String] = []
                for await failure in group { if let failure { failures.append(failure) } }
                return failures
            }
            #expect(failures.isEmpty, "\(failures.count) failed: \(failures.prefix(5))")
            #expect(client.connectionsOpened == wanted)
            #expect(origin.counts.connectionsAccepted == wanted)
            #expect(origin.counts.connectionsOpen == wanted)
            await client.shutdown()
            await origin.waitUntilEmpty()
        }
    }
}

/// Opens a gate when `count` requests have arrived.
final class HoldRoute: Sendable {
    private let missing: Atomic<Int>
    private let gate: Gate

    init(_ count: Int, _ gate: Gate) {
        missing = Atomic(count)
        self.gate = gate
    }

    func arrive() {
        if missing.subtract(1, ordering: .relaxed).newValue == 0 { gate.open() }
    }
}

/// The limit of the process for descriptors.
enum DescriptorLimit {
    /// Raises the soft limit as far as the hard one allows.
    static func raise() throws {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        try #require(unsafe getrlimit(resource, &limit) == 0)
        limit.rlim_cur = limit.rlim_max
        try #require(unsafe setrlimit(resource, &limit) == 0)
    }
}
