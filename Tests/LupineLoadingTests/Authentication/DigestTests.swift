// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import Testing

@testable import LupineLoading

struct DigestTests {
    static func answers(_ parameters: String, user: String, password: String) throws -> DigestResponse {
        let syntax = try #require(ChallengeSyntax.parse(["Digest " + parameters]).first)
        return DigestResponse(
            try #require(DigestChallenge(syntax)), user: user, password: password)
    }

    /// Returns the parameters of an answer, with their quotes.
    static func parameters(_ field: String?) throws -> [String: String] {
        let field = try #require(field)
        #expect(field.hasPrefix("Digest "))
        let pairs = field.dropFirst(7).components(separatedBy: ", ").map { pair in
            let equals = pair.firstIndex(of: "=") ?? pair.endIndex
            return (String(pair[..<equals]), String(pair[equals...].dropFirst()))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    static let mufasa =
        "realm=\"http-auth@example.org\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
    static let mufasaNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    static let host =
        "realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"x\", "

    static let vectors: [(parameters: String, password: String, nonce: String, response: String)] = [
        (
            mufasa + "qop=auth, algorithm=MD5", "Circle of Life", mufasaNonce,
            "8ca523f5e9506fed4657c9700eebdbec"
        ),
        (
            mufasa + "qop=\"auth, auth-int\"", "Circle of Life", mufasaNonce,
            "8ca523f5e9506fed4657c9700eebdbec"
        ),
        (
            mufasa + "qop=auth, algorithm=SHA-256", "Circle of Life", mufasaNonce,
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        ),
        (
            mufasa + "qop=auth, algorithm=MD5-sess", "Circle of Life", mufasaNonce,
            "e783283f46242139c486a698fec7211d"
        ),
        (mufasa + "qop=auth-int", "Circle of Life", mufasaNonce, "8804a53d3640a40a4f73cea12c5ba451"),
        (host + "qop=auth", "Circle Of Life", "0a4f113b", "6629fae49393a05397450978507c4ef1"),
        (host, "Circle Of Life", "0a4f113b", "670fd8c2df070c60b045671b8b24ff02"),
    ]

    @Test("[U-11.10, U-11.14] the examples of the standards", arguments: vectors)
    func examples(parameters: String, password: String, nonce: String, response: String) throws {
        var answers = try Self.answers(parameters, user: "Mufasa", password: password)
        let field = answers.field(method: "GET", uri: "/dir/index.html", content: [], clientNonce: nonce)
        #expect(try Self.parameters(field)["response"] == "\"\(response)\"")
    }

    // RFC 7616 §3.9.2 gives the values of a truncated SHA-512; these are OpenSSL's for SHA-512/256.
    @Test("[U-11.9, U-11.12] SHA-512-256 with a hashed name")
    func hashedName() throws {
        var answers = try Self.answers(
            "realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
                + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", "
                + "opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGChXYjwrI2QmXDnsOS\", charset=UTF-8, userhash=true",
            user: "Jäsøn Doe", password: "Secret, or not?")
        let parameters = try Self.parameters(
            answers.field(
                method: "GET", uri: "/doe.json", content: nil, clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"
            ))
        #expect(
            parameters["username"] == "\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\"")
        #expect(
            parameters["response"] == "\"7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c\"")
        #expect(parameters["userhash"] == "true" && parameters["username*"] == nil)
    }

    @Test("[U-11.12] a user name that is not ASCII is sent in the extended form if the server reads UTF-8")
    func names() throws {
        let rows: [(String, String, String, String)] = [
            ("charset=UTF-8", "Jäsøn Doe", "username*", "UTF-8''J%C3%A4s%C3%B8n%20Doe"),
            ("charset=UTF-8", "Jason", "username", "\"Jason\""), ("", "Jäsøn", "username", "\"Jäsøn\""),
            ("", "a\"b\\c", "username", "\"a\\\"b\\\\c\""),
        ]
        for (extra, user, name, value) in rows {
            var answers = try Self.answers("realm=r, nonce=n, qop=auth, \(extra)", user: user, password: "p")
            let field = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "c")
            let parameters = try Self.parameters(field)
            #expect(parameters[name] == value)
            #expect(parameters.keys.filter { $0.hasPrefix("username") }.count == 1)
        }
    }

    @Test func aUserNameWithALineBreakIsNotSent() throws {
        for (extra, isSent) in [("", false), ("userhash=true", true)] {
            var answers = try Self.answers("realm=r, nonce=n, \(extra)", user: "a\r\nb", password: "p")
            let field = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "c")
            #expect((field != nil) == isSent)
        }
    }

    static let algorithms: [(name: String, hash: MessageDigest?, isSession: Bool)] = [
        ("MD5", .md5, false), ("md5-SESS", .md5, true), ("SHA-256", .sha256, false),
        ("sha-256-sess", .sha256, true),
        ("SHA-512-256", .sha512Cut256, false), ("SHA-512-256-sess", .sha512Cut256, true),
        ("SHA-512", nil, false),
        ("", nil, false), ("-sess", nil, true),
    ]

    @Test("[U-11.9] algorithms by name", arguments: algorithms)
    func algorithmNames(name: String, hash: MessageDigest?, isSession: Bool) {
        #expect(DigestAlgorithm(name: name)?.hash == hash)
        if hash != nil { #expect(DigestAlgorithm(name: name)?.isSession == isSession) }
    }

    static let protections: [(parameters: String, protection: DigestChallenge.Protection??)] = [
        ("qop=\"auth\"", .some(.auth)), ("qop=\"auth-int,AUTH\"", .some(.auth)),
        ("qop=auth-int", .some(.authInt)),
        ("", .some(nil)), ("qop=other", nil), ("qop=\"\"", nil),
    ]

    @Test("[U-11.9] auth is preferred, auth-int alone is used, no qop is RFC 2069", arguments: protections)
    func protection(parameters: String, protection: DigestChallenge.Protection??) throws {
        let syntax = try #require(ChallengeSyntax.parse(["Digest realm=r, nonce=n, " + parameters]).first)
        #expect(DigestChallenge(syntax).map(\.protection) == protection)
    }

    @Test("[U-11.9, U-11.11] which parameters are quoted, and which ones RFC 2069 omits")
    func form() throws {
        var answers = try Self.answers(
            "realm=\"a \\\"b\\\"\", nonce=\"n\", qop=\"auth\", opaque=\"o\", algorithm=md5", user: "u",
            password: "p")
        let parameters = try Self.parameters(
            answers.field(method: "GET", uri: "/x?y", content: nil, clientNonce: "c"))
        #expect(parameters["realm"] == "\"a \\\"b\\\"\"" && parameters["username"] == "\"u\"")
        #expect(parameters["nonce"] == "\"n\"" && parameters["uri"] == "\"/x?y\"")
        #expect(parameters["cnonce"] == "\"c\"" && parameters["opaque"] == "\"o\"")
        #expect(
            parameters["algorithm"] == "md5" && parameters["qop"] == "auth" && parameters["nc"] == "00000001")
        #expect(parameters["userhash"] == nil)
        var old = try Self.answers("realm=r, nonce=n", user: "u", password: "p")
        let rfc2069 = try Self.parameters(old.field(method: "GET", uri: "/", content: nil, clientNonce: "c"))
        #expect(rfc2069.keys.sorted() == ["nonce", "realm", "response", "uri", "username"])
    }

    @Test("[U-11.11] the count starts at one for each nonce")
    func counts() throws {
        var answers = try Self.answers("realm=r, nonce=n, qop=auth", user: "u", password: "p")
        for expected in ["00000001", "00000002", "00000003"] {
            let field = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "c")
            #expect(try Self.parameters(field)["nc"] == expected)
        }
        #expect(DigestResponse.freshClientNonce().count >= 26)
        #expect(DigestResponse.freshClientNonce() != DigestResponse.freshClientNonce())
    }

    @Test func nextnonceRestartsTheCount() throws {
        var answers = try Self.answers("realm=r, nonce=n, qop=auth", user: "u", password: "p")
        _ = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "c")
        let isTakenWithout = answers.useNextNonce(in: "rspauth=\"x\", cnonce=\"c\"")
        #expect(!isTakenWithout && answers.nonceCount == 1)
        let long = String(repeating: "m", count: 8_193)
        let isLongTaken = answers.useNextNonce(in: "nextnonce=\"\(long)\"")
        #expect(!isLongTaken && answers.nonceCount == 1)
        let isTaken = answers.useNextNonce(in: "qop=auth, nextnonce=\"m\"")
        #expect(isTaken)
        let field = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "c")
        #expect(try Self.parameters(field)["nc"] == "00000001")
        #expect(try Self.parameters(field)["nonce"] == "\"m\"")
    }

    @Test("[U-11.10] the key of a -sess algorithm uses its first nonces")
    func sessions() throws {
        var answers = try Self.answers(
            "realm=r, nonce=n, qop=auth, algorithm=SHA-256-sess", user: "u", password: "p")
        _ = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "first")
        let field = answers.field(method: "GET", uri: "/", content: nil, clientNonce: "second")
        let hash = { (text: String) in
            (MessageDigest.sha256.digest(of: Array(text.utf8)) ?? []).map { octet in
                String(octet >> 4, radix: 16) + String(octet & 15, radix: 16)
            }
            .joined()
        }
        let key = hash(hash("u:r:p") + ":n:first")
        let response = hash("\(key):n:00000002:second:auth:" + hash("GET:/"))
        #expect(try Self.parameters(field)["response"] == "\"\(response)\"")
    }

    @Test("[U-11.10] unknown content cannot be protected with auth-int")
    func unknownContent() throws {
        var answers = try Self.answers("realm=r, nonce=n, qop=auth-int", user: "u", password: "p")
        let none = answers.field(method: "PUT", uri: "/", content: nil, clientNonce: "c")
        #expect(none == nil && answers.nonceCount == 0)
        let one = answers.field(method: "PUT", uri: "/", content: [1], clientNonce: "c")
        let two = answers.field(method: "PUT", uri: "/", content: [2], clientNonce: "c")
        #expect(try Self.parameters(one)["response"] != Self.parameters(two)["response"])
    }

    @Test func otherParametersOfAChallenge() throws {
        let syntax = try #require(
            ChallengeSyntax.parse(["Digest realm=r, nonce=n, stale=TRUE, domain=\"/a http://x/b\""]).first)
        let challenge = try #require(DigestChallenge(syntax))
        #expect(challenge.isStale && challenge.domain == ["/a", "http://x/b"])
        #expect(!challenge.hashesUserName && !challenge.acceptsUTF8)
    }

    @Test("[U-11.15] of a domain list the first 64 entries count")
    func manyPlaces() throws {
        let places = (0..<1_000).map { "/\($0)" }
        let syntax = ChallengeSyntax.parse([
            "Digest realm=r, nonce=n, domain=\"\(places.joined(separator: " "))\""
        ])
        let challenge = try #require(syntax.first.flatMap { DigestChallenge($0) })
        #expect(challenge.domain == Array(places.prefix(64)))
    }
}
