// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

/// A host, a name presented in a certificate, and whether the name matches the host (RFC 6125 §6.4).
struct IdentityCase: Sendable, CustomStringConvertible {
    let host: String
    let name: SubjectAlternativeName
    let matches: Bool
    var description: String { "\(host) and \(name)" }

    init(_ host: String, _ name: String, _ matches: Bool) {
        self.init(host, .dns(name), matches)
    }

    init(_ host: String, _ name: SubjectAlternativeName, _ matches: Bool) {
        (self.host, self.name, self.matches) = (host, name, matches)
    }

    private static let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
    private static let linkLocal = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    private static let mapped = [UInt8](repeating: 0, count: 10) + [255, 255, 127, 0, 0, 1]
    private static let long = String(repeating: "a", count: 63)

    static let names: [IdentityCase] = [
        IdentityCase("example.com", "example.com", true),
        IdentityCase("EXAMPLE.com", "example.COM", true),
        IdentityCase("example.com.", "example.com", true),
        IdentityCase("example.com..", "example.com", false),
        IdentityCase("example.com", "example.com.", false),
        IdentityCase("example.com.", "example.com.", false),
        IdentityCase("example.com", "example.org", false),
        IdentityCase("www.example.com", "example.com", false),
        IdentityCase("example.com", "www.example.com", false),
        IdentityCase("localhost", "localhost", true),
        IdentityCase("localhost", "*", false),
        IdentityCase("", "", false),
        IdentityCase(".", "", false),
        IdentityCase("", "*", false),
        IdentityCase("a..b.c", "a..b.c", false),
        IdentityCase(".example.com", ".example.com", false),
        IdentityCase("my_host.example.com", "my_host.example.com", true),
        IdentityCase("my_host.example.com", "*.example.com", true),
        IdentityCase("exa mple.com", "exa mple.com", false),
        IdentityCase("example.com\0", "example.com", false),
        IdentityCase("good.test", "good.test\0.evil.test", false),
        IdentityCase("good.test\0.evil.test", "good.test\0.evil.test", false),
        IdentityCase("\(long).com", "\(long).com", true),
        IdentityCase("\(long)a.com", "\(long)a.com", false),
        IdentityCase("\(long).\(long).\(long).\(long)", "\(long).\(long).\(long).\(long)", false),
        IdentityCase("example.com", .email("example.com"), false),
        IdentityCase("example.com", .uri("https://example.com/"), false),
        IdentityCase("example.com", .other("example.com"), false),
    ]

    static let wildcards: [IdentityCase] = [
        IdentityCase("www.example.com", "*.example.com", true),
        IdentityCase("WWW.Example.Com", "*.eXample.com", true),
        IdentityCase("www.example.com.", "*.example.com", true),
        IdentityCase("example.com", "*.example.com", false),
        IdentityCase(".example.com", "*.example.com", false),
        IdentityCase("a.b.example.com", "*.example.com", false),
        IdentityCase("a.b.example.com", "*.*.example.com", false),
        IdentityCase("a.b.example.com", "a.*.example.com", false),
        IdentityCase("example.com", "*.com", false),
        IdentityCase("any.test", "*.test", false),
        IdentityCase("com", "*", false),
        IdentityCase("www.example.com", "w*.example.com", false),
        IdentityCase("www.example.com", "*w.example.com", false),
        IdentityCase("www.example.com", "w*w.example.com", false),
        IdentityCase("www.example.com", "**.example.com", false),
        IdentityCase("www.example.com", "*.*.com", false),
        IdentityCase("www.example.com", "*..example.com", false),
        IdentityCase("www.example.com", "*.example.com.", false),
        IdentityCase("www.example.com", "*example.com", false),
        IdentityCase("*.example.com", "*.example.com", false),
        IdentityCase("*.example.com", "www.example.com", false),
        IdentityCase("xn--bcher-kva.test", "xn--bcher-kva.test", true),
        IdentityCase("XN--BCHER-KVA.test", "xn--bcher-kva.test", true),
        IdentityCase("xn--bcher-kva.wild.test", "*.wild.test", true),
        IdentityCase("xn--bcher-kva.wild.test", "xn--*.wild.test", false),
        IdentityCase("xn--bcher-kva.wild.test", "xn--b*.wild.test", false),
        IdentityCase("www.xn--bcher-kva.test", "*.xn--bcher-kva.test", true),
        IdentityCase("bücher.test", "bücher.test", false),
        IdentityCase("bücher.test", "xn--bcher-kva.test", false),
        IdentityCase("bücher.wild.test", "*.wild.test", false),
        IdentityCase("\u{212A}elvin.test", "kelvin.test", false),
    ]

    static let addresses: [IdentityCase] = [
        IdentityCase("127.0.0.1", .ip([127, 0, 0, 1]), true),
        IdentityCase("127.0.0.1.", .ip([127, 0, 0, 1]), true),
        IdentityCase("127.0.0.1", .ip([127, 0, 0, 2]), false),
        IdentityCase("127.0.0.1", "127.0.0.1", false),
        IdentityCase("127.0.0.1", "*.0.0.1", false),
        IdentityCase("127.0.0.1", .uri("127.0.0.1"), false),
        IdentityCase("127.0.0.1", .ip([127, 0, 0, 1, 255, 255, 255, 255]), false),
        IdentityCase("127.0.0.1", .ip([]), false),
        IdentityCase("127.0.0.1", .ip(mapped), false),
        IdentityCase("127.0.0.01", .ip([127, 0, 0, 1]), false),
        IdentityCase("127.1", .ip([127, 0, 0, 1]), false),
        IdentityCase("127.0.0.256", "127.0.0.256", false),
        IdentityCase("host.1", "host.1", false),
        IdentityCase("[127.0.0.1]", .ip([127, 0, 0, 1]), false),
        IdentityCase("::1", .ip(loopback6), true),
        IdentityCase("[::1]", .ip(loopback6), true),
        IdentityCase("0:0:0:0:0:0:0:1", .ip(loopback6), true),
        IdentityCase("[0000::0001]", .ip(loopback6), true),
        IdentityCase("::1", "::1", false),
        IdentityCase("[::1", .ip(loopback6), false),
        IdentityCase("::1]", .ip(loopback6), false),
        IdentityCase("[::1].", .ip(loopback6), false),
        IdentityCase(":::1", .ip(loopback6), false),
        IdentityCase("::1::", .ip(loopback6), false),
        IdentityCase("1:2:3:4:5:6:7:8:9", .ip(loopback6), false),
        IdentityCase("::ffff:127.0.0.1", .ip(mapped), true),
        IdentityCase("::FFFF:7f00:1", .ip(mapped), true),
        IdentityCase("::ffff:127.0.0.1", .ip([127, 0, 0, 1]), false),
        IdentityCase("fe80::1%eth0", .ip(linkLocal), true),
        IdentityCase("[fe80::1%25eth0]", .ip(linkLocal), true),
        IdentityCase("fe80::1%", .ip(linkLocal), false),
        IdentityCase("localhost", .ip([127, 0, 0, 1]), false),
    ]
}

@Suite struct PeerIdentityTests {
    @Test(arguments: IdentityCase.names + IdentityCase.wildcards + IdentityCase.addresses)
    func hostsAndNames(_ row: IdentityCase) {
        #expect(PeerIdentity.matches(host: row.host, names: [row.name]) == row.matches)
    }

    @Test func oneMatchingNameIsEnough() {
        let names: [SubjectAlternativeName] = [.uri("x"), .dns("a.test"), .ip([1, 2, 3, 4])]
        #expect(PeerIdentity.matches(host: "a.test", names: names))
        #expect(PeerIdentity.matches(host: "1.2.3.4", names: names))
        #expect(!PeerIdentity.matches(host: "b.test", names: names))
        #expect(!PeerIdentity.matches(host: "b.test", names: []))
    }

    @Test(arguments: try PKIEntry.all().filter { $0.isServer })
    func everyServerFixtureMatchesItsHost(_ entry: PKIEntry) throws {
        let certificate = try #require(try Certificate.pem(try PKI.text("\(entry.name).pem")).first)
        let host = try #require(entry.host)
        // Code 62 is OpenSSL's host mismatch.
        let isForHost = entry.code != 62
        #expect(PeerIdentity.matches(host: host, certificate: certificate) == isForHost)
        #expect(!PeerIdentity.matches(host: "elsewhere.test", certificate: certificate))
    }

    @Test func namesAreDescribedForErrors() throws {
        let good = try #require(try Certificate.pem(try PKI.text("good.pem")).first)
        #expect(PeerIdentity.names(of: good) == ["good.test", "localhost", "127.0.0.1", "0:0:0:0:0:0:0:1"])
        let uris = try #require(try Certificate.pem(try PKI.text("uri-san.pem")).first)
        #expect(PeerIdentity.names(of: uris).isEmpty)
        let hostile = try #require(try Certificate.pem(try PKI.text("nul-name.pem")).first)
        #expect(PeerIdentity.names(of: hostile) == ["good.test\\x00.evil.test"])
    }
}
