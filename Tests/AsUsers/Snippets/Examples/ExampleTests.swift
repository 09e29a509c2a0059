// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Runs the programs of `Examples.md` against an origin.
@Suite(.timeLimit(.minutes(10))) struct ExampleTests {
    @Test func theClientReadsPagesAndReportsRefusals() async throws {
        try await API.serve { api in
            api.origin.route("GET", "/users/ada/repos") { request throws(Refusal) in
                guard request.field("Authorization") == "Bearer secret" else {
                    throw Refusal(401, "who are you?")
                }
                let page = Int(request.arguments["page"] ?? "") ?? 0
                let text = #"[{"id": \#(page), "full_name": "ada/engine-\#(page)"}]"#
                var response = try OriginResponse(200, "application/json", Array(text.utf8))
                if page < 3 { try response.add("Link", #"</users/ada/repos?page=\#(page + 1)>; rel="next""#) }
                return response
            }
            api.origin.route("POST", "/repos/ada/engine/issues") { request throws(Refusal) in
                let isTitled = String(decoding: request.body, as: UTF8.self) == #"{"title":"It is slow"}"#
                let text = isTitled ? #"{"number": 7, "title": "It is slow"}"# : "{}"
                return try OriginResponse(201, "application/json", Array(text.utf8))
            }
            api.origin.route("PATCH", "/repos/ada/engine/issues/7") { _ throws(Refusal) in
                try OriginResponse(422, "application/json", Array(#"{"message": "it is closed"}"#.utf8))
            }
            let client = GitHubClient(base: try #require(URL(string: "\(api)")), token: "secret")
            #expect(
                try await client.repositories(of: "ada").map(\.fullName) == [
                    "ada/engine-1", "ada/engine-2", "ada/engine-3",
                ])
            #expect(try await client.createIssue("It is slow", in: "ada/engine").number == 7)
            let refusal = await #expect(throws: GitHubClient.Refusal.self) {
                try await client.closeIssue(7, in: "ada/engine")
            }
            #expect(refusal?.message == "it is closed")
            let stranger = GitHubClient(base: try #require(URL(string: "\(api)")), token: "wrong")
            let error = await #expect(throws: AFError.self) { try await stranger.repositories(of: "ada") }
            #expect(error?.responseCode == 401)
        }
    }

    @Test func theMirrorGoesOnWithWhatWasCutOff() async throws {
        try await inFolder { folder in
            try await API.serve { api in
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nAccept-Ranges: bytes\r\nETag: \"one\"\r\n\r\n"
                let rest =
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: 10000\r\nETag: \"one\"\r\n"
                    + "Content-Range: bytes 10000-19999/20000\r\n\r\n"
                api.origin.script(
                    "GET", "/cut.bin", ScriptPlan(.send(head + String(repeating: "a", count: 10_000)), .close)
                )
                let whole = try #require(URL(string: "\(api)/bytes/4096"))
                let cut = try #require(URL(string: "\(api)/cut.bin"))
                let mirror = FileMirror(folder: folder.appending(path: "mirror"))
                let first = await mirror.mirror([whole, cut])
                #expect(first == [whole: .complete(bytes: 4096), cut: .interrupted(canResume: true)])

                api.origin.script(
                    "GET", "/cut.bin", ScriptPlan(.send(rest + String(repeating: "b", count: 10_000)), .close)
                )
                let second = await mirror.mirror([whole, cut])
                #expect(second == [whole: .complete(bytes: 4096), cut: .complete(bytes: 20_000)])
                let text = try String(contentsOf: folder.appending(path: "mirror/cut.bin"), encoding: .utf8)
                #expect(text == String(repeating: "a", count: 10_000) + String(repeating: "b", count: 10_000))
            }
        }
    }

    @Test func theFollowerGoesOnBehindTheLastLine() async throws {
        try await API.serve { api in
            // Two lines per connection; after the sixth line the log has ended.
            api.origin.route("GET", "/log") { request throws(Refusal) in
                let last = request.field("Last-Event-ID").flatMap { Int($0) } ?? 0
                guard last < 6 else { return OriginResponse(204) }
                let lines = (last + 1...last + 2).map {
                    "id: \($0)\ndata: {\"level\": \"info\", \"text\": \"line \($0)\"}\n\n"
                }
                return try OriginResponse(
                    200, "text/event-stream", Array(("retry: 1\n\n" + lines.joined()).utf8))
            }
            let follower = LogFollower(address: try #require(URL(string: "\(api)/log")))
            var texts: [String] = []
            for await line in follower.lines() { texts.append(line.text) }
            #expect(texts == (1...6).map { "line \($0)" })
            #expect(api.origin.counts.requests == 4)
        }
    }
}
