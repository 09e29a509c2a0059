// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// The fields of a request that are sent after a redirect: the same for all APIs that follow redirects.
///
/// Each row states the value sent within the field's origin, to another origin, and over http after https.
/// Every API that sends requests is tested with every row.
@Suite struct HostileRedirectTests {
    /// The target of a redirect in relation to its source.
    enum Move: CaseIterable, Sendable {
        case within, withinSecure
        case otherHost, hostBelow, otherPort, toSecure, secureOtherHost, secureOtherPort
        case toInsecure

        var sites: (from: RedirectSites.Site, to: RedirectSites.Site) {
            switch self {
            case .within: (.home, .home)
            case .withinSecure: (.secure, .secure)
            case .otherHost: (.home, .otherHost)
            case .hostBelow: (.home, .hostBelow)
            case .otherPort: (.home, .otherPort)
            case .toSecure: (.home, .secure)
            case .secureOtherHost: (.secure, .secureOtherHost)
            case .secureOtherPort: (.secure, .secureOtherPort)
            case .toInsecure: (.secure, .home)
            }
        }
    }

    /// A field that a program sets, and the values that arrive after redirects.
    struct Row: Sendable {
        let name: String
        let value: String
        /// The value at another origin; nil if the field is not sent.
        let atOtherOrigin: String?
        /// The value over http after https; nil if the field is not sent.
        let overInsecure: String?

        func expected(_ move: Move) -> String? {
            switch move {
            case .within, .withinSecure: value
            case .otherHost, .hostBelow, .otherPort, .toSecure, .secureOtherHost, .secureOtherPort:
                atOtherOrigin
            case .toInsecure: overInsecure
            }
        }
    }

    private static func never(_ name: String, _ value: String = "s3cr3t") -> Row {
        Row(name: name, value: value, atOtherOrigin: nil, overInsecure: nil)
    }

    private static func always(_ name: String, _ value: String) -> Row {
        Row(name: name, value: value, atOtherOrigin: value, overInsecure: value)
    }

    static let rows = [
        never("Authorization", "Bearer s3cr3t"), never("Cookie", "id=s3cr3t"),
        never("X-Api-Key"), never("x-auth-token"), never("API-KEY"), never("Private-Token"),
        never("X-Amz-Security-Token"), never("X-CSRF-Token"),
        Row(name: "Origin", value: "https://mine.test", atOtherOrigin: "null", overInsecure: nil),
        Row(
            name: "Referer", value: "https://mine.test:8443/s3cr3t?s3cr3t",
            atOtherOrigin: "https://mine.test:8443/",
            overInsecure: nil),
        Row(name: "X-Mine", value: "mine", atOtherOrigin: "mine", overInsecure: nil),
        Row(name: "From", value: "me@mine.test", atOtherOrigin: "me@mine.test", overInsecure: nil),
        always("Accept", "text/x-mine"), always("Accept-Language", "tlh"), always("User-Agent", "mine/1"),
        always("Content-Language", "tlh"), always("Range", "bytes=0-9"), always("If-None-Match", "\"mine\""),
    ]

    /// The APIs that follow redirects.
    enum API: CaseIterable, Sendable {
        case client
        case data, upload, download, stream, webSocket
        /// A data request, with the fields set in the session's configuration.
        case ofSession
    }

    /// Returns the fields that `/to` received, by name in lowercase.
    private func fieldsReceived(
        by api: API, _ fields: [(String, String)], from: RedirectSites.Site,
        path: (RedirectSites) -> String
    ) async throws -> [String: String] {
        var received: [String: String] = [:]
        func configure(_ configuration: URLSessionConfiguration) {
            guard api == .ofSession else { return }
            configuration.httpAdditionalHeaders = Dictionary(
                fields.map { (AnyHashable($0.0), $0.1 as Any) }, uniquingKeysWith: { $1 })
        }
        try await RedirectSites.with(status: 307, configure) { sites in
            let url = sites.url(from, path(sites))
            try await Self.follow(by: api, url, fields, sites)
            for line in sites.lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                received[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        #expect(received["host"] != nil, "no request of \(api) arrived")
        return received
    }

    private static func follow(
        by api: API, _ url: String, _ fields: [(String, String)], _ sites: RedirectSites
    ) async throws {
        let headers = HTTPHeaders(fields.map { HTTPHeader(name: $0.0, value: $0.1) })
        let body = Data("body".utf8)
        switch api {
        case .client:
            let client = try sites.client()
            var list = Fields()
            for field in fields { try list.append(try FieldName(field.0), field.1) }
            let request = try HTTPRequest(method: .post, url: url, fields: list, body: .bytes(Array(body)))
            _ = try await client.send(request)
            await client.shutdown()
        case .data: _ = await sites.session.request(url, method: .post, headers: headers).answered()
        case .upload: _ = await sites.session.upload(body, to: url, headers: headers).answered()
        case .download:
            let answer = await sites.session.download(url, headers: headers).answered()
            if let file = answer.fileURL { try FileManager.default.removeItem(at: file) }
        case .stream:
            await withCheckedContinuation { continuation in
                sites.session.streamRequest(url, method: .post, headers: headers).responseStream { stream in
                    if case .complete = stream.event { continuation.resume() }
                }
            }
        case .ofSession: _ = await sites.session.request(url).answered()
        case .webSocket:
            let address = url.replacing("http", with: "ws", maxReplacements: 1)
            var request = URLRequest(url: try #require(URL(string: address)))
            request.headers = headers
            let task = sites.session.session.webSocketTask(with: request)
            task.resume()
            // The origin does not support WebSocket here: it is enough that it received the request.
            _ = try? await task.receive()
        }
    }

    @Test(
        "[U-10.5] every API that follows redirects sends the same fields", .timeLimit(.minutes(10)),
        arguments: API.allCases, Move.allCases)
    func fields(_ api: API, _ move: Move) async throws {
        let (from, to) = move.sites
        let received = try await fieldsReceived(by: api, Self.rows.map { ($0.name, $0.value) }, from: from) {
            "/from?next=\($0.url(to))"
        }
        for row in Self.rows {
            #expect(received[row.name.lowercased()] == row.expected(move), "\(row.name)")
        }
    }

    @Test(
        "[U-10.5] a removed field is not added again by a redirect back", .timeLimit(.minutes(10)),
        arguments: API.allCases, [RedirectSites.Site.otherHost, .home])
    func redirectBack(_ api: API, _ otherSite: RedirectSites.Site) async throws {
        let received = try await fieldsReceived(by: api, Self.rows.map { ($0.name, $0.value) }, from: .secure)
        {
            "/from?next=\($0.url(otherSite, "/from?next=\($0.url(.secure))"))"
        }
        for row in Self.rows {
            #expect(received[row.name.lowercased()] == row.overInsecure, "\(row.name)")
        }
    }

    @Test(
        "[U-10.5] a client shows its certificate to the first origin only", .timeLimit(.minutes(10)),
        arguments: [RedirectSites.Site.secureOtherPort, .secureOtherHost])
    func certificates(_ to: RedirectSites.Site) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        try await RedirectSites.with { sites in
            let client = try sites.client { $0.tls.identity = identity }
            let response = try await client.get(sites.url(.secure, "/from?next=\(sites.url(to))"))
            #expect(response.url.path == "/to")
            #expect(sites.certificates(.secure) == 1)
            #expect(sites.certificates(.secureOtherPort) == 0)
            await client.shutdown()
        }
    }

    @Test("a request's trust does not apply to another origin", .timeLimit(.minutes(10)))
    func trust() async throws {
        try await RedirectSites.with { sites in
            let client = try sites.client { $0.tls.roots = .certificates([]) }
            func follow(_ to: RedirectSites.Site) async throws(TransportError) -> HTTPResponse {
                try await client.send(
                    try HTTPRequest(url: sites.url(.secure, "/from?next=\(sites.url(to))"), trust: .disabled))
            }
            let response = try await follow(.secure)
            #expect(response.url.path == "/to")
            for to in [RedirectSites.Site.secureOtherPort, .secureOtherHost] {
                do throws(TransportError) {
                    _ = try await follow(to)
                    Issue.record("\(to) was trusted")
                } catch {
                    guard case .tls(_, sites.port(to), .untrusted) = error else { throw error }
                }
            }
            await client.shutdown()
        }
    }

    @Test(
        "[U-10.5] the origins that receive the client certificate can be configured",
        .timeLimit(.minutes(10)),
        arguments: [true, false])
    func namedOrigins(_ isClient: Bool) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        let named = RedirectSites.Site.secureOtherPort
        func configure(_ configuration: URLSessionConfiguration) {
            configuration.lupine.tls.identity = identity
        }
        try await RedirectSites.with(identityOrigins: [named], configure) { sites in
            let url = sites.url(.secure, "/from?next=\(sites.url(named))")
            if isClient {
                let client = try sites.client {
                    $0.tls.identity = identity
                    $0.identityOrigins = [.init(host: RedirectSites.host(named), port: sites.port(named))]
                }
                let response = try await client.get(url)
                #expect(response.url.path == "/to")
                await client.shutdown()
            } else {
                #expect(await sites.session.request(url).answered().response?.url?.path == "/to")
            }
            #expect(sites.certificates(.secure) == 0)
            #expect(sites.certificates(named) == 1)
        }
    }

    @Test(
        "[U-10.5] further fields that stay within their origin can be configured", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func sensitiveFields(_ isClient: Bool) async throws {
        func configure(_ configuration: URLSessionConfiguration) {
            configuration.lupine.sensitiveFields = ["x-mine"]
        }
        try await RedirectSites.with(status: 307, configure) { sites in
            let url = sites.url(.home, "/from?next=\(sites.url(.otherHost))")
            if isClient {
                let client = try sites.client { $0.sensitiveFields = ["x-mine"] }
                var fields = Fields()
                try fields.append(try FieldName("X-Mine"), "s3cr3t")
                try fields.append(try FieldName("X-Api-Key"), "mine")
                _ = try await client.send(try HTTPRequest(url: url, fields: fields))
                await client.shutdown()
            } else {
                _ = await sites.session.request(url, headers: ["X-Mine": "s3cr3t", "X-Api-Key": "mine"])
                    .answered()
            }
            #expect(sites.lines.contains("X-Api-Key: mine"))
            #expect(!sites.lines.contains { $0.contains("s3cr3t") })
        }
    }

    private static func refuse(_ configuration: URLSessionConfiguration) {
        configuration.lupine.followsInsecureRedirects = false
    }

    @Test(
        "[U-10.5] a redirect from https to http can be refused", .timeLimit(.minutes(10)),
        arguments: API.allCases.filter { $0 != .ofSession })
    func refused(_ api: API) async throws {
        try await RedirectSites.with(Self.refuse) { sites in
            let insecure = sites.url(.secure, "/from?next=\(sites.url(.home))")
            if api == .client {
                let client = try sites.client { $0.followsInsecureRedirects = false }
                do throws(TransportError) {
                    _ = try await client.get(insecure)
                    Issue.record("it was followed")
                } catch { #expect(error == .insecureRedirect(host: "home.test", port: sites.port(.home))) }
                let there = try await client.get(sites.url(.home, "/from?next=\(sites.url(.secure))"))
                #expect(there.url.path == "/to")
                await client.shutdown()
            } else {
                try await Self.follow(by: api, insecure, [], sites)
                #expect(sites.lines == [])
                try await Self.follow(
                    by: api, sites.url(.home, "/from?next=\(sites.url(.secure))"), [], sites)
                #expect(sites.lines != [])
            }
        }
    }

    @Test("[U-10.5] the error of a refused redirect names the host", .timeLimit(.minutes(10)))
    func refusal() async throws {
        try await RedirectSites.with(Self.refuse) { sites in
            let answer = await sites.session.request(
                sites.url(.secure, "/from?next=\(sites.url(.home))")
            ).answered()
            let error = answer.error?.underlyingError as? URLError
            #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
            #expect(
                error?.userInfo[NSUnderlyingErrorKey] as? TransportError
                    == .insecureRedirect(host: "home.test", port: sites.port(.home)))
        }
    }
}
