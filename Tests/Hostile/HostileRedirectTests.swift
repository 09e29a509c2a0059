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
/// Each row states the field's fate within its origin, at another origin, and over an insecure connection after a secure one.
/// Every API that sends requests is tested with every row.
@Suite struct HostileRedirectTests {
    /// The target of a redirect in relation to its source.
    enum Move: CaseIterable, Sendable {
        case within, withinSecure
        case otherHost, hostBelow, otherPort, toSecure, secureOtherHost, secureOtherPort
        case toClear

        var places: (from: RedirectSites.Site, to: RedirectSites.Site) {
            switch self {
            case .within: (.home, .home)
            case .withinSecure: (.secure, .secure)
            case .otherHost: (.home, .otherHost)
            case .hostBelow: (.home, .hostBelow)
            case .otherPort: (.home, .otherPort)
            case .toSecure: (.home, .secure)
            case .secureOtherHost: (.secure, .secureOtherHost)
            case .secureOtherPort: (.secure, .secureOtherPort)
            case .toClear: (.secure, .home)
            }
        }
    }

    /// A field that a program sets, and the value that arrives.
    struct Row: Sendable {
        let name: String
        let value: String
        /// The value at another origin; nil if the field is not sent.
        let elsewhere: String?
        /// The value over an insecure connection after a secure one.
        let inTheClear: String?

        func expected(_ move: Move) -> String? {
            switch move {
            case .within, .withinSecure: value
            case .otherHost, .hostBelow, .otherPort, .toSecure, .secureOtherHost, .secureOtherPort: elsewhere
            case .toClear: inTheClear
            }
        }
    }

    private static func never(_ name: String, _ value: String = "s3cr3t") -> Row {
        Row(name: name, value: value, elsewhere: nil, inTheClear: nil)
    }

    private static func always(_ name: String, _ value: String) -> Row {
        Row(name: name, value: value, elsewhere: value, inTheClear: value)
    }

    static let rows = [
        never("Authorization", "Bearer s3cr3t"), never("Cookie", "id=s3cr3t"),
        never("X-Api-Key"), never("x-auth-token"), never("API-KEY"), never("Private-Token"),
        never("X-Amz-Security-Token"), never("X-CSRF-Token"),
        Row(name: "Origin", value: "https://mine.test", elsewhere: "null", inTheClear: nil),
        Row(
            name: "Referer", value: "https://mine.test:8443/s3cr3t?s3cr3t",
            elsewhere: "https://mine.test:8443/",
            inTheClear: nil),
        Row(name: "X-Mine", value: "mine", elsewhere: "mine", inTheClear: nil),
        Row(name: "From", value: "me@mine.test", elsewhere: "me@mine.test", inTheClear: nil),
        always("Accept", "text/x-mine"), always("Accept-Language", "tlh"), always("User-Agent", "mine/1"),
        always("Content-Language", "tlh"), always("Range", "bytes=0-9"), always("If-None-Match", "\"mine\""),
    ]

    /// The APIs that follow redirects.
    enum Consumer: CaseIterable, Sendable {
        case client
        case data, upload, download, stream, webSocket
        /// A data request, with the fields set in the session's configuration.
        case ofSession
    }

    /// Returns the fields that `/to` received, by name in lowercase.
    private func arrives(
        by consumer: Consumer, _ fields: [(String, String)], from: RedirectSites.Site,
        path: (RedirectSites) -> String
    ) async throws -> [String: String] {
        var arrived: [String: String] = [:]
        func configure(_ configuration: URLSessionConfiguration) {
            guard consumer == .ofSession else { return }
            configuration.httpAdditionalHeaders = Dictionary(
                fields.map { (AnyHashable($0.0), $0.1 as Any) }, uniquingKeysWith: { $1 })
        }
        try await RedirectSites.with(status: 307, configure) { place in
            let url = place.url(from, path(place))
            try await Self.go(by: consumer, url, fields, place)
            for line in place.lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                arrived[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        #expect(arrived["host"] != nil, "\(consumer) did not arrive")
        return arrived
    }

    private static func go(
        by consumer: Consumer, _ url: String, _ fields: [(String, String)], _ place: RedirectSites
    ) async throws {
        let headers = HTTPHeaders(fields.map { HTTPHeader(name: $0.0, value: $0.1) })
        let body = Data("body".utf8)
        switch consumer {
        case .client:
            let client = try place.client()
            var list = Fields()
            for field in fields { try list.append(try FieldName(field.0), field.1) }
            let request = try HTTPRequest(method: .post, url: url, fields: list, body: .bytes(Array(body)))
            _ = try await client.send(request)
            await client.shutdown()
        case .data: _ = await place.session.request(url, method: .post, headers: headers).answered()
        case .upload: _ = await place.session.upload(body, to: url, headers: headers).answered()
        case .download:
            let answer = await place.session.download(url, headers: headers).answered()
            if let file = answer.fileURL { try FileManager.default.removeItem(at: file) }
        case .stream:
            await withCheckedContinuation { continuation in
                place.session.streamRequest(url, method: .post, headers: headers).responseStream { stream in
                    if case .complete = stream.event { continuation.resume() }
                }
            }
        case .ofSession: _ = await place.session.request(url).answered()
        case .webSocket:
            let address = url.replacing("http", with: "ws", maxReplacements: 1)
            var request = URLRequest(url: try #require(URL(string: address)))
            request.headers = headers
            let task = place.session.session.webSocketTask(with: request)
            task.resume()
            // The origin does not support WebSocket here: it is enough that it received the request.
            _ = try? await task.receive()
        }
    }

    @Test(
        "[U-10.5] what goes along is the same for all that follow redirects", .timeLimit(.minutes(10)),
        arguments: Consumer.allCases, Move.allCases)
    func fields(_ consumer: Consumer, _ move: Move) async throws {
        let (from, to) = move.places
        let arrived = try await arrives(by: consumer, Self.rows.map { ($0.name, $0.value) }, from: from) {
            "/from?next=\($0.url(to))"
        }
        for row in Self.rows {
            #expect(arrived[row.name.lowercased()] == row.expected(move), "\(row.name)")
        }
    }

    @Test(
        "[U-10.5] what was removed on the way does not come back", .timeLimit(.minutes(10)),
        arguments: Consumer.allCases, [RedirectSites.Site.otherHost, .home])
    func wayBack(_ consumer: Consumer, _ away: RedirectSites.Site) async throws {
        let arrived = try await arrives(by: consumer, Self.rows.map { ($0.name, $0.value) }, from: .secure) {
            "/from?next=\($0.url(away, "/from?next=\($0.url(.secure))"))"
        }
        for row in Self.rows {
            #expect(arrived[row.name.lowercased()] == row.inTheClear, "\(row.name)")
        }
    }

    @Test(
        "[U-10.5] a client shows its certificate to the first origin only", .timeLimit(.minutes(10)),
        arguments: [RedirectSites.Site.secureOtherPort, .secureOtherHost])
    func certificates(_ to: RedirectSites.Site) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        try await RedirectSites.with { place in
            let client = try place.client { $0.tls.identity = identity }
            let response = try await client.get(place.url(.secure, "/from?next=\(place.url(to))"))
            #expect(response.url.path == "/to")
            #expect(place.certificates(.secure) == 1)
            #expect(place.certificates(.secureOtherPort) == 0)
            await client.shutdown()
        }
    }

    @Test("a request's own trust does not speak for another origin", .timeLimit(.minutes(10)))
    func trust() async throws {
        try await RedirectSites.with { place in
            let client = try place.client { $0.tls.roots = .certificates([]) }
            func go(_ to: RedirectSites.Site) async throws(TransportError) -> HTTPResponse {
                try await client.send(
                    try HTTPRequest(url: place.url(.secure, "/from?next=\(place.url(to))"), trust: .disabled))
            }
            let response = try await go(.secure)
            #expect(response.url.path == "/to")
            for to in [RedirectSites.Site.secureOtherPort, .secureOtherHost] {
                do throws(TransportError) {
                    _ = try await go(to)
                    Issue.record("\(to) was trusted")
                } catch {
                    guard case .tls(_, place.port(to), .untrusted) = error else { throw error }
                }
            }
            await client.shutdown()
        }
    }

    @Test(
        "[U-10.5] the origins that see a certificate can be named", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func namedOrigins(_ isClient: Bool) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-rsa.key"))
        let named = RedirectSites.Site.secureOtherPort
        func configure(_ configuration: URLSessionConfiguration) {
            configuration.lupine.tls.identity = identity
        }
        try await RedirectSites.with(identifying: [named], configure) { place in
            let url = place.url(.secure, "/from?next=\(place.url(named))")
            if isClient {
                let client = try place.client {
                    $0.tls.identity = identity
                    $0.identityOrigins = [.init(host: RedirectSites.host(named), port: place.port(named))]
                }
                let response = try await client.get(url)
                #expect(response.url.path == "/to")
                await client.shutdown()
            } else {
                #expect(await place.session.request(url).answered().response?.url?.path == "/to")
            }
            #expect(place.certificates(.secure) == 0)
            #expect(place.certificates(named) == 1)
        }
    }

    @Test(
        "[U-10.5] what else stays within its origin can be named", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func ownNames(_ isClient: Bool) async throws {
        func configure(_ configuration: URLSessionConfiguration) {
            configuration.lupine.sensitiveFields = ["x-mine"]
        }
        try await RedirectSites.with(status: 307, configure) { place in
            let url = place.url(.home, "/from?next=\(place.url(.otherHost))")
            if isClient {
                let client = try place.client { $0.sensitiveFields = ["x-mine"] }
                var fields = Fields()
                try fields.append(try FieldName("X-Mine"), "s3cr3t")
                try fields.append(try FieldName("X-Api-Key"), "mine")
                _ = try await client.send(try HTTPRequest(url: url, fields: fields))
                await client.shutdown()
            } else {
                _ = await place.session.request(url, headers: ["X-Mine": "s3cr3t", "X-Api-Key": "mine"])
                    .answered()
            }
            #expect(place.lines.contains("X-Api-Key: mine"))
            #expect(!place.lines.contains { $0.contains("s3cr3t") })
        }
    }

    private static func refuse(_ configuration: URLSessionConfiguration) {
        configuration.lupine.followsInsecureRedirects = false
    }

    @Test(
        "[U-10.5] a redirect from https to http can be refused", .timeLimit(.minutes(10)),
        arguments: Consumer.allCases.filter { $0 != .ofSession })
    func refused(_ consumer: Consumer) async throws {
        try await RedirectSites.with(Self.refuse) { place in
            let insecure = place.url(.secure, "/from?next=\(place.url(.home))")
            if consumer == .client {
                let client = try place.client { $0.followsInsecureRedirects = false }
                do throws(TransportError) {
                    _ = try await client.get(insecure)
                    Issue.record("it was followed")
                } catch { #expect(error == .insecureRedirect(host: "home.test", port: place.port(.home))) }
                let there = try await client.get(place.url(.home, "/from?next=\(place.url(.secure))"))
                #expect(there.url.path == "/to")
                await client.shutdown()
            } else {
                try await Self.go(by: consumer, insecure, [], place)
                #expect(place.lines == [])
                try await Self.go(
                    by: consumer, place.url(.home, "/from?next=\(place.url(.secure))"), [], place)
                #expect(place.lines != [])
            }
        }
    }

    @Test("[U-10.5] the error of a refused redirect says which host", .timeLimit(.minutes(10)))
    func refusal() async throws {
        try await RedirectSites.with(Self.refuse) { place in
            let answer = await place.session.request(
                place.url(.secure, "/from?next=\(place.url(.home))")
            ).answered()
            let error = answer.error?.underlyingError as? URLError
            #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
            #expect(
                error?.userInfo[NSUnderlyingErrorKey] as? TransportError
                    == .insecureRedirect(host: "home.test", port: place.port(.home)))
        }
    }
}
