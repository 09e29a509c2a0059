// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTransport

/// What `Scripts/demo` runs: the client at its main job, against an origin in the same process.
///
/// Each step prints what it asked and what came; a step that does not come out as it must ends the program with 1.
@main
struct Demo {
    let origin: LupineOrigin.Origin
    let client: HTTPClient

    static func main() async throws {
        let origin = try LupineOrigin.Origin.start()
        var configuration = HTTPClient.Configuration()
        configuration.decodesContent = true
        configuration.redirectLimit = 20
        let demo = Demo(origin: origin, client: HTTPClient(configuration: configuration))
        do {
            try await demo.run()
            try await LoadingAct(origin).run()
            try await SecureAct().run()
        } catch {
            print("failed: \(error)")
            throw error
        }
        await demo.client.shutdown()
        await origin.shutdown()
    }

    private func run() async throws {
        print("An origin answers at \(origin.url)\n")
        try await fetch("/get?flower=lupinus", "a plain GET")
        try await fetch("/gzip", "content in gzip, decoded on the way")
        try await fetch("/brotli", "content in br, decoded on the way")
        try await fetch("/redirect/3", "three redirects, followed")
        try await fetch("/status/503", "an error status is an answer too")
        try await post()
        try await stream()
        try await fail()
        let requests = origin.counts.requests
        print("\(requests) requests over \(client.connectionsOpened) connections")
        try require(client.connectionsOpened < requests, "connections are reused")
    }

    private func fetch(_ path: String, _ what: String) async throws {
        print("GET \(path): \(what)")
        let response = try await client.get(origin.url + path)
        let text = try await response.body.text()
        print("  \(response.status) \(response.head.reason), \(text.utf8.count) bytes after decoding")
        if let line = text.split(separator: "\n").dropFirst().first {
            print("  \(line.prefix(100))")
        }
        print("")
    }

    private func post() async throws {
        let megabyte = 1 << 20
        print("POST /hash: 8 MiB produced piece by piece, sent in chunks, hashed on arrival")
        let pieces = Pieces(count: 8, size: megabyte)
        var request = try HTTPRequest(method: .post, url: origin.url + "/hash")
        request.body = .stream(length: nil) { await pieces.next() }
        let response = try await client.send(request)
        let answer = try await response.body.text()
        print("  \(response.status), \(answer.split(whereSeparator: \.isNewline).joined(separator: " "))\n")
        try require(answer.contains("\(8 * megabyte)"), "the origin has counted every byte")
    }

    private func stream() async throws {
        print("GET /bytes/33554432: 32 MiB, taken as they come")
        let response = try await client.get(origin.url + "/bytes/33554432")
        var pieces = 0
        var bytes = 0
        for try await piece in response.body {
            pieces += 1
            bytes += piece.count
        }
        print("  \(response.status), \(bytes) bytes in \(pieces) pieces\n")
        try require(bytes == 33_554_432, "nothing is lost")
    }

    private func fail() async throws {
        print("GET http://127.0.0.1:1/: nobody listens there")
        do {
            _ = try await client.get("http://127.0.0.1:1/")
            throw DemoError(what: "a dead port gives an error")
        } catch let error as TransportError {
            print("  \(error)\n")
        }
    }

    private func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw DemoError(what: what) }
    }
}

/// What was to be shown and did not come out.
struct DemoError: Error, CustomStringConvertible {
    let what: String
    var description: String { "not so: \(what)" }
}

/// Content that is made when it is asked for.
actor Pieces {
    private var left: Int
    private let piece: [UInt8]

    init(count: Int, size: Int) {
        left = count
        piece = [UInt8](repeating: 0x6C, count: size)
    }

    func next() -> [UInt8]? {
        guard left > 0 else { return nil }
        left -= 1
        return piece
    }
}
