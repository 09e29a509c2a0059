// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of the credentials that a session sends preemptively, and of those that its storage keeps.
struct AuthenticationMemoryTests {
    typealias Scene = ChallengeScene

    static func sentAuthorization(
        _ memory: AuthenticationMemory, _ url: String, as credential: URLCredential = Scene.credential
    ) throws -> String? {
        let request = try Scene.request(url)
        var scene = Scene(memory, own: credential, for: request)
        return try scene.send(request).authorization
    }

    static let directories: [(url: String, isSaid: Bool)] = [
        ("http://origin.test/a/b", true), ("http://origin.test/a/", true),
        ("http://ORIGIN.test:80/a/c/d?q", true),
        ("http://origin.test/a", false), ("http://origin.test/ab/c", false), ("http://origin.test/", false),
        ("http://origin.test/a/../x", false), ("http://origin.test/a/..", false),
        ("http://origin.test:81/a/b", false), ("https://origin.test/a/b", false),
        ("http://other.test/a/b", false), ("http://sub.origin.test/a/b", false),
    ]

    @Test(
        "[U-11.15] Basic is sent unasked at and below the directory of a URL that accepted it",
        arguments: directories)
    func basicDirectory(url: String, isSaid: Bool) throws {
        let memory = AuthenticationMemory()
        var scene = Scene(memory)
        try scene.authenticate("http://origin.test/a/b?x=/y/z", Scene.basic)
        #expect(
            try Self.sentAuthorization(memory, url) == (isSaid ? "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl" : nil))
    }

    static let domains: [(domain: String, url: String, isSaid: Bool)] = [
        ("", "http://origin.test/", true), ("", "http://origin.test/x/y", true),
        ("", "http://origin.test", true), ("", "https://origin.test/", false),
        ("/p http://origin.test/q/ http://other.test/r", "http://origin.test/p/1", true),
        ("/p http://origin.test/q/ http://other.test/r", "http://origin.test/q/1", true),
        ("/p http://origin.test/q/ http://other.test/r", "http://origin.test/a/b", false),
        ("/p http://origin.test/q/ http://other.test/r", "http://other.test/r", false),
        ("/p http://origin.test/q/ http://other.test/r", "http://origin.test/r", false),
        ("http://other.test/", "http://origin.test/a/b", false),
    ]

    @Test(
        "[U-11.15] Digest is sent unasked to the URLs of the domain list, else to the whole origin",
        arguments: domains)
    func digestDomain(domain: String, url: String, isSaid: Bool) throws {
        let memory = AuthenticationMemory()
        var scene = Scene(memory)
        try scene.authenticate(
            "http://origin.test/a/b", Scene.digest("n", domain.isEmpty ? "" : "domain=\"\(domain)\""))
        let sentField = try Self.sentAuthorization(memory, url)
        #expect((sentField != nil) == isSaid)
        if let sentField { #expect(try DigestTests.parameters(sentField)["nc"] == "00000002") }
    }

    @Test("[U-11.15] sessions do not share remembered credentials")
    func sessions() throws {
        let memory = AuthenticationMemory()
        var scene = Scene(memory)
        try scene.authenticate("http://origin.test/a/b", Scene.digest())
        #expect(try Self.sentAuthorization(memory, "http://origin.test/") != nil)
        #expect(try Self.sentAuthorization(AuthenticationMemory(), "http://origin.test/") == nil)
        memory.removeAll()
        #expect(try Self.sentAuthorization(memory, "http://origin.test/") == nil)
    }

    @Test(
        "[U-11.15] a refusal removes the remembered credential",
        arguments: [Scene.basic, Scene.digest("m")])
    func refusalClears(_ line: String) throws {
        let memory = AuthenticationMemory()
        var first = Scene(memory)
        try first.authenticate("http://origin.test/a/b", line)
        var second = try Scene(memory, own: Scene.credential, for: Scene.request())
        #expect(try second.send(Scene.request()).authorization != nil)
        #expect(try second.receive(401, line) == "ask")
        #expect(try Self.sentAuthorization(memory, "http://origin.test/a/b") == nil)
    }

    @Test("[U-11.15] of several directories the deepest one applies")
    func deepest() throws {
        let memory = AuthenticationMemory()
        let digest = { (realm: String, domain: String) in
            "Digest realm=\"\(realm)\", nonce=\"n\", qop=\"auth\", domain=\"\(domain)\""
        }
        for (realm, domain) in [("inner", "/d/"), ("outer", "/")] {
            var scene = Scene(memory)
            try scene.authenticate("http://origin.test/x", digest(realm, domain))
        }
        for (url, realm) in [("http://origin.test/d/y", "inner"), ("http://origin.test/y", "outer")] {
            let sentField = try DigestTests.parameters(try Self.sentAuthorization(memory, url))
            #expect(sentField["realm"] == "\"\(realm)\"")
        }
    }

    @Test("[U-11.15] the memory has a limit")
    func bounds() throws {
        let memory = AuthenticationMemory()
        for index in 0..<80 {
            var scene = Scene(memory)
            try scene.authenticate("http://origin.test/\(index)/x", "Basic realm=\"\(index)\"")
        }
        #expect(try Self.sentAuthorization(memory, "http://origin.test/0/x") == nil)
        #expect(try Self.sentAuthorization(memory, "http://origin.test/79/x") != nil)
    }

    // MARK: nonces

    @Test("[U-11.11] tasks that share a nonce count its uses together, also concurrently")
    func sharedCounts() async throws {
        let memory = AuthenticationMemory()
        let counts = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var scene = Scene(memory)
                    var counts: [String] = []
                    // The first response may challenge, unless the session has authenticated already.
                    if try scene.send(Scene.request()).authorization != nil {
                        #expect(try scene.receive(200) == "deliver")
                    } else if try scene.receive(401, Scene.digest()) == "ask" {
                        #expect(scene.answer(.use(Scene.credential)) == "resend")
                    }
                    for _ in 0..<20 {
                        let sent = try scene.send(Scene.request())
                        counts.append(try DigestTests.parameters(sent.authorization)["nc"] ?? "")
                        #expect(try scene.receive(200) == "deliver")
                    }
                    return counts
                }
            }
            var all: [String] = []
            for try await counts in group { all += counts }
            return all
        }
        #expect(Set(counts).count == counts.count)
        #expect(counts.count == 160)
    }

    @Test("[U-11.11] a repeated nonce continues its count")
    func returningNonce() throws {
        let memory = AuthenticationMemory()
        var counts: [String?] = []
        for nonce in ["a", "a", "b", "a"] {
            var scene = Scene(memory)
            try scene.send(
                Scene.request("http://origin.test/\(counts.count)") {
                    // Prevents a preemptive answer, so that each request is challenged.
                    $0.setValue("x", forHTTPHeaderField: "Authorization")
                })
            #expect(try scene.receive(401, Scene.digest(nonce)) == "ask")
            #expect(scene.answer(.use(Scene.credential)) == "resend")
            let sent = try DigestTests.parameters(try scene.send(Scene.request()).authorization)
            #expect(sent["nonce"] == "\"\(nonce)\"")
            counts.append(sent["nc"])
        }
        #expect(counts == ["00000001", "00000002", "00000001", "00000003"])
    }

    @Test("[U-11.13] a stale nonce is replaced without calling the delegate, three times in a row")
    func stale() throws {
        var scene = Scene()
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.digest("0")) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        for round in 1...3 {
            try scene.send(Scene.request())
            #expect(try scene.receive(401, Scene.digest("\(round)", "stale=true")) == "resend")
        }
        let sent = try DigestTests.parameters(try scene.send(Scene.request()).authorization)
        #expect(sent["nonce"] == "\"3\"" && sent["nc"] == "00000001")
        #expect(scene.challenges.count == 1)
        #expect(try scene.receive(401, Scene.digest("4", "stale=true")) == "ask")
        #expect(scene.lastChallenge?.previousFailureCount == 1)
    }

    @Test("[U-11.13] a stale answer that was sent unasked, and stale before any answer")
    func staleUnasked() throws {
        let memory = AuthenticationMemory()
        var first = Scene(memory)
        try first.authenticate("http://origin.test/", Scene.digest("1"))
        var second = try Scene(memory, own: Scene.credential, for: Scene.request())
        try second.send(Scene.request())
        #expect(try second.receive(401, Scene.digest("2", "stale=TRUE")) == "resend")
        let sent = try DigestTests.parameters(try second.send(Scene.request()).authorization)
        #expect(sent["nonce"] == "\"2\"")
        #expect(try second.receive(200) == "deliver" && second.challenges.isEmpty)
        var third = Scene()
        try third.send(Scene.request())
        #expect(try third.receive(401, Scene.digest("1", "stale=true")) == "ask")
        #expect(third.lastChallenge?.previousFailureCount == 0)
    }

    @Test("[U-11.13] nextnonce replaces the nonce")
    func nextNonce() throws {
        let memory = AuthenticationMemory()
        var scene = Scene(memory)
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.digest("1")) == "ask")
        #expect(scene.answer(.use(Scene.credential)) == "resend")
        try scene.send(Scene.request())
        let response = try Scene.response(200, ["rspauth=\"wrong\", nextnonce=\"2\""], "Authentication-Info")
        #expect(scene.record(scene.authenticator.receive(response)) == "deliver")
        let sent = try DigestTests.parameters(try Self.sentAuthorization(memory, "http://origin.test/"))
        #expect(sent["nonce"] == "\"2\"" && sent["nc"] == "00000001")
    }

    // MARK: persistence

    static let persistences: [(URLCredential.Persistence, isSaid: Bool)] = [
        (.none, false), (.forSession, true), (.permanent, true), (.synchronizable, true),
    ]

    @Test("[U-11.16] an accepted credential is stored as its persistence says", arguments: persistences)
    func persistence(_ persistence: URLCredential.Persistence, isSaid: Bool) throws {
        let memory = AuthenticationMemory()
        let storage = URLCredentialStorage()
        let credential = URLCredential(user: "u", password: "p", persistence: persistence)
        var scene = Scene(memory, storage: storage)
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.basic) == "ask")
        #expect(scene.answer(.use(credential)) == "resend")
        try scene.send(Scene.request())
        #expect(try scene.receive(403) == "deliver")
        #expect(
            (try Self.sentAuthorization(memory, "http://origin.test/a/b", as: credential) != nil) == isSaid)
        #expect(storage.allCredentials.isEmpty, "only the program puts anything there")
    }

    @Test("[U-11.16] the storage's credential is used by default")
    func storedDefault() throws {
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "origin.test", port: 80, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
        storage.setDefaultCredential(Scene.credential, for: space)
        var scene = Scene(storage: storage)
        try scene.send(Scene.request())
        #expect(try scene.receive(401, Scene.digest()) == "ask")
        #expect(scene.lastChallenge?.proposedCredential == Scene.credential)
        #expect(scene.answer(.performDefault) == "resend")
        #expect(try scene.send(Scene.request()).authorization?.contains("Mufasa") == true)
    }
}
