// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// Cookies that nginx sets, and those that the session sends back.
@Suite struct NginxCookieTests {
    private static let locations = """
        location = /set {
            add_header Set-Cookie "everywhere=1; Path=/";
            add_header Set-Cookie "here=2; Path=/echo/deep";
            add_header Set-Cookie "elsewhere=3; Path=/other";
            add_header Set-Cookie "secure=4; Path=/; Secure";
            add_header Set-Cookie "kept=5; Path=/; Max-Age=3600";
            add_header Set-Cookie "past=6; Path=/; Expires=Thu, 01 Jan 1970 00:00:01 GMT";
            add_header Set-Cookie "foreign=7; Path=/; Domain=example.org";
            add_header Set-Cookie "default=8";
            return 200 "set";
        }
        location = /drop { add_header Set-Cookie "everywhere=; Path=/; Max-Age=0"; return 200 "dropped"; }
        location /echo { return 200 "$http_cookie"; }
        """

    @Test("what nginx sets comes back where it belongs, until nginx takes it away", .timeLimit(.minutes(10)))
    func plain() async throws {
        try await NginxSession.with(Self.locations) { stage in
            let session = stage.session()
            let echo = { (path: String) in try await stage.get(path, by: session).text }
            #expect(try await echo("/echo") == "")
            #expect(try await echo("/set") == "set")
            #expect(try await echo("/echo") == "everywhere=1; kept=5; default=8")
            #expect(try await echo("/echo/deep/er") == "here=2; everywhere=1; kept=5; default=8")
            #expect(try await echo("/drop") == "dropped")
            #expect(try await echo("/echo") == "kept=5; default=8")
            let storage = try #require(session.configuration.httpCookieStorage)
            let kept = try #require(storage.cookies?.first { $0.name == "kept" })
            #expect(kept.expiresDate != nil && !kept.isSessionOnly)
            session.invalidateAndCancel()
            // Another ephemeral session does not have them.
            let other = stage.session()
            #expect(try await stage.get("/echo", by: other).text == "")
            other.invalidateAndCancel()
        }
    }

    @Test("a policy of none takes nothing", .timeLimit(.minutes(10)))
    func refused() async throws {
        try await NginxSession.with(Self.locations) { stage in
            let session = stage.session { $0.httpCookieAcceptPolicy = .never }
            _ = try await stage.get("/set", by: session)
            #expect(try await stage.get("/echo", by: session).text == "")
            session.invalidateAndCancel()
        }
    }

    @Test("a secure cookie is set and sent where the connection is secure", .timeLimit(.minutes(10)))
    func secure() async throws {
        let host = NginxTLSServer.Host(address: 1, leaf: "good", directives: Self.locations)
        try await ServerProcess.with(NginxTLSServer(hosts: [host])) { nginx in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configuration.lupine.tls.roots = TrustRoots(
                includesSystem: false, certificates: try Certificate.pem(PKI.text("root.pem")))
            let port = nginx.place.port
            configuration.lupine.addressOverrides[.init(host: "good.test", port: port)] = [
                .ipv4(.loopback, port: port)
            ]
            let session = URLSession(configuration: configuration)
            let url = { (path: String) in try #require(URL(string: "https://good.test:\(port)\(path)")) }
            _ = try await session.data(from: url("/set"))
            let (data, _) = try await session.data(from: url("/echo"))
            #expect(
                String(decoding: data, as: UTF8.self) == "everywhere=1; secure=4; kept=5; default=8")
            session.invalidateAndCancel()
        }
    }
}
