// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// Fetching revocation lists and OCSP responses, and the responses that are refused.
@Suite struct RevocationClientTests {
    private func withClient(
        _ plan: ScriptPlan? = nil, _ body: (RevocationClient, OriginServer) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.script = plan
        serving.recordedBytes = 1 << 16
        let origin = try OriginServer.start(configuration: serving)
        let group = try EventLoopGroup(count: 1, name: "fetch")
        let client = RevocationClient(group: group, resolver: Resolver(), proxies: .direct)
        do { try await body(client, origin) } catch { Issue.record(error) }
        await withCheckedContinuation { continuation in client.shutDown { continuation.resume() } }
        await group.shutdown()
        await origin.shutdown()
    }

    /// Fetches on a thread that may block.
    private func fetch(
        _ client: RevocationClient, _ url: String, body: [UInt8]? = nil, limit: Int = 1_000,
        within time: Duration = .seconds(30)
    ) async -> Result<[UInt8], RevocationFetchError> {
        await withCheckedContinuation { continuation in
            let pool = WorkerPool.trust
            _ = pool.submit(pool.newTicket()) {
                let query = RevocationQuery(url: url, body: body, limit: limit)
                do throws(RevocationFetchError) {
                    continuation.resume(
                        returning: .success(try client.fetch(query, deadline: .now.advanced(by: time))))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
    }

    @Test func aListIsFetchedWithoutFurtherFields() async throws {
        try await withClient { client, origin in
            origin.route("GET", "/list.crl") { _ throws(Refusal) in
                try OriginResponse(200, "application/pkix-crl", [1, 2, 3])
            }
            #expect(await fetch(client, origin.url + "/list.crl") == .success([1, 2, 3]))
            let request = String(decoding: origin.received(on: 0), as: UTF8.self)
            #expect(request == "GET /list.crl HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        }
    }

    @Test func anOCSPRequestIsPosted() async throws {
        try await withClient { client, origin in
            origin.route("POST", "/ocsp") { request throws(Refusal) in
                guard request.field("Content-Type") == "application/ocsp-request" else {
                    throw Refusal(415, "no")
                }
                return try OriginResponse(200, "application/ocsp-response", request.body + [9])
            }
            #expect(await fetch(client, origin.url + "/ocsp", body: [1, 2]) == .success([1, 2, 9]))
        }
    }

    @Test func limitsHold() async throws {
        try await withClient { client, origin in
            let content = try await fetch(client, origin.url + "/bytes/1000").get()
            #expect(content.count == 1_000)
            #expect(await fetch(client, origin.url + "/bytes/1001") == .failure(.tooLarge(limit: 1_000)))
            // Without a length, the limit is noticed as the content arrives.
            #expect(await fetch(client, origin.url + "/infinite") == .failure(.tooLarge(limit: 1_000)))
        }
    }

    @Test func otherResponsesAreFailures() async throws {
        try await withClient { client, origin in
            #expect(await fetch(client, origin.url + "/status/404") == .failure(.status(404)))
            #expect(await fetch(client, origin.url + "/status/204") == .failure(.status(204)))
            guard case .failure(.failed) = await fetch(client, origin.url + "/gzip") else {
                Issue.record("a coded response was accepted")
                return
            }
        }
    }

    @Test func redirectsStayWithinPlainHTTP() async throws {
        try await withClient { client, origin in
            func redirect(_ path: String, _ status: Int, to location: String) {
                origin.route(nil, path) { _ throws(Refusal) in
                    var response = try OriginResponse(status, "text/plain", [])
                    try response.add("Location", location)
                    return response
                }
            }
            redirect("/near", 302, to: "/bytes/5")
            redirect("/secure", 302, to: "https://127.0.0.1:\(origin.port)/bytes/5")
            redirect("/round", 302, to: "/round")
            let near = try await fetch(client, origin.url + "/near").get()
            #expect(near.count == 5)
            #expect(await fetch(client, origin.url + "/near", body: [1]) == .failure(.status(302)))
            #expect(await fetch(client, origin.url + "/secure") == .failure(.failed("not an http URL")))
            #expect(await fetch(client, origin.url + "/round") == .failure(.failed("more than 3 redirects")))
        }
    }

    @Test(arguments: ["https://127.0.0.1/", "ftp://127.0.0.1/", "", "http://", "ldap://x/y"])
    func otherSchemesAreNotFetched(_ url: String) async throws {
        try await withClient { client, _ in
            guard case .failure(.failed) = await fetch(client, url) else {
                Issue.record("\(url) was fetched")
                return
            }
        }
    }

    @Test func aSilentServerMeetsTheDeadline() async throws {
        try await withClient(ScriptPlan(.expectHead, .stall)) { client, origin in
            let answer = await fetch(client, origin.url + "/", within: .milliseconds(100))
            #expect(answer == .failure(.timedOut))
            #expect(await fetch(client, origin.url + "/", within: .zero) == .failure(.timedOut))
        }
    }

    @Test func aPromiseTakesTheFirstValue() throws {
        let promise = try BlockingPromise<Int>()
        #expect(try promise.wait(until: .zero) == nil)
        #expect(promise.fulfill(1))
        #expect(!promise.fulfill(2))
        #expect(try promise.wait(until: .distantFuture) == 1)
    }
}
