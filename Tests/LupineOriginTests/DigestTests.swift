// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@testable import LupineOrigin

@Suite struct DigestTests {
    private func parameter(_ name: String, in text: String) -> String? {
        guard let start = text.firstRange(of: name + "=")?.upperBound else { return nil }
        return String(text[start...].drop { $0 == "\"" }.prefix { $0 != "\"" && $0 != "," })
    }

    private struct Try {
        var algorithm = "MD5"
        var qop: String? = "auth"
        var password = "p"
        var count = "00000001"
        var body = ""
    }

    /// Returns the Authorization value of RFC 7616 §3.4, calculated by hand.
    private func authorization(_ attempt: Try, _ uri: String, _ nonce: String) -> String {
        func digest(_ text: String) -> String {
            let function: MessageDigest =
                switch attempt.algorithm.replacing("-sess", with: "") {
                case "MD5": .md5
                case "SHA-256": .sha256
                case "SHA-512-256": .sha512Cut256
                default: .sha512
                }
            return Hexadecimal.lowercase(function.digest(of: Array(text.utf8)) ?? [])
        }
        var secret = digest("u:lupine@origin:\(attempt.password)")
        if attempt.algorithm.hasSuffix("-sess") { secret = digest("\(secret):\(nonce):cn") }
        var what = "POST:\(uri)"
        if attempt.qop == "auth-int" { what += ":" + digest(attempt.body) }
        let middle = attempt.qop.map { ":\(attempt.count):cn:\($0)" } ?? ""
        let response = digest("\(secret):\(nonce)\(middle):\(digest(what))")
        let qop = attempt.qop.map { ", qop=\($0), nc=\(attempt.count), cnonce=\"cn\"" } ?? ""
        return
            "Authorization: Digest username=\"u\", realm=\"lupine@origin\", nonce=\"\(nonce)\", uri=\"\(uri)\", "
            + "response=\"\(response)\", algorithm=\(attempt.algorithm)\(qop)\r\n"
    }

    private func ask(_ client: RawClient, _ uri: String, _ fields: String = "", _ body: String = "")
        throws -> RawClient.Response
    {
        try client.request("POST", uri, fields, body: Array(body.utf8))
    }

    private func nonce(of response: RawClient.Response) throws -> String {
        let line = try #require(response["WWW-Authenticate"])
        return try #require(parameter("nonce", in: line))
    }

    @Test(
        arguments: [
            "MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess", "SHA-512",
        ], ["auth", "auth-int"])
    func theRightDigestIsWelcome(_ algorithm: String, _ qop: String) async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/\(qop)/u/p/\(algorithm)?a=b"
            let challenge = try ask(client, uri)
            #expect(challenge.status == 401)
            let line = try #require(challenge["WWW-Authenticate"])
            #expect(parameter("qop", in: line) == qop)
            #expect(parameter("algorithm", in: line) == algorithm)
            #expect(parameter("stale", in: line) == "false")
            let nonce = try nonce(of: challenge)
            let attempt = Try(algorithm: algorithm, qop: qop, body: "body")
            let welcome = try ask(client, uri, authorization(attempt, uri, nonce), "body")
            #expect(welcome.status == 200, "\(welcome.head)")
            #expect(welcome["Authentication-Info"]?.contains("rspauth=") == true)
            var wrong = attempt
            wrong.password = "q"
            wrong.count = "00000002"
            #expect(try ask(client, uri, authorization(wrong, uri, nonce), "body").status == 401)
        }
    }

    @Test func theOldFormWithoutQuality() async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/none/u/p"
            let nonce = try nonce(of: try ask(client, uri))
            #expect(try ask(client, uri, authorization(Try(qop: nil), uri, nonce)).status == 200)
        }
    }

    @Test func anotherBodyIsNoticed() async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/auth-int/u/p"
            let nonce = try nonce(of: try ask(client, uri))
            let line = authorization(Try(qop: "auth-int", body: "one"), uri, nonce)
            #expect(try ask(client, uri, line, "two").status == 401)
        }
    }

    @Test func aReplayIsStale() async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/auth/u/p"
            let nonce = try nonce(of: try ask(client, uri))
            let line = authorization(Try(), uri, nonce)
            #expect(try ask(client, uri, line).status == 200)
            let again = try ask(client, uri, line)
            #expect(again.status == 401)
            #expect(again["WWW-Authenticate"]?.contains("stale=true") == true)
            #expect(try ask(client, uri, authorization(Try(count: "00000002"), uri, nonce)).status == 200)
        }
    }

    @Test func aNonceGrowsStaleByUse() async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/auth/u/p/MD5/1"
            let nonce = try nonce(of: try ask(client, uri))
            #expect(try ask(client, uri, authorization(Try(), uri, nonce)).status == 200)
            let second = try ask(client, uri, authorization(Try(count: "00000002"), uri, nonce))
            #expect(second["WWW-Authenticate"]?.contains("stale=true") == true)
        }
    }

    @Test func aNonceIsUsedABoundedNumberOfTimes() {
        let nonces = NonceStore()
        let nonce = nonces.issue()
        var used = 0
        while used < 10_000, nonces.recordUse(of: nonce, count: String(used)) { used += 1 }
        #expect(used == 4_096 && nonces.validity(of: nonce, useLimit: nil) == .stale)
    }

    @Test func theNextNonceTakesTheOldOnesPlace() async throws {
        try await withClient { client, _ in
            let uri = "/digest-auth/auth/u/p?nextnonce=1"
            let nonce = try nonce(of: try ask(client, uri))
            let first = try ask(client, uri, authorization(Try(), uri, nonce))
            let info = try #require(first["Authentication-Info"])
            let next = try #require(parameter("nextnonce", in: info))
            let old = try ask(client, uri, authorization(Try(count: "00000002"), uri, nonce))
            #expect(old["WWW-Authenticate"]?.contains("stale=true") == true)
            #expect(try ask(client, uri, authorization(Try(), uri, next)).status == 200)
        }
    }
}
