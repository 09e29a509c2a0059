// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import Testing

@testable import LupineLoading

struct ChallengeTests {
    /// Returns `scheme{name=value|name=value}` or `scheme<token68>` for each challenge.
    static func shown(_ challenges: [ChallengeSyntax]) -> String {
        challenges.map { challenge in
            if let token = challenge.token68 { return "\(challenge.scheme)<\(token)>" }
            return "\(challenge.scheme){"
                + challenge.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "|") + "}"
        }
        .joined(separator: " ")
    }

    static let rows: [(lines: [String], shown: String)] = [
        (["Basic realm=\"a\""], "basic{realm=a}"), (["BASIC REALM=a"], "basic{realm=a}"),
        (["Basic"], "basic{}"), (["Basic, Digest nonce=x"], "basic{} digest{nonce=x}"),
        (
            ["Basic realm=\"a, b\", Digest realm=\"c\", nonce=\"d\""],
            "basic{realm=a, b} digest{realm=c|nonce=d}"
        ),
        (
            ["Digest realm=\"a\" , nonce = \"b\",qop=\"auth,auth-int\""],
            "digest{realm=a|nonce=b|qop=auth,auth-int}"
        ),
        (["Basic realm=\"q\\\"\\\\\""], "basic{realm=q\"\\}"), (["Negotiate"], "negotiate{}"),
        (["Negotiate oYG2MIGz==, Basic realm=x"], "negotiate<oYG2MIGz==> basic{realm=x}"),
        (["NTLM", "Basic realm=x"], "ntlm{} basic{realm=x}"),
        (
            ["Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\""],
            "newauth{realm=apps|type=1|title=Login to \"apps\"} basic{realm=simple}"
        ),
        ([", ,Basic realm=a,,"], "basic{realm=a}"), (["Basic realm=\"open"], "basic{realm=open}"),
        (["Basic realm=\"x\\"], "basic{realm=x\\}"), ([""], ""), (["\"x, y\", Basic a=b"], "basic{a=b}"),
        (["=, Basic a=b"], "basic{a=b}"), (["Basic @, a=b"], "basic{a=b}"),
        (["Basic a=b c=d"], "basic{a=b|c=d}"),
    ]

    @Test("[U-11.3] challenges of all lines are read", arguments: rows)
    func challengesAreRead(lines: [String], shown: String) {
        #expect(Self.shown(ChallengeSyntax.parse(lines)) == shown)
    }

    @Test("[U-2.2] values of a challenge are quick to compare, also with combining marks in quoted pairs")
    func marks() throws {
        let value = "x" + String(repeating: "\\\u{301}", count: 1_000)
        let challenge = try #require(ChallengeSyntax.parse(["Basic realm=\"\(value)\""]).first)
        let realm = try #require(challenge.parameters.first?.value)
        #expect(realm.utf8.count > 2_000 && realm.isStreamSafe)
    }

    @Test("[U-11.3] the limits on challenges of all lines, and on parameters of each")
    func manyChallenges() {
        let line = String(repeating: "Digest nonce=n,realm=r,", count: 50)
        let challenges = ChallengeSyntax.parse([line, line, "Basic realm=x"])
        #expect(challenges.count == 64 && challenges.allSatisfy { $0.scheme == "digest" })
        let parameters = (0..<100).map { "p\($0)=v" }.joined(separator: ",")
        let wide = ChallengeSyntax.parse(["Basic " + parameters + ", Digest nonce=n"])
        #expect(wide.map(\.scheme) == ["basic", "digest"] && wide.first?.parameters.count == 64)
    }

    @Test func anyOctetsAreParsed() {
        let alphabet = Array("aB1 ,=\"\\\t@;".utf8)
        var state: UInt64 = 42
        for _ in 0..<20_000 {
            let octets = (0..<12).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return alphabet[Int(state >> 33) % alphabet.count]
            }
            for challenge in ChallengeSyntax.parse([String(decoding: octets, as: UTF8.self)]) {
                #expect(!challenge.scheme.isEmpty)
            }
        }
    }

    static let asker = AuthenticationCandidate.Challenger.server(
        host: "h.example", port: 443, scheme: "https")

    static let offers: [(lines: [String], names: [String])] = [
        (["Basic realm=x", "Digest realm=x, nonce=n"], ["MD5", "basic x"]),
        (
            [
                "Digest realm=x, nonce=n, algorithm=MD5", "Digest realm=x, nonce=n, algorithm=sha-256",
                "Basic realm=x", "Digest realm=x, nonce=n, algorithm=SHA-512-256-sess",
            ], ["SHA-512-256-sess", "sha-256", "MD5", "basic x"]
        ),
        (["Negotiate", "NTLM", "Bearer realm=x"], []), (["Digest realm=x, nonce=n, algorithm=SHA-1"], []),
        (["Digest realm=x"], []), (["Digest nonce=n"], []), (["Digest realm=x, nonce=n, qop=other"], []),
        (["Basic realm=b", "Basic realm=a"], ["basic b", "basic a"]), ([], []),
    ]

    @Test(
        "[U-11.3] candidates are ordered by strength, unknown schemes are left out", arguments: offers)
    func candidates(lines: [String], names: [String]) {
        let found = AuthenticationCandidate.candidates(in: lines, from: Self.asker).map { candidate in
            switch candidate {
            case .basic(let realm): "basic " + realm
            case .digest(let challenge): challenge.algorithmName ?? "MD5"
            }
        }
        #expect(found == names)
    }

    static let spaces: [(url: String, host: String, port: Int, scheme: String)] = [
        ("http://h/", "h", 80, "http"), ("HTTPS://H/", "H", 443, "https"),
        ("https://h:8443/x", "h", 8_443, "https"),
        ("wss://h/", "h", 443, "https"), ("ws://h:1/", "h", 1, "http"),
    ]

    @Test(
        "[U-11.2] a space has the URL's host, port and scheme, and the challenge's realm",
        arguments: spaces)
    func spacesOfServers(url: String, host: String, port: Int, scheme: String) throws {
        let asker = try #require(
            URL(string: url).flatMap { AuthenticationCandidate.Challenger.server(of: $0) })
        let realms = [("Basic realm=\"r\"", "r"), ("Basic", host), ("Basic realm=\"\"", "")]
        for (line, realm) in realms {
            let space = try #require(AuthenticationCandidate.candidates(in: [line], from: asker).first)
                .space(of: asker)
            #expect(
                space
                    == URLProtectionSpace(
                        host: host, port: port, protocol: scheme, realm: realm,
                        authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
        }
    }

    @Test func protectionSpacesOfProxies() throws {
        let asker = AuthenticationCandidate.Challenger.proxy(host: "p", port: 3_128, type: "http")
        let candidates = AuthenticationCandidate.candidates(in: ["Digest realm=r, nonce=n"], from: asker)
        let space = try #require(candidates.first).space(of: asker)
        #expect(
            space
                == URLProtectionSpace(
                    proxyHost: "p", port: 3_128, type: "http", realm: "r",
                    authenticationMethod: NSURLAuthenticationMethodHTTPDigest))
    }

    static let basics: [(user: String, password: String, field: String?)] = [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("", "", "Basic Og=="), ("a", "b:c", "Basic YTpiOmM="), ("a:b", "c", nil), ("a\nb", "c", nil),
        ("a", "b\0", nil), ("a\u{7F}", "b", nil),
    ]

    @Test("[U-11.8] Basic is the credential in base64, if it can be sent", arguments: basics)
    func basic(user: String, password: String, field: String?) {
        #expect(BasicResponse.field(user: user, password: password) == field)
    }
}
