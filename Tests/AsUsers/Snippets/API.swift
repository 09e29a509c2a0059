// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import LupineTLS
import LupineTestKit

/// The server that the pages call `api`: an origin on the loopback interface whose description is its URL.
struct API: Sendable, CustomStringConvertible {
    let origin: LupineOrigin.Origin

    var description: String { origin.url }

    /// Runs a page's snippets with a new origin, and stops it. A secure origin has the certificate of the fixtures. With
    /// `clientRoots` it requests client certificates that are issued by these roots.
    static func serve(
        isSecure: Bool = false, clientRoots: [Certificate] = [], _ body: (API) async throws -> Void
    ) async throws {
        var configuration = OriginConfiguration()
        if isSecure {
            let identity = try TLSIdentity(
                pemChain: PKI.bytes("good-chain.pem"), pemKey: PKI.bytes("good.key"))
            var tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
            if !clientRoots.isEmpty { tls.clientCertificates = .required(roots: clientRoots) }
            configuration.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(API(origin: origin))) } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    /// Answers the first GET of this path with only a part of the `count` bytes, and the next one with the rest.
    func breakOff(_ path: String, count: Int) {
        let (part, tail) = (String(repeating: "a", count: 256), String(repeating: "b", count: count - 256))
        let fields = "ETag: \"v\"\r\nAccept-Ranges: bytes\r\n"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\(fields)\r\n\(part)"
        let range = "Content-Range: bytes 256-\(count - 1)/\(count)\r\nContent-Length: \(count - 256)\r\n"
        let rest = "HTTP/1.1 206 Partial Content\r\n\(range)\(fields)\r\n\(tail)"
        origin.script(
            "GET", path, ScriptPlan([Script([.send(whole), .stall]), Script([.send(rest), .close])]))
    }

    /// Answers GET requests of this path with these fields and this content.
    func answer(_ path: String, _ type: String, _ content: String, fields: [String: String] = [:]) {
        origin.route("GET", path) { _ throws(Refusal) in
            var response = try OriginResponse(200, type, Array(content.utf8))
            for (name, value) in fields { try response.add(name, value) }
            return response
        }
    }
}

/// The origin's description of a request.
struct Echo: Decodable, Sendable {
    let method: String?
    let url: String
    let headers: [String: String]
    let args: [String: String]
    let form: [String: String]?
    let data: String?
}

/// Runs a snippet, and returns the value that one of its handlers passes to `hand`.
func handed<Value: Sendable>(
    _ snippet: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    await withCheckedContinuation { continuation in
        snippet { continuation.resume(returning: $0) }
    }
}

// The pages print their results. These two functions shadow the standard library's: they create the same text, but do not write
// it to the log of the tests.

func print(_ values: Any...) { _ = values.map { String(describing: $0) } }

func debugPrint(_ values: Any...) { _ = values.map { String(reflecting: $0) } }

/// Runs `body` with a new folder, and removes it.
func inFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result: Result<Void, any Error>
    do { result = .success(try await body(folder)) } catch { result = .failure(error) }
    try FileManager.default.removeItem(at: folder)
    try result.get()
}
