// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import LupineTransport

/// One column: a foreign server, with its settings.
struct HTTP2PeerServer: Sendable, CustomTestStringConvertible {
    /// A feature that not every server has.
    enum Offer: Hashable, Sendable {
        case echo, digest, requestTrailers, earlyHints, fields
        /// The echo has no limit.
        case longEcho
    }

    let testDescription: String
    let offers: Set<Offer>
    /// The version of TLS that the server speaks; nil without TLS.
    var tls: TLSVersion?
    /// The length of `/large`: long where it should fill every buffer and window, short where windows of a few octets make it
    /// slow.
    var large = 4 << 20
    /// Makes the recipe, for an origin on the given port.
    let recipe: @Sendable (UInt16) async throws -> any ServerRecipe

    static let all = nghttpd + nghttpx + go + node + hypercorn

    /// More than the buffers and windows between client and server hold.
    private static let long = 64 << 20
    /// A number of octets that takes a moderate time through a window of 255.
    private static let few = 100_000

    // The window of a connection cannot be made smaller than 65,535 octets (RFC 9113 §6.9.2): `--connection-window-bits=16` is
    // the minimum.
    private static let nghttpd: [HTTP2PeerServer] = [
        nghttpd("without TLS", []),
        nghttpd("TLS 1.2", [], tls: .v1_2),
        nghttpd("TLS 1.3", [], tls: .v1_3, large: long),
        nghttpd("one stream at a time", ["--max-concurrent-streams=1"]),
        nghttpd("windows of 255 octets", ["--window-bits=8", "--connection-window-bits=16"], large: few),
        nghttpd("no tables for fields", ["--header-table-size=0", "--encoder-header-table-size=0"]),
        nghttpd("padding", ["--padding=255"]),
    ]

    private static func nghttpd(
        _ name: String, _ options: [String], tls: TLSVersion? = nil, large: Int = 4 << 20
    ) -> HTTP2PeerServer {
        HTTP2PeerServer(
            testDescription: "nghttpd, \(name)", offers: [.echo, .longEcho], tls: tls, large: large,
            recipe: { _ in NghttpdServer(isSecure: tls != nil, options: options) })
    }

    private static let nghttpx: [HTTP2PeerServer] = [
        nghttpx("TLS 1.2", [], tls: .v1_2),
        nghttpx("TLS 1.3", [], tls: .v1_3),
        nghttpx("one stream at a time", ["--frontend-http2-max-concurrent-streams=1"]),
        nghttpx(
            "small windows and tables",
            [
                "--frontend-http2-window-size=255", "--frontend-http2-connection-window-size=65535",
                "--frontend-http2-decoder-dynamic-table-size=100",
                "--frontend-http2-encoder-dynamic-table-size=100",
                "--backend-http2-window-size=1000", "--padding=100",
            ], large: few),
    ]

    private static func nghttpx(
        _ name: String, _ options: [String], tls: TLSVersion? = nil, large: Int = 4 << 20
    ) -> HTTP2PeerServer {
        HTTP2PeerServer(
            testDescription: "nghttpx, \(name)",
            offers: [.echo, .digest, .requestTrailers, .earlyHints, .fields], tls: tls, large: large,
            recipe: { NghttpxServer(origin: $0, isSecure: tls != nil, options: options) })
    }

    private static let dynamic: Set<Offer> = [.echo, .longEcho, .requestTrailers, .earlyHints, .fields]

    private static let go: [HTTP2PeerServer] = [(TLSVersion.v1_2, 4 << 20), (.v1_3, long)].map { tls, large in
        HTTP2PeerServer(
            testDescription: "Go, \(tls)", offers: dynamic, tls: tls, large: large,
            recipe: { _ in GoServer(program: try await GoPeer.program()) })
    }

    private static let node: [HTTP2PeerServer] = [
        node("without TLS", "{}"),
        node("TLS 1.2", "{}", tls: .v1_2),
        node("TLS 1.3", "{}", tls: .v1_3),
        node("one stream at a time", #"{ "maxConcurrentStreams": 1 }"#),
        node(
            "windows of 255 octets, no table", #"{ "initialWindowSize": 255, "headerTableSize": 0 }"#,
            large: few),
    ]

    private static func node(
        _ name: String, _ settings: String, tls: TLSVersion? = nil, large: Int = 4 << 20
    ) -> HTTP2PeerServer {
        HTTP2PeerServer(
            testDescription: "Node, \(name)", offers: dynamic, tls: tls, large: large,
            recipe: { _ in NodeServer(isSecure: tls != nil, settings: settings) })
    }

    private static let hypercorn: [HTTP2PeerServer] = [nil, TLSVersion.v1_3].map { tls in
        HTTP2PeerServer(
            testDescription: "hypercorn, \(tls.map { "\($0)" } ?? "without TLS")",
            offers: dynamic.union([.digest]).subtracting([.requestTrailers]), tls: tls,
            recipe: { _ in HypercornServer(isSecure: tls != nil) })
    }

    /// Runs `body` with the server.
    func run(_ body: (HTTP2PeerStage) async throws -> Void) async throws {
        var configuration = OriginConfiguration()
        configuration.http2 = HTTP2Behaviour()
        configuration.idleTimeout = .seconds(3_600)
        let origin = try LupineOrigin.Origin.start(configuration: configuration)
        let content = HTTP2PeerContent.large.first(large)
        HTTP2PeerContent.serve(content, on: origin)
        let result: Result<Void, any Error>
        do {
            try await ServerProcess.with(AnyRecipe(try await recipe(origin.port))) { process in
                try HTTP2PeerContent.write(content, into: process.place.folder)
                try await body(HTTP2PeerStage(server: self, process: process, large: content))
            }
            result = .success(())
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }
}

/// A running server of the table, and the requests that tests send to it.
struct HTTP2PeerStage: Sendable {
    let server: HTTP2PeerServer
    let process: ServerProcess
    let large: LongContent

    /// A response with its whole content.
    struct Answer {
        let response: HTTPResponse
        let body: [UInt8]

        var status: Int { Int(response.status.code) }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    var scheme: LupineTransport.Origin.Scheme { server.tls == nil ? .http : .https }

    func url(_ path: String) -> String {
        "\(server.tls == nil ? "http" : "https")://127.0.0.1:\(process.place.port)\(path)"
    }

    /// The path of the file that is served as `/large`.
    var largeFile: String { process.place.folder + "/large" }

    func tls() throws -> TLSConfiguration {
        var tls = TLSConfiguration(
            roots: .certificates(try Certificate.bundle(file: PKI.path("root.pem"))))
        if let version = server.tls { (tls.minimumVersion, tls.maximumVersion) = (version, version) }
        return tls
    }

    /// Runs `body` with a new client that speaks only HTTP/2.
    func with(_ body: (HTTPClient) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.versions = .http2
        configuration.tls = try tls()
        configuration.idleReadTimeout = nil
        configuration.idleWriteTimeout = nil
        let client = HTTPClient(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.shutdown()
        try result.get()
    }

    /// Sends a request and reads the whole response.
    func ask(
        _ client: HTTPClient, _ method: LupineHTTP.Method, _ path: String,
        fields: [(String, String)] = [], body: HTTPRequest.Body = .none
    ) async throws -> Answer {
        var list = Fields()
        for (name, value) in fields { try list.append(FieldName(name), value) }
        let response = try await client.send(
            try HTTPRequest(method: method, url: url(path), fields: list, body: body))
        return Answer(response: response, body: try await response.body.collect())
    }

    /// Returns the SHA-256 of a response's content, without keeping the content.
    func digest(of response: HTTPResponse) async throws -> [UInt8]? {
        guard let digest = RunningDigest(.sha256) else { return nil }
        for try await piece in response.body { digest.update(piece) }
        return digest.finish()
    }
}
