// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// A client that reaches an origin by one way, and the requests that every row makes of it.
struct Conversation {
    let way: Way
    let client: HTTPClient
    let origin: LupineOrigin.Origin
    /// The client's configuration, from which rows derive those of other clients.
    let configuration: HTTPClient.Configuration

    /// A response with its whole content.
    struct Answer {
        let response: HTTPResponse
        let body: [UInt8]

        var status: Int { Int(response.status.code) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Runs `body` with a fresh client, a fresh origin and, where the way has one, a fresh proxy.
    static func on(_ way: Way, _ body: (Conversation) async throws -> Void) async throws {
        var serving = OriginConfiguration()
        if way.isSecure { serving.tls = try secured() }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        Blob.serve(on: origin)
        do {
            if let server = way.server {
                try await ServerProcess.with(server) { proxy in
                    try await converse(way, origin, proxyPort: proxy.place.port, body)
                }
            } else {
                try await converse(way, origin, proxyPort: nil, body)
            }
        } catch {
            await origin.shutdown()
            throw error
        }
        await origin.shutdown()
    }

    /// Returns the origin's TLS configuration, with a certificate for the loopback addresses.
    static func secured() throws -> TLSServerConfiguration {
        let identity = try TLSIdentity(
            pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key"))
        return TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
    }

    private static func converse(
        _ way: Way, _ origin: LupineOrigin.Origin, proxyPort: UInt16?,
        _ body: (Conversation) async throws -> Void
    ) async throws {
        let configuration = try way.configuration(proxyPort: proxyPort)
        let client = HTTPClient(configuration: configuration)
        do {
            try await body(
                Conversation(way: way, client: client, origin: origin, configuration: configuration))
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    func url(_ path: String) -> String {
        "\(way.isSecure ? "https" : "http")://\(way.host):\(origin.port)\(path)"
    }

    /// Sends a request and reads the whole response.
    func ask(
        _ method: LupineHTTP.Method = .get, _ path: String, fields: Fields = Fields(),
        body: HTTPRequest.Body = .none, with other: HTTPClient? = nil
    ) async throws -> Answer {
        let request = try HTTPRequest(method: method, url: url(path), fields: fields, body: body)
        let response = try await (other ?? client).send(request)
        return Answer(response: response, body: try await response.body.collect())
    }

    /// Returns the error of a request that must fail.
    func failure(_ path: String) async throws -> TransportError {
        do {
            let answer = try await ask(.get, path)
            throw RowFailure("\(path) brought \(answer.status) with \(answer.body.count) bytes, no error")
        } catch let error as TransportError { return error }
    }
}

/// The failure of a request row.
struct RowFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
