// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// One column of the matrix: a server, or a proxy with an origin behind it.
struct MatrixServer: Sendable, CustomTestStringConvertible {
    /// A feature that not every server has.
    enum Offer: Hashable, Sendable {
        case keepsAlive, chunks, echo, ranges, gzip, brotli, staticBrotli, slowness, fewRequests, basic,
            silence, cookies
        case redirects, manyFields, validators
    }

    let testDescription: String
    let offers: Set<Offer>
    /// Makes the recipe, for an origin on the given port.
    let recipe: @Sendable (UInt16) -> any ServerRecipe
    /// The scheme of the proxy's URL when the server is a proxy; nil for an origin.
    var proxyScheme: String?
    var isSecure = false
    /// The versions that sessions use with it.
    var versions: HTTPVersions = .http11

    private static let dynamic: Set<Offer> = [
        .keepsAlive, .chunks, .echo, .basic, .cookies, .redirects, .manyFields,
    ]
    private static let nginxOffers: Set<Offer> = [
        .keepsAlive, .chunks, .echo, .ranges, .gzip, .brotli, .staticBrotli, .slowness, .fewRequests, .basic,
        .silence,
        .cookies, .redirects, .manyFields, .validators,
    ]

    static let all: [MatrixServer] = [
        MatrixServer(testDescription: "nginx", offers: nginxOffers, recipe: { nginx($0, isSecure: false) }),
        MatrixServer(
            testDescription: "nginx, TLS", offers: nginxOffers, recipe: { nginx($0, isSecure: true) },
            isSecure: true),
        // `keepalive_requests` of a location applies only to HTTP/1.1.
        MatrixServer(
            testDescription: "nginx, HTTP/2", offers: nginxOffers.subtracting([.fewRequests]),
            recipe: { nginx($0, isSecure: false, speaksHTTP2: true) }, versions: .http2),
        MatrixServer(
            testDescription: "nginx, TLS, HTTP/2", offers: nginxOffers.subtracting([.fewRequests]),
            recipe: { nginx($0, isSecure: true, speaksHTTP2: true) }, isSecure: true,
            versions: [.http11, .http2]),
        MatrixServer(
            testDescription: "haproxy", offers: dynamic.union([.ranges]),
            recipe: { HAProxyServer(origin: $0) }),
        MatrixServer(
            testDescription: "haproxy, HTTP/2", offers: dynamic.union([.ranges]),
            recipe: { HAProxyServer(origin: $0, speaksHTTP2: true) }, versions: .http2),
        MatrixServer(
            testDescription: "squid", offers: dynamic.union([.ranges]), recipe: { _ in SquidServer() },
            proxyScheme: "http://"),
        // It serves one request per connection, and limits header fields.
        MatrixServer(
            testDescription: "tinyproxy", offers: dynamic.subtracting([.keepsAlive]).union([.ranges]),
            recipe: { _ in TinyproxyServer() }, proxyScheme: "http://"),
        MatrixServer(
            testDescription: "dante", offers: dynamic.union([.ranges]), recipe: { _ in DanteServer() },
            proxyScheme: "socks5h://"),
        MatrixServer(
            testDescription: "python http.server", offers: [.validators],
            recipe: { _ in
                PythonServer(site: [
                    ("page", MatrixContent.page), ("large", MatrixContent.large), ("empty", ""),
                ])
            }),
        MatrixServer(
            testDescription: "uvicorn with h11", offers: dynamic,
            recipe: { _ in PythonApplication(kind: .asgi) }),
        MatrixServer(
            testDescription: "waitress", offers: dynamic, recipe: { _ in PythonApplication(kind: .wsgi) }),
    ]

    private static func nginx(
        _ origin: UInt16, isSecure: Bool, speaksHTTP2: Bool = false
    ) -> NginxServer {
        let locations = """
            default_type text/plain;
            gzip_types text/plain; gzip_min_length 1; brotli_types text/plain; brotli_min_length 1;
            location /gzip/ { gzip on; rewrite ^/[^/]+(/.*)$ $1 break; }
            location /br/ { brotli on; rewrite ^/[^/]+(/.*)$ $1 break; }
            location /static-br/ { brotli_static on; rewrite ^/[^/]+(/.*)$ $1 break; }
            location /slow/ { limit_rate 400k; rewrite ^/[^/]+(/.*)$ $1 break; }
            location /few/ { keepalive_requests 5; rewrite ^/[^/]+(/.*)$ $1 break; }
            location /auth { auth_basic "r"; auth_basic_user_file users; rewrite ^ /in break; }
            location /silence { return 444; }
            location /cookie { add_header Set-Cookie "taste=sweet; Path=/"; rewrite ^ /page break; }
            location /cookies { return 200 $http_cookie; }
            location ~ ^/(chunks|echo|redirect|relative-redirect|get|many|wide) {
                proxy_pass http://127.0.0.1:\(origin);
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header Host $http_host;
                proxy_buffer_size 32k;
                proxy_buffers 8 32k;
                client_max_body_size 16m;
            }
            """
        return NginxServer(
            locations: locations,
            site: [
                ("page", MatrixContent.page), ("large", MatrixContent.large), ("empty", ""), ("in", "in"),
                ("users", "user:{PLAIN}pass\n"),
            ], isSecure: isSecure, speaksHTTP2: speaksHTTP2)
    }

    /// Runs `body` with the server.
    func run(_ body: (MatrixStage) async throws -> Void) async throws {
        let origin = try LupineOrigin.Origin.start()
        MatrixContent.serve(on: origin)
        let result: Result<Void, any Error>
        do {
            try await ServerProcess.with(AnyRecipe(recipe(origin.port))) { process in
                try await body(MatrixStage(server: self, process: process, originPort: origin.port))
            }
            result = .success(())
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }
}

/// A running server of the matrix, and the sessions that use it.
struct MatrixStage {
    let server: MatrixServer
    let process: ServerProcess
    let originPort: UInt16

    func url(_ path: String) -> String {
        let port = server.proxyScheme == nil ? process.place.port : originPort
        return "\(server.isSecure ? "https" : "http")://127.0.0.1:\(port)\(path)"
    }

    /// Runs `body` with a new session.
    func with(
        _ change: (URLSessionConfiguration) -> Void = { _ in }, _ body: (Session) async throws -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 60
        configuration.urlCache = nil
        configuration.lupine.httpVersions = server.versions
        if let scheme = server.proxyScheme {
            let proxy = "\(scheme)127.0.0.1:\(process.place.port)"
            configuration.lupine.proxies = ["http_proxy": proxy, "all_proxy": proxy]
        }
        if server.isSecure {
            configuration.lupine.tls.roots = .certificates(try Certificate.bundle(file: PKI.path("root.pem")))
        }
        change(configuration)
        let session = Session(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session)) } catch { result = .failure(error) }
        session.session.invalidateAndCancel()
        try result.get()
    }

    /// Sends a GET request and returns the response.
    func get(_ session: Session, _ path: String, headers: HTTPHeaders = [:]) async -> DataResponse<
        Data, AFError
    > {
        await session.request(url(path), headers: headers)
            .serializingData(emptyResponseCodes: [200, 204, 205]).response
    }
}
