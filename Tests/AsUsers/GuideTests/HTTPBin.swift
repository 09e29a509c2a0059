// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import LupineTLS
import LupineTestKit

/// Stands in for httpbin.org, the server of the guides: an origin on the loopback interface whose description is its URL, so
/// that a snippet differs only in `"\(httpbin)/get"` for `"https://httpbin.org/get"`.
struct HTTPBin: Sendable, CustomStringConvertible {
    let origin: LupineOrigin.Origin

    let scheme: String

    var description: String { "\(scheme)://127.0.0.1:\(origin.port)" }

    /// Runs `body` with a new origin, and stops it. A secure one has a certificate of the fixtures, which is not trusted by
    /// default.
    static func serve(
        isSecure: Bool = false, leaf: String = "good", _ body: (HTTPBin) async throws -> Void
    ) async throws {
        var configuration = OriginConfiguration()
        if isSecure {
            let identity = try TLSIdentity(
                pemChain: PKI.bytes("\(leaf)-chain.pem"), pemKey: PKI.bytes("\(leaf).key"))
            configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        }
        let origin = try LupineOrigin.Origin.start(configuration: configuration)
        let httpbin = HTTPBin(origin: origin, scheme: isSecure ? "https" : "http")
        let result: Result<Void, any Error>
        do { result = .success(try await body(httpbin)) } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    /// Answers the first request of this path with only `count` bytes, and the next one with the rest.
    func breakOff(_ path: String, count: Int) {
        let fields = "ETag: \"v\"\r\nAccept-Ranges: bytes\r\n\r\n"
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n" + fields
        let range = "Content-Range: bytes 256-\(count - 1)/\(count)\r\nContent-Length: \(count - 256)\r\n"
        let rest =
            "HTTP/1.1 206 Partial Content\r\n" + range + fields + String(repeating: "b", count: count - 256)
        origin.script(
            "GET", path,
            ScriptPlan([
                Script([.send(whole + String(repeating: "a", count: 256)), .stall]),
                Script([.send(rest), .close]),
            ]))
    }

    /// Answers requests of this path with these bytes.
    func answer(_ path: String, with response: String) {
        origin.script("GET", path, ScriptPlan(.send(response), .close))
    }
}
