// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import Testing

@testable import LupineTransport

/// nginx that repeatedly sends GOAWAY to its HTTP/2 clients while many requests are in flight.
@Suite struct NginxGoAwayTests {
    /// The argument is the number of concurrent requests: one less than `keepalive_requests`, and many more.
    @Test(
        "[H-12.12] no request is lost, and none is made twice", .timeLimit(.minutes(30)), arguments: [6, 60])
    func nothingLostNothingTwice(_ atOnce: Int) async throws {
        let origin = try LupineOrigin.Origin.start()
        let served = Lock<[String: Int]>([:])
        origin.route("POST", "/once/{name}") { request throws(Refusal) in
            served.withLock { $0[request.parameters[0], default: 0] += 1 }
            return OriginResponse(body: .bytes(Array(request.parameters[0].utf8)))
        }
        let locations = """
            keepalive_requests 7;
            location / {
                proxy_pass http://127.0.0.1:\(origin.port);
                proxy_http_version 1.1;
                proxy_set_header Connection "";
            }
            """
        let recipe = NginxServer(locations: locations, speaksHTTP2: true)
        let result: Result<Void, any Error>
        do {
            try await ServerProcess.with(recipe) { nginx in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.connectionProxyDictionary = [:]
                configuration.timeoutIntervalForRequest = 240
                configuration.urlCache = nil
                configuration.lupine.httpVersions = .http2
                let session = URLSession(configuration: configuration)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<atOnce {
                        group.addTask {
                            for step in 0..<300 / atOnce {
                                let name = "\(worker)-\(step)"
                                var request = URLRequest(
                                    url: try #require(URL(string: "\(nginx.url)/once/\(name)")))
                                request.httpMethod = "POST"
                                let (data, response) = try await session.upload(
                                    for: request, from: Data("content".utf8))
                                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                                #expect(String(decoding: data, as: UTF8.self) == name)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                session.invalidateAndCancel()
            }
            result = .success(())
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
        #expect(served.withLock { $0.count } == 300)
        #expect(served.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    @Test(
        "nginx that is reloaded again and again: nothing is lost, nothing made twice",
        .timeLimit(.minutes(30)))
    func reloaded() async throws {
        let origin = try LupineOrigin.Origin.start()
        let served = Lock<[String: Int]>([:])
        origin.route("POST", "/once/{name}") { request throws(Refusal) in
            served.withLock { $0[request.parameters[0], default: 0] += 1 }
            return OriginResponse(body: .bytes(Array(request.path.utf8)))
        }
        // The limit of streams leads to several connections, so that no single one takes all concurrent requests.
        let locations = """
            http2_max_concurrent_streams 6;
            add_header X-Server $pid;
            location /once/ {
                proxy_pass http://127.0.0.1:\(origin.port);
                proxy_http_version 1.1;
                proxy_set_header Connection "";
            }
            """
        let recipe = NginxServer(
            locations: locations, site: [("page", "a page\n")], speaksHTTP2: true, isReloadable: true)
        var configuration = HTTPClient.Configuration()
        configuration.versions = .http2
        configuration.idleReadTimeout = nil
        let client = HTTPClient(configuration: configuration)
        let result: Result<ServerChange.Outcome, any Error>
        do {
            let outcome = try await ServerProcess.with(recipe) { nginx in
                let change = ServerChange(
                    client: client, url: nginx.url, page: "/page", content: "a page\n")
                let file = nginx.place.folder + "/nginx.pid"
                return try await change.run(times: 50) {
                    let text = try String(contentsOfFile: file, encoding: .utf8)
                    let master = try #require(
                        pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
                    try #require(kill(master, SIGHUP) == 0)
                }
            }
            result = .success(outcome)
        } catch { result = .failure(error) }
        await client.shutdown()
        await origin.shutdown()
        let outcome = try result.get()
        outcome.expectNothingLost(served: served.withLock { $0 })
        // Each of the 51 servers had its own connection.
        #expect(client.connectionsOpened >= 51)
        #expect(outcome.answered >= 51 && outcome.posts.count >= 51)
    }
}
