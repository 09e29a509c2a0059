// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

struct TransportURLTests {
    struct Valid: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var host: String
        var port: UInt16
        var target: String
        var hostField: String
        var zone: String?
        var unixPath: String?
        /// The expected description; nil if it equals `testDescription`.
        var written: String?
    }

    @Test(arguments: [
        Valid(
            testDescription: "http://a", host: "a", port: 80, target: "/", hostField: "a",
            written: "http://a/"),
        Valid(testDescription: "http://a/", host: "a", port: 80, target: "/", hostField: "a"),
        Valid(
            testDescription: "HTTPS://EXAMPLE.Test/P?Q", host: "example.test", port: 443, target: "/P?Q",
            hostField: "example.test", written: "https://example.test/P?Q"),
        Valid(
            testDescription: "http://a:80/", host: "a", port: 80, target: "/", hostField: "a",
            written: "http://a/"),
        Valid(
            testDescription: "http://a:/", host: "a", port: 80, target: "/", hostField: "a",
            written: "http://a/"),
        Valid(testDescription: "https://a:80/", host: "a", port: 80, target: "/", hostField: "a:80"),
        Valid(
            testDescription: "http://a:00065535/", host: "a", port: 65535, target: "/", hostField: "a:65535",
            written: "http://a:65535/"),
        Valid(
            testDescription: "http://a?q", host: "a", port: 80, target: "/?q", hostField: "a",
            written: "http://a/?q"),
        Valid(
            testDescription: "http://a?", host: "a", port: 80, target: "/?", hostField: "a",
            written: "http://a/?"),
        Valid(
            testDescription: "http://a/x#frag?/", host: "a", port: 80, target: "/x", hostField: "a",
            written: "http://a/x"),
        Valid(
            testDescription: "http://a/%2e%2E/../b//c/./", host: "a", port: 80, target: "/%2e%2E/../b//c/./",
            hostField: "a"),
        Valid(
            testDescription: "http://a/:@!$&'()*+,;=-._~?/?:@", host: "a", port: 80,
            target: "/:@!$&'()*+,;=-._~?/?:@", hostField: "a"),
        Valid(testDescription: "http://a//b", host: "a", port: 80, target: "//b", hostField: "a"),
        Valid(
            testDescription: "http://a_b-c.test./", host: "a_b-c.test.", port: 80, target: "/",
            hostField: "a_b-c.test."),
        Valid(
            testDescription: "http://127.0.0.1:8080/x", host: "127.0.0.1", port: 8080, target: "/x",
            hostField: "127.0.0.1:8080"),
        Valid(testDescription: "http://[::1]/", host: "::1", port: 80, target: "/", hostField: "[::1]"),
        Valid(
            testDescription: "https://[2001:DB8::A]:8443/", host: "2001:db8::a", port: 8443, target: "/",
            hostField: "[2001:db8::a]:8443", written: "https://[2001:db8::a]:8443/"),
        Valid(
            testDescription: "http://[fe80::1%25eth0]/", host: "fe80::1", port: 80, target: "/",
            hostField: "[fe80::1]", zone: "eth0"),
        Valid(
            testDescription: "http://[fe80::1%25a%2Fb]/", host: "fe80::1", port: 80, target: "/",
            hostField: "[fe80::1]", zone: "a/b"),
        Valid(
            testDescription: "http+unix://%2Frun%2Fd.sock/v1?x=1", host: "localhost", port: 0,
            target: "/v1?x=1", hostField: "localhost", unixPath: "/run/d.sock"),
        Valid(
            testDescription: "http+unix://%2ftmp%2f%c3%a9", host: "localhost", port: 0, target: "/",
            hostField: "localhost", unixPath: "/tmp/é", written: "http+unix://%2Ftmp%2F%C3%A9/"),
    ])
    func parse(_ row: Valid) throws {
        let url = try TransportURL(row.testDescription)
        #expect(url.host == row.host)
        #expect(url.port == row.port)
        #expect(url.target == row.target)
        #expect(url.hostField == row.hostField)
        #expect(url.zone == row.zone)
        #expect(url.unixPath == row.unixPath)
        #expect(url.description == row.written ?? row.testDescription)
        #expect(try TransportURL(url.description) == url, "the description parses to the same URL")
    }

    @Test("[H-8.17] an empty path means /, except that OPTIONS then asks for *")
    func anEmptyPath() throws {
        for (text, hasEmptyPath) in [
            ("http://a", true), ("http://a#f", true), ("http+unix://%2Fa", true), ("http://a/", false),
            ("http://a?", false), ("http://a?q", false), ("http://a/x", false),
        ] {
            let url = try TransportURL(text)
            #expect(url.target(of: .options) == (hasEmptyPath ? .asterisk : .origin(url.target)), "\(text)")
            #expect(url.target(of: .get) == .origin(url.target))
        }
        let (emptyPath, rootPath) = (try TransportURL("http://a"), try TransportURL("http://a/"))
        #expect(emptyPath == rootPath && emptyPath.hashValue == rootPath.hashValue && emptyPath.path == "/")
        for (base, reference, hasEmptyPath) in [
            ("http://a/b", "http://c", true), ("http://a/b", "//c", true), ("http://a", "#f", true),
            ("http://a", "", true), ("http://a", "/", false), ("http://a", ".", false),
            ("http://a", "?q", false), ("http://a/", "", false), ("http://a/", "http://c/", false),
        ] {
            let url = try TransportURL(base).resolving(reference)
            #expect((url.target(of: .options) == .asterisk) == hasEmptyPath, "\(reference) at \(base)")
        }
    }

    struct Invalid: CustomTestStringConvertible, Sendable {
        var text: String
        var error: TransportURLError
        var testDescription: String { text.debugDescription }
    }

    @Test(arguments: [
        Invalid(text: "", error: .missingScheme),
        Invalid(text: "a.test/x", error: .missingScheme),
        Invalid(text: "//a/x", error: .missingScheme),
        Invalid(text: "1http://a", error: .missingScheme),
        Invalid(text: "ftp://a", error: .unsupportedScheme("ftp")),
        Invalid(text: "localhost:80", error: .unsupportedScheme("localhost")),
        Invalid(text: "http:a", error: .missingAuthority(offset: 5)),
        Invalid(text: "http:/a", error: .missingAuthority(offset: 5)),
        Invalid(text: "http://", error: .emptyHost(offset: 7)),
        Invalid(text: "http:///x", error: .emptyHost(offset: 7)),
        Invalid(text: "http://:80/", error: .emptyHost(offset: 7)),
        Invalid(text: "http://?x", error: .emptyHost(offset: 7)),
        Invalid(text: "http://u@a/", error: .userinfo(offset: 7)),
        Invalid(text: "http://u:p@a/", error: .userinfo(offset: 7)),
        Invalid(text: "http://@a/", error: .userinfo(offset: 7)),
        Invalid(text: "http://good.test@evil.test/", error: .userinfo(offset: 7)),
        Invalid(text: "http://a\\@b/", error: .userinfo(offset: 7)),
        Invalid(text: "http://a\\b/", error: .illegalByte(0x5C, offset: 8)),
        Invalid(text: "http://a b/", error: .illegalByte(0x20, offset: 8)),
        Invalid(text: " http://a/", error: .illegalByte(0x20, offset: 0)),
        Invalid(text: "http://a/\r\nX: y", error: .illegalByte(0x0D, offset: 9)),
        Invalid(text: "http://a/\u{0}", error: .illegalByte(0x00, offset: 9)),
        Invalid(text: "http://a/\u{7F}", error: .illegalByte(0x7F, offset: 9)),
        Invalid(text: "http://é/", error: .illegalByte(0xC3, offset: 7)),
        Invalid(text: "http://a/é", error: .illegalByte(0xC3, offset: 9)),
        Invalid(text: "http://a/x|y", error: .illegalByte(0x7C, offset: 10)),
        Invalid(text: "http://a/?[x]", error: .illegalByte(0x5B, offset: 10)),
        Invalid(text: "http://a/#a#b", error: .illegalByte(0x23, offset: 11)),
        Invalid(text: "http://a/%", error: .malformedPercentEncoding(offset: 9)),
        Invalid(text: "http://a/%4", error: .malformedPercentEncoding(offset: 9)),
        Invalid(text: "http://a/?%4g", error: .malformedPercentEncoding(offset: 10)),
        Invalid(text: "http://a/#%", error: .malformedPercentEncoding(offset: 10)),
        Invalid(text: "http://a%2Eb/", error: .percentEncodedHost(offset: 8)),
        Invalid(text: "http://a:0/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://a:65536/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://a:99999999999999999999/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://a:-1/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://a:8x/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://a:b:80/", error: .malformedPort(offset: 9)),
        Invalid(text: "http://::1/", error: .emptyHost(offset: 7)),
        Invalid(text: "http://[::1/", error: .malformedIPLiteral(offset: 7)),
        Invalid(text: "http://[]/", error: .malformedIPLiteral(offset: 8)),
        Invalid(text: "http://[1.2.3.4]/", error: .malformedIPLiteral(offset: 8)),
        Invalid(text: "http://[v1.x]/", error: .malformedIPLiteral(offset: 8)),
        Invalid(text: "http://[::1]x/", error: .illegalByte(0x78, offset: 12)),
        Invalid(text: "http://[fe80::1%eth0]/", error: .malformedZone(offset: 15)),
        Invalid(text: "http://[fe80::1%25]/", error: .malformedZone(offset: 15)),
        Invalid(text: "http://[fe80::1%25%00]/", error: .malformedZone(offset: 15)),
        Invalid(text: "http+unix:///x", error: .emptyHost(offset: 12)),
        Invalid(text: "http+unix://%2Fa:80/", error: .malformedSocketPath(offset: 16)),
        Invalid(text: "http+unix://%2Fa%00b/", error: .malformedSocketPath(offset: 12)),
        Invalid(text: "http+unix://%2F%FF/", error: .malformedSocketPath(offset: 12)),
        Invalid(text: "http+unix://%2/", error: .malformedPercentEncoding(offset: 12)),
        Invalid(
            text: "http+unix://" + String(repeating: "a", count: 108),
            error: .socketPathTooLong(length: 108, limit: 107)),
        Invalid(
            text: "http://a/" + String(repeating: "x", count: 64 * 1024 - 8),
            error: .tooLong(length: 65537, limit: 65536)),
    ])
    func refuse(_ row: Invalid) {
        #expect(throws: row.error) { _ = try TransportURL(row.text) }
    }

    @Test func limitsAreReachedExactly() throws {
        _ = try TransportURL("http://a/" + String(repeating: "x", count: 64 * 1024 - 9))
        _ = try TransportURL("http+unix://" + String(repeating: "a", count: 107))
    }

    /// All examples of RFC 3986 §5.4, with the base `http://a/b/c/d;p?q`. Fragments are not sent, so they are left out.
    @Test(arguments: [
        // §5.4.1, normal examples.
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        // §5.4.2, abnormal examples.
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g"), ("g#s/../x", "http://a/b/c/g"),
        // Further examples.
        ("https://h:1/x/../y?z", "https://h:1/y?z"), ("//h:81/..", "http://h:81/"),
        ("?", "http://a/b/c/d;p?"),
        ("%2e%2e/g", "http://a/b/c/%2e%2e/g"), ("HTTP://B", "http://b/"), ("g/..", "http://a/b/c/"),
        ("./a:b", "http://a/b/c/a:b"), ("/", "http://a/"), ("//g?y", "http://g/?y"),
    ])
    func resolve(_ reference: String, _ expected: String) throws {
        let base = try TransportURL("http://a/b/c/d;p?q")
        #expect(try base.resolving(reference).description == expected)
    }

    @Test(
        arguments: [
            ("g:h", .unsupportedScheme("g")), ("http:g", .missingAuthority(offset: 5)),
            ("//", .emptyHost(offset: 2)),
            ("//u@h/", .userinfo(offset: 2)), ("a b", .illegalByte(0x20, offset: 1)),
            ("a\nb", .illegalByte(0x0A, offset: 1)),
            ("x%", .malformedPercentEncoding(offset: 1)),
            ("javascript:alert(1)", .unsupportedScheme("javascript")),
        ] as [(String, TransportURLError)])
    func resolveRefuses(_ reference: String, _ error: TransportURLError) throws {
        let base = try TransportURL("http://a/b/c/d;p?q")
        #expect(throws: error) { _ = try base.resolving(reference) }
    }

    @Test func relativeReferencesKeepTheSocketAndThePort() throws {
        let socket = try TransportURL("http+unix://%2Fs/a/b?c")
        #expect(try socket.resolving("../d").description == "http+unix://%2Fs/d")
        let bare = try TransportURL("http://[::1]:8080")
        #expect(try bare.resolving("g").description == "http://[::1]:8080/g")
    }

    @Test(arguments: [
        ("/a b", "http://h/a%20b"), ("/é", "http://h/%C3%A9"), ("/100%", "http://h/100%25"),
        ("/%41%4", "http://h/%41%254"), ("/?a[]={1|2}", "http://h/?a%5B%5D=%7B1%7C2%7D"),
        ("http://[::1]/?[]", "http://[::1]/?%5B%5D"), ("/\"<>\\^`", "http://h/%22%3C%3E%5C%5E%60"),
    ])
    func aLocationFieldIsRepaired(_ location: String, _ expected: String) throws {
        #expect(try TransportURL("http://h/").resolving(location: location).description == expected)
    }

    @Test(arguments: ["/a\r\nSet-Cookie: x", "/\u{0}", "/\u{7F}", "http://a b/", "http://é/"])
    func controlBytesAndInvalidHostsAreNotRepaired(_ location: String) {
        #expect(throws: TransportURLError.self) {
            _ = try TransportURL("http://h/").resolving(location: location)
        }
    }
}
