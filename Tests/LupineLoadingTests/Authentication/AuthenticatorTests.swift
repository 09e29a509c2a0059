// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import Testing

@testable import LupineLoading

/// Tests of the decisions that follow from challenges and their answers, without a network.
struct AuthenticatorTests {
    typealias Scene = ChallengeScene

    // MARK: dispositions

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var answer: Authenticator.Answer
        var verdict: String
        /// The authentication method of the next challenge.
        var method: String?
    }

    static let rows = [
        Row(testDescription: "a credential", answer: .use(Scene.credential), verdict: "resend"),
        Row(testDescription: "no credential", answer: .use(nil), verdict: "deliver"),
        Row(testDescription: "the default without a proposal", answer: .performDefault, verdict: "deliver"),
        Row(testDescription: "cancelled", answer: .cancel, verdict: "cancel"),
        Row(
            testDescription: "the space is rejected", answer: .rejectSpace, verdict: "ask",
            method: NSURLAuthenticationMethodHTTPBasic),
    ]

    @Test("[U-11.5, U-11.6] each disposition", arguments: rows)
    func dispositions(_ row: Row) throws {
        var scene = Scene()
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.basic, Scene.digest()) == "ask")
        #expect(
            scene.lastChallenge?.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest)
        #expect(scene.answer(row.answer) == row.verdict)
        if let method = row.method {
            #expect(scene.lastChallenge?.protectionSpace.authenticationMethod == method)
            #expect(scene.answer(.rejectSpace) == "deliver", "none is left")
        }
    }

    @Test("[U-11.3] candidates are proposed by strength, without rejected spaces")
    func candidates() throws {
        var scene = Scene()
        try scene.send(Scene.request())
        let lines = [
            "Negotiate, Basic realm=\"b\", Digest realm=\"r\", nonce=\"1\", algorithm=MD5",
            "Digest realm=\"r\", nonce=\"2\", algorithm=SHA-256",
            "Digest realm=\"s\", nonce=\"3\", algorithm=SHA-512-256",
        ]
        var verdict = scene.record(scene.authenticator.receive(try Scene.response(401, lines)))
        var realms: [String?] = []
        while verdict == "ask" {
            realms.append(scene.lastChallenge?.protectionSpace.realm)
            verdict = scene.answer(.rejectSpace)
        }
        #expect(realms == ["s", "r", "b"] && verdict == "deliver")
    }

    @Test(
        "[U-11.3] a response without a known challenge is final",
        arguments: [
            [], ["Negotiate"], ["NTLM abc="], ["Digest realm=\"r\", nonce=\"n\", algorithm=SHA-3"],
        ])
    func nothingUsable(_ lines: [String]) throws {
        var scene = Scene()
        try scene.send(Scene.request())
        let verdict = scene.record(scene.authenticator.receive(try Scene.response(401, lines)))
        #expect(verdict == "deliver" && scene.challenges.isEmpty)
    }

    @Test("[U-11.2] the protection space of a challenge")
    func spaces() throws {
        let rows: [(String, String, URLProtectionSpace)] = [
            (
                "http://Origin.test/x", "Basic",
                URLProtectionSpace(
                    host: "origin.test", port: 80, protocol: "http", realm: "origin.test",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            ),
            (
                "https://origin.test:8443/", "Basic realm=\"\"",
                URLProtectionSpace(
                    host: "origin.test", port: 8443, protocol: "https", realm: "",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            ),
        ]
        for (url, line, space) in rows {
            var scene = Scene()
            try scene.send(Scene.request(url))
            #expect(try scene.receive(401, line) == "ask")
            #expect(scene.lastChallenge?.protectionSpace == space)
            #expect((scene.lastChallenge?.failureResponse as? HTTPURLResponse)?.statusCode == 401)
        }
    }

    // MARK: counts and proposals

    @Test("[U-11.4] refused credentials are counted by space, and not proposed again")
    func failures() throws {
        let storage = URLCredentialStorage()
        var scene = Scene(storage: storage)
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.basic) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 0)
        let space = try #require(scene.lastChallenge?.protectionSpace)
        #expect(scene.lastChallenge?.proposedCredential == nil)
        storage.set(Scene.credential, for: space)
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.basic) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 1)
        #expect(scene.lastChallenge?.proposedCredential == nil)
        #expect(scene.answer(.use(URLCredential(user: "u", password: "p", persistence: .none))) == "resend")
        try scene.send(Scene.request())
        // In another protection space the count begins at 0.
        #expect(try scene.receive(401, "Basic realm=\"other\"") == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 0)
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.basic) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 2)
        #expect(scene.answer(.performDefault) == "deliver")
    }

    @Test("[U-11.4] the URL's user is proposed first, then the default, then the first by name")
    func proposals() throws {
        let space = URLProtectionSpace(
            host: "origin.test", port: 80, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        let storage = URLCredentialStorage()
        for user in ["m", "b"] {
            storage.set(URLCredential(user: user, password: "x", persistence: .forSession), for: space)
        }
        let ask = { (url: String) throws -> URLAuthenticationChallenge? in
            var scene = Scene(storage: storage)
            try scene.send(Scene.request(url))
            #expect(try scene.receive(401, Scene.basic) == "ask")
            return scene.lastChallenge
        }
        let named = try ask("http://J%C3%A4s:p%40ss@origin.test/")?.proposedCredential
        #expect(named?.user == "Jäs" && named?.password == "p@ss")
        #expect(try ask("http://origin.test/")?.proposedCredential?.user == "m")
        let first = try #require(storage.defaultCredential(for: space))
        storage.remove(first, for: space)
        storage.set(URLCredential(user: "a", password: "x", persistence: .forSession), for: space)
        #expect(storage.defaultCredential(for: space) == nil)
        #expect(try ask("http://origin.test/")?.proposedCredential?.user == "a")
    }

    @Test("[U-11.4] a refused credential that was sent unasked, or by the caller, is not counted")
    func unaskedIsNotCounted() throws {
        let memory = AuthenticationMemory()
        var first = Scene(memory)
        try first.authenticate("http://origin.test/a/b", Scene.basic)
        var second = try Scene(memory, own: Scene.credential, for: Scene.request())
        #expect(try second.send(Scene.request()).authorization != nil)
        #expect(try second.receive(401, Scene.basic) == "ask")
        #expect(second.lastChallenge?.previousFailureCount == 0)
        var third = Scene()
        let request = try Scene.request { $0.setValue("Basic x", forHTTPHeaderField: "Authorization") }
        #expect(try third.send(request).authorization == nil)
        #expect(try third.receive(401, Scene.basic) == "ask")
        #expect(third.lastChallenge?.previousFailureCount == 0)
        // The answer replaces the caller's field.
        #expect(third.answer(.use(Scene.credential)) == "resend")
        #expect(try third.send(request).authorization?.hasPrefix("Basic TXVm") == true)
    }

    @Test("[U-11.4] the caller's Authorization is not replaced by a remembered credential")
    func callersFieldStays() throws {
        let memory = AuthenticationMemory()
        var first = Scene(memory)
        try first.authenticate("http://origin.test/a/b", Scene.basic)
        var second = try Scene(memory, own: Scene.credential, for: Scene.request())
        let request = try Scene.request { $0.setValue("Bearer x", forHTTPHeaderField: "Authorization") }
        #expect(try second.send(request).authorization == nil)
    }

    @Test("[U-11.4] a request that identifies itself, in any field, does not get the storage's credential")
    func namedByTheConfiguration() throws {
        let space = URLProtectionSpace(
            host: "origin.test", port: 80, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        for isNamed in [false, true] {
            let storage = URLCredentialStorage()
            storage.set(Scene.credential, for: space)
            storage.setDefaultCredential(Scene.credential, for: space)
            // The request that the task was created with has no such field; the one that is sent has the configuration's fields.
            var scene = try Scene(storage: storage, for: Scene.request())
            try scene.send(
                Scene.request { if isNamed { $0.setValue("Bearer b", forHTTPHeaderField: "Authorization") } })
            #expect(try scene.receive(401, Scene.basic) == "ask")
            #expect((scene.lastChallenge?.proposedCredential == nil) == isNamed)
            #expect(scene.answer(.performDefault) == (isNamed ? "deliver" : "resend"))
            // A redirect that drops the field does not change whose task this is.
            try scene.send(Scene.request("http://origin.test/c"))
            #expect(try scene.receive(401, Scene.basic) == "ask")
            if isNamed { #expect(scene.lastChallenge?.proposedCredential == nil) }
        }
    }

    @Test("[U-11.7] a proxy with a new realm each time gets no more answers than the limit")
    func configuredLimit() throws {
        var scene = Scene()
        let proxy = try ProxyAuthenticationTests.proxy(ProxyServerFixture.named, "http://origin.test/")
        var (verdict, count) = ("", 0)
        repeat {
            try scene.send(Scene.request(), proxy: proxy)
            let line = "Digest realm=\"r\(count)\", nonce=\"n\", qop=\"auth\""
            verdict = scene.record(
                scene.authenticator.receive(try Scene.response(407, [line], "Proxy-Authenticate")))
            count += 1
        } while verdict == "resend" && count < 100
        #expect(verdict == "deliver" && count == Authenticator.maxChallenges + 1)
    }

    @Test("[U-11.7] a task answers twenty challenges; the next response is delivered")
    func limit() throws {
        var scene = Scene()
        var verdict = ""
        repeat {
            try scene.send(Scene.request())
            verdict = try scene.receive(401, Scene.basic)
            if verdict == "ask" {
                #expect(scene.lastChallenge?.previousFailureCount == scene.challenges.count - 1)
                verdict = scene.answer(.use(Scene.credential))
            }
        } while verdict == "resend"
        #expect(verdict == "deliver" && scene.challenges.count == 20)
    }

    @Test("[U-11.8] a user name that cannot be sent is no credential")
    func unsendableUser() throws {
        for (line, user, verdict) in [
            (Scene.basic, "a:b", "deliver"), (Scene.basic, "a\u{7}", "deliver"),
            (Scene.digest(), "a\nb", "deliver"),
            (Scene.digest(), "a:b", "resend"),
        ] {
            var scene = Scene()
            try scene.send(Scene.request())
            #expect(try scene.receive(401, line) == "ask")
            let credential = URLCredential(user: user, password: "p", persistence: .none)
            #expect(scene.answer(.use(credential)) == verdict, "\(user.debugDescription)")
        }
    }

    // MARK: Digest

    @Test("[U-11.10] the digest's uri is the request target: origin form, and absolute form for a proxy")
    func targets() throws {
        let server = ProxyServerFixture.plain
        let rows: [(String, Bool, String)] = [
            ("OPTIONS http://origin.test", false, "*"), ("OPTIONS http://origin.test/", false, "/"),
            ("OPTIONS http://origin.test?", false, "/?"),
            ("OPTIONS http://Origin.test#f", true, "http://origin.test"),
            ("OPTIONS http://origin.test:81/", true, "http://origin.test:81/"),
            ("http://origin.test", false, "/"), ("http://origin.test?q=%20", false, "/?q=%20"),
            ("http://u:p@origin.test/a%2Fb?x=1#f", false, "/a%2Fb?x=1"),
            ("http://Origin.test:80/a", true, "http://origin.test/a"),
            ("http://u:p@origin.test:8080/a?b", true, "http://origin.test:8080/a?b"),
            ("http://[::1]:81/", true, "http://[::1]:81/"), ("https://origin.test/s", true, "/s"),
        ]
        for (text, isProxied, target) in rows {
            let words = text.split(separator: " ")
            let url = try #require(URL(string: String(words[words.count - 1])))
            let proxy = isProxied ? AuthenticationProxy(server, for: url) : nil
            var request = URLRequest(url: url)
            if words.count == 2 { request.httpMethod = String(words[0]) }
            let message = AuthenticationMessage(request, body: .request, url: url, proxy: proxy)
            #expect(message.target == target, "\(text)")
        }
    }

    @Test("[U-11.10] auth-int protects the body, and cannot protect a stream")
    func bodies() throws {
        let line = "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""
        var scene = Scene()
        let request = try Scene.request { $0.httpMethod = "POST" }
        try scene.send(request, body: .streamed)
        #expect(try scene.receive(401, line) == "deliver", "the challenge is unusable")
        try scene.send(request, body: .streamed)
        #expect(try scene.receive(401, line, Scene.basic) == "ask")
        #expect(
            scene.lastChallenge?.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        var other = Scene()
        let body = Data("what is sent".utf8)
        try other.send(request, body: .data(body))
        #expect(try other.receive(401, line) == "ask")
        #expect(other.answer(.use(Scene.credential)) == "resend")
        let sent = try DigestTests.parameters(try other.send(request, body: .data(body)).authorization)
        let hash = { (text: String) in Self.digits(MessageDigest.md5.digest(of: Array(text.utf8))) }
        let content = hash("what is sent")
        let expected = hash(
            "\(hash("Mufasa:r:Circle of Life")):n:00000001:\(Self.unquoted(sent["cnonce"])):auth-int:"
                + hash("POST:/a/b:\(content)"))
        #expect(sent["response"] == "\"\(expected)\"")
    }

    @Test("[U-11.10] a file is hashed asynchronously, piece by piece")
    func files() async throws {
        let octets = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = FileManager.default.temporaryDirectory.appending(path: "lupine-hash-\(UUID().uuidString)")
        try Data(octets).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let functions = MessageDigest.allCases
        for content in [AuthenticationMessage.Content.file(file), .data(Data(octets))] {
            let hashes = await withCheckedContinuation { continuation in
                ContentHash(functions: functions, content: content).compute {
                    continuation.resume(returning: $0)
                }
            }
            for function in functions { #expect(hashes[function] == function.digest(of: octets)) }
        }
        let none = await withCheckedContinuation { continuation in
            ContentHash(functions: functions, content: .file(file.appending(path: "none"))).compute {
                continuation.resume(returning: $0)
            }
        }
        #expect(none.isEmpty)
    }

    static func digits(_ digest: [UInt8]?) -> String {
        (digest ?? []).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func unquoted(_ text: String?) -> String { (text ?? "").replacing("\"", with: "") }
}
