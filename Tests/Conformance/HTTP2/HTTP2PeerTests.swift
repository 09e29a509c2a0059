// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// HTTP/2 between Lupine and foreign peers, as client and as server. A failure is a bug here or a peculiarity of the peer.
@Suite(.goPeer) struct HTTP2PeerTests {
    @Test("every feature of a server", .timeLimit(.minutes(30)), arguments: HTTP2PeerServer.all)
    func column(_ server: HTTP2PeerServer) async throws {
        try await server.run { stage in
            for feature in HTTP2PeerFeature.all where feature.needs.map(server.offers.contains) ?? true {
                do { try await feature.run(stage) } catch {
                    Issue.record("\(feature.name) x \(server.testDescription): \(error)")
                }
            }
        }
    }

    @Test("each feature is offered by some server, and each offer is asked for") func noEmptyRows() {
        let offered = Set(HTTP2PeerServer.all.flatMap(\.offers))
        #expect(offered == Set(HTTP2PeerFeature.all.compactMap(\.needs)))
    }

    @Test(
        "Go's server that is shut down again and again: nothing is lost, nothing made twice",
        .timeLimit(.minutes(30)))
    func goShutDown() async throws {
        var configuration = HTTPClient.Configuration()
        configuration.versions = .http2
        configuration.idleReadTimeout = nil
        configuration.tls.roots = .certificates(try Certificate.bundle(file: PKI.path("root.pem")))
        let client = HTTPClient(configuration: configuration)
        // The director opens a new connection for each request.
        configuration.maximumConnectionAge = .zero
        let director = HTTPClient(configuration: configuration)
        let result: Result<(ServerChange.Outcome, [String: Int]), any Error>
        do {
            result = .success(
                try await ServerProcess.with(GoServer(program: try await GoPeer.program())) { server in
                    try HTTP2PeerContent.write(HTTP2PeerContent.large.first(1), into: server.place.folder)
                    let url = "https://127.0.0.1:\(server.place.port)"
                    let change = ServerChange(
                        client: client, url: url, page: "/small", content: HTTP2PeerContent.small)
                    let outcome = try await change.run(times: 30) {
                        let request = try HTTPRequest(method: .post, url: url + "/leave")
                        _ = try await director.send(request).body.collect()
                    }
                    let text = try await director.get(url + "/counts").body.text()
                    let counts = text.split(separator: "\n").map { $0.split(separator: " ") }
                    let served = counts.map { (String($0[0]), Int($0[1]) ?? -1) }
                    return (outcome, Dictionary(served) { $0 + $1 })
                })
        } catch { result = .failure(error) }
        await client.shutdown()
        await director.shutdown()
        let (outcome, served) = try result.get()
        outcome.expectNothingLost(served: served)
        #expect(client.connectionsOpened >= 31)
        #expect(outcome.answered >= 31 && outcome.posts.count >= 31)
    }

    @Test("a program asks the origin", .timeLimit(.minutes(30)), arguments: HTTP2ClientCase.all)
    func program(_ row: HTTP2ClientCase) async throws {
        try await HTTP2ClientStage.run(row)
    }
}
