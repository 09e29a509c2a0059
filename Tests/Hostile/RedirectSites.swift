// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

/// Four origins, two of them with TLS, and a session that trusts them: the sources and targets of redirects.
///
/// `/from` redirects to the URL in its query, and demands a password first if configured to. `/to` demands a password from every
/// request without one, and records the fields that it receives.
struct RedirectSites {
    /// One of the combinations of origin and host name that a URL can have.
    enum Site: Hashable, CaseIterable, Sendable {
        case home
        /// Another host name, or a subdomain, on the same port.
        case otherHost, hostBelow
        case otherPort
        case secure, secureOtherHost, secureOtherPort
    }

    let session: Session
    private let origins: [LupineOrigin.Origin]
    private let recorder: LineRecorder

    /// Returns the host name in URLs of that site.
    static func host(_ site: Site) -> String {
        switch site {
        case .home, .otherPort: "home.test"
        case .otherHost: "other.test"
        case .hostBelow: "below.home.test"
        case .secure, .secureOtherPort: "good.test"
        case .secureOtherHost: "localhost"
        }
    }

    /// Returns a URL.
    func url(_ site: Site, _ path: String = "/to", user: String = "") -> String {
        "\(Self.isSecure(site) ? "https" : "http")://\(user)\(Self.host(site)):\(port(site))\(path)"
    }

    /// Returns whether that site uses TLS.
    static func isSecure(_ site: Site) -> Bool {
        switch site {
        case .home, .otherHost, .hostBelow, .otherPort: false
        case .secure, .secureOtherHost, .secureOtherPort: true
        }
    }

    /// Returns a client that resolves host names to the same origins.
    func client(_ change: (inout HTTPClient.Configuration) throws -> Void = { _ in }) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        for origin in origins {
            configuration.overrides[.init(host: "*", port: origin.port)] = [origin.address]
        }
        configuration.redirectLimit = 5
        configuration.timeout = .seconds(Int(HostileStage.timeout))
        try change(&configuration)
        return HTTPClient(configuration: configuration)
    }

    /// Returns the port of that site.
    func port(_ site: Site) -> UInt16 {
        origins[Self.originIndex(site)].port
    }

    /// Returns the index of that site's origin in `origins`.
    private static func originIndex(_ site: Site) -> Int {
        switch site {
        case .home, .otherHost, .hostBelow: 0
        case .otherPort: 1
        case .secure, .secureOtherHost: 2
        case .secureOtherPort: 3
        }
    }

    /// The header lines of every request that `/to` received.
    var lines: [String] { recorder.lines.withLock { $0 } }

    /// Returns the number of client certificates that the origin of that site received, on all of its connections.
    func certificates(_ site: Site) -> Int {
        let origin = origins[Self.originIndex(site)]
        return (0..<origin.counts.connectionsAccepted).reduce(0) { sum, index in
            sum + origin.handshakes(on: index).reduce(0) { $0 + $1.clientCertificates.count }
        }
    }

    /// Runs `body` with the origins and the session.
    ///
    /// - Parameters:
    ///   - status: The status of redirects.
    ///   - challenges: Whether `/from` demands a password first.
    ///   - identityOrigins: The origins that may receive the session's certificate; nil allows the default.
    static func with(
        status: Int = 302, challenges: Bool = false, identityOrigins: [Site]? = nil,
        monitors: [any EventMonitor] = [],
        _ configure: (URLSessionConfiguration) throws -> Void = { _ in },
        _ body: (RedirectSites) async throws -> Void
    ) async throws {
        let clients = try Certificate.pem(PKI.text("client-root.pem"))
        let origins = try (0..<4).map { number in
            var originConfiguration = OriginConfiguration()
            if number > 1 {
                var tls = try HostileStage.tlsConfiguration("good")
                tls.clientCertificates = .requested(roots: clients)
                originConfiguration.tls = tls
            }
            return try LupineOrigin.Origin.start(configuration: originConfiguration)
        }
        let configuration = try HostileStage.configuration(of: origins[0])
        for origin in origins {
            configuration.lupine.addressOverrides[.init(host: "*", port: origin.port)] = [origin.address]
        }
        configuration.lupine.tls.identityOrigins = identityOrigins.map { sites in
            Set(sites.map { .init(host: host($0), port: origins[originIndex($0)].port) })
        }
        try configure(configuration)
        let recorder = LineRecorder()
        for origin in origins { serve(on: origin, status, challenges, recorder) }
        let session = Session(configuration: configuration, eventMonitors: monitors)
        let result: Result<Void, any Error>
        do {
            try await body(
                RedirectSites(session: session, origins: origins, recorder: recorder))
            result = .success(())
        } catch { result = .failure(error) }
        session.session.invalidateAndCancel()
        for origin in origins { await origin.shutdown() }
        try result.get()
    }

    private static func serve(
        on origin: LupineOrigin.Origin, _ status: Int, _ challenges: Bool, _ recorder: LineRecorder
    ) {
        origin.route(nil, "/from") { request throws(Refusal) in
            if challenges, request.field("Authorization") == nil { return try challenge() }
            guard let location = request.arguments["next"] else { throw .badRequest("where to?") }
            var response = OriginResponse(status)
            try response.add("Location", location)
            if request.arguments["late"] != nil { try response.add("Set-Cookie", "late=s3cr3t-late; Path=/") }
            return response
        }
        origin.route(nil, "/to") { request throws(Refusal) in
            let fields = request.head.fields
            recorder.lines.withLock { lines in
                lines += (0..<fields.count).map { "\(fields.name(at: $0)): \(fields.value(at: $0))" }
            }
            if request.field("Authorization") == nil { return try challenge() }
            return try OriginResponse(200, "text/plain", Array("there".utf8))
        }
    }

    /// The lines that `/to` received, accessible from any thread.
    private final class LineRecorder: Sendable {
        let lines = Lock<[String]>([])
    }

    private static func challenge() throws(Refusal) -> OriginResponse {
        var response = OriginResponse(401)
        try response.add("WWW-Authenticate", "Basic realm=\"r\"")
        return response
    }
}
