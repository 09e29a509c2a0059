// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tasks of many users on one session, over real connections: the credentials of one user are never used for another.
@Suite(.timeLimit(.minutes(10))) struct HostileCredentialTests {
    typealias Scene = ChallengeScene

    enum Scheme: String, CaseIterable, Sendable {
        case basic, digest

        /// Returns a path that the user may load. With Basic, all users share a directory; with Digest, the origin.
        func path(of user: String) -> String {
            self == .basic ? "/members/page" : "/digest-auth/auth/\(user)/secret-\(user)"
        }
        func space(at stage: SessionStage) -> URLProtectionSpace {
            URLProtectionSpace(
                host: "origin.test", port: Int(stage.origin.port), protocol: "http",
                realm: self == .basic ? "members" : "lupine@origin",
                authenticationMethod: self == .basic
                    ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest)
        }
    }

    static func credential(
        _ user: String, _ persistence: URLCredential.Persistence = .forSession
    ) -> URLCredential {
        URLCredential(user: user, password: "secret-\(user)", persistence: persistence)
    }

    /// Answers with the user name in the request if the password is that user's.
    private static func serveMembers(on origin: LupineOrigin.Origin) {
        origin.route("GET", "/members/{page}") { request throws(Refusal) in
            let users = ["alice", "bob", "service", "other"]
            for user in users
            where request.field("Authorization")
                == BasicResponse.field(
                    user: user, password: "secret-\(user)")
            {
                return try OriginResponse(200, "text/plain", Array(user.utf8))
            }
            var response = OriginResponse(401)
            try response.add("WWW-Authenticate", "Basic realm=\"members\"")
            return response
        }
    }

    /// Runs `body`, with one connection at a time by default, so that the recorded requests are in order.
    private static func withMembers(
        _ storage: URLCredentialStorage = URLCredentialStorage(), delegate: (any URLSessionDelegate)? = nil,
        connections: Int = 1, over testedHTTP: TestedHTTP, _ body: (SessionStage) async throws -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connections
        configuration.urlCache = nil
        configuration.urlCredentialStorage = storage
        try await withStage(configuration: configuration, delegate: delegate, over: testedHTTP) { stage in
            serveMembers(on: stage.origin)
            try await body(stage)
        }
    }

    private static func sentUsers(to origin: LupineOrigin.Origin, counts: Bool = false) -> [String] {
        (0..<origin.counts.connectionsAccepted).flatMap {
            CredentialUsers.read(origin.receivedAsHTTP1(on: $0))
        }
        .map { counts ? $0 : String($0.prefix { $0 != "#" }) }
    }

    /// Runs a task that was given this credential, and returns how it ended.
    @discardableResult
    private static func load(
        _ url: URL, as credential: URLCredential? = nil, asking delegate: (any URLSessionTaskDelegate)? = nil,
        in session: URLSession
    ) async -> SessionStage.End {
        await withCheckedContinuation { continuation in
            let task = session.dataTask(with: url) { data, response, error in
                continuation.resume(
                    returning: SessionStage.End(
                        status: (response as? HTTPURLResponse)?.statusCode,
                        text: String(decoding: data ?? Data(), as: UTF8.self),
                        code: (error as? URLError)?.code))
            }
            task.delegate = delegate
            task.ownCredential = credential
            task.resume()
        }
    }

    /// A delegate that answers challenges with `answer`, and records the proposed credentials.
    private final class AnsweringDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        let proposals = LockedValue<[String]>([])
        private let answer: URLCredential?

        init(_ answer: URLCredential? = nil) { self.answer = answer }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            proposals.update { $0.append(challenge.proposedCredential?.user ?? "-") }
            guard let answer, challenge.previousFailureCount == 0 else {
                return completionHandler(.performDefaultHandling, nil)
            }
            completionHandler(.useCredential, answer)
        }
    }

    // MARK: one user after the other

    @Test(
        "[U-11.15, U-11.4] a task's own credential is used for it, and for no other task",
        arguments: Scheme.allCases, TestedHTTP.allCases)
    func handed(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            var expected: [String] = []
            for (user, says) in [
                ("alice", ["-", "alice"]), ("bob", ["-", "bob"]), (nil, ["-"]), ("alice", ["alice"]),
                ("bob", ["bob"]), (nil, ["-"]),
            ] {
                let url = try stage.url(scheme.path(of: user ?? "alice"))
                let end = await Self.load(url, as: user.map { Self.credential($0) }, in: stage.session)
                #expect(end.status == (user == nil ? 401 : 200))
                expected += says
                #expect(Self.sentUsers(to: stage.origin) == expected, "\(user ?? "nobody")")
            }
        }
    }

    @Test(
        "[U-11.15, U-5.8] the credential of the task's or the session's delegate is used for that task only",
        arguments: Scheme.allCases, [true, false])
    func delegates(_ scheme: Scheme, isOwn: Bool) async throws {
        for testedHTTP in TestedHTTP.allCases {
            let answering = AnsweringDelegate(Self.credential("alice"))
            try await Self.withMembers(delegate: isOwn ? nil : answering, over: testedHTTP) { stage in
                let url = try stage.url(scheme.path(of: "alice"))
                let own = isOwn ? answering : nil
                #expect(await Self.load(url, asking: own, in: stage.session).status == 200)
                // This task gets no credential.
                let silent = await Self.load(url, asking: isOwn ? nil : RefusingDelegate(), in: stage.session)
                #expect(silent.status == 401)
                #expect(await Self.load(url, asking: own, in: stage.session).status == 200)
                // A task with the same credential sends it preemptively where it was accepted before.
                #expect(await Self.load(url, as: Self.credential("alice"), in: stage.session).status == 200)
                #expect(Self.sentUsers(to: stage.origin) == ["-", "alice", "-", "-", "alice", "alice"])
                #expect(answering.proposals.value == ["-", "-"])
            }
        }
    }

    /// A delegate that answers challenges without a credential.
    private final class RefusingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) { completionHandler(.useCredential, nil) }
    }

    @Test(
        "[U-11.4] a delegate gets the task's own credential as the proposal, and may answer with another, for this task",
        arguments: Scheme.allCases, TestedHTTP.allCases)
    func otherwise(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            let answering = AnsweringDelegate(Self.credential("bob"))
            let own = Self.credential("alice")
            let end = await Self.load(
                try stage.url(scheme.path(of: "bob")), as: own, asking: answering, in: stage.session)
            #expect(end.text.contains("bob") && answering.proposals.value == ["alice"])
            let next = await Self.load(
                try stage.url(scheme.path(of: "alice")), as: own, in: stage.session)
            #expect(next.text.contains("alice"))
            #expect(Self.sentUsers(to: stage.origin) == ["-", "bob", "-", "alice"])
        }
    }

    @Test(
        "[U-11.15] a task keeps using its delegate's credential, within the origin",
        arguments: TestedHTTP.allCases)
    func keepsTheDelegatesCredential(over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            stage.origin.route("GET", "/members/old") { request throws(Refusal) in
                var response = OriginResponse(request.field("Authorization") == nil ? 401 : 302)
                try response.add("WWW-Authenticate", "Basic realm=\"members\"")
                try response.add("Location", "/members/page")
                return response
            }
            let answering = AnsweringDelegate(Self.credential("bob"))
            let end = await Self.load(
                try stage.url("/members/old"), as: Self.credential("alice"), asking: answering,
                in: stage.session)
            #expect(end.text == "bob")
            #expect(Self.sentUsers(to: stage.origin) == ["-", "bob", "bob"])
        }
    }

    @Test(
        "[U-11.16] a credential with persistence `none` is not remembered, not even for the same user",
        arguments: Scheme.allCases,
        TestedHTTP.allCases)
    func none(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            let url = try stage.url(scheme.path(of: "alice"))
            for _ in 0..<2 {
                await Self.load(url, as: Self.credential("alice", .none), in: stage.session)
            }
            await Self.load(url, as: Self.credential("alice"), in: stage.session)
            #expect(Self.sentUsers(to: stage.origin) == ["-", "alice", "-", "alice", "-", "alice"])
        }
    }

    @Test(
        "[U-11.15] concurrent tasks of many users each send their own credential",
        arguments: Scheme.allCases, TestedHTTP.allCases)
    func crowd(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(connections: 6, over: testedHTTP) { stage in
            let visits = try (0..<90).map { number in
                let user: String? = ["alice", "bob", nil][number % 3]
                return (user, try stage.url(scheme.path(of: user ?? "alice")))
            }
            await withTaskGroup(of: Void.self) { group in
                for (user, url) in visits {
                    group.addTask {
                        let end = await Self.load(
                            url, as: user.map { Self.credential($0) }, in: stage.session)
                        #expect(end.status == (user == nil ? 401 : 200))
                        if let user { #expect(end.text.contains(user)) }
                    }
                }
            }
        }
    }

    @Test(
        "[U-12.2, U-12.5] a response that the program stores for a task belongs to the task's user",
        arguments: TestedHTTP.allCases)
    func storedForTask(over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let url = try stage.url("/members/page")
            let task = await withCheckedContinuation { continuation in
                let made = LockedValue<URLSessionDataTask?>(nil)
                let task = stage.session.dataTask(with: url) { data, response, _ in
                    if let response, let data, let task = made.value {
                        cache.storeCachedResponse(
                            CachedURLResponse(response: response, data: data), for: task)
                    }
                    continuation.resume(returning: made.value)
                }
                made.set(task)
                task.ownCredential = Self.credential("alice")
                task.resume()
            }
            // The request that a program sees does not contain the answer to a challenge.
            #expect(task?.currentRequest?.value(forHTTPHeaderField: "Authorization") == nil)
            var request = URLRequest(url: url)
            #expect(cache.cachedResponse(for: request)?.data == Data("alice".utf8))
            #expect(await cache.lookUp(request) == nil)
            request.setValue(
                BasicResponse.field(user: "alice", password: "secret-alice"),
                forHTTPHeaderField: "Authorization")
            #expect(await cache.lookUp(request)?.content == "alice")
        }
    }

    // MARK: redirects

    @Test(
        "[U-10.5, U-11.4] a task's own credential is for its server, also after a redirect back to it",
        arguments: TestedHTTP.allCases)
    func redirectedElsewhere(over testedHTTP: TestedHTTP) async throws {
        try await Self.withMembers(over: testedHTTP) { stage in
            let membersPage = try stage.url("/members/page").absoluteString
            let other = try stage.url("/asks", host: "other.test").absoluteString
            stage.origin.route("GET", "/out") { _ throws(Refusal) in
                var response = OriginResponse(302)
                try response.add("Location", other)
                return response
            }
            stage.origin.route("GET", "/asks") { request throws(Refusal) in
                var response = OriginResponse(request.field("Authorization") == nil ? 302 : 200)
                try response.add("Location", membersPage)
                return response
            }
            let end = await Self.load(
                try stage.url("/out"), as: Self.credential("alice"), in: stage.session)
            #expect(end.text == "alice")
            #expect(Self.sentUsers(to: stage.origin).sorted() == ["-", "-", "-", "alice"])
        }
    }

    // MARK: the storage speaks for the session

    @Test(
        "[U-11.15, U-11.16] the credential sent unasked is the one that the storage proposes now",
        arguments: Scheme.allCases, TestedHTTP.allCases)
    func storageChanges(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        try await Self.withMembers(storage, over: testedHTTP) { stage in
            let space = scheme.space(at: stage)
            var expected: [String] = []
            func visit(_ user: String, _ says: [String]) async throws {
                let end = await Self.load(try stage.url(scheme.path(of: user)), in: stage.session)
                #expect(end.status == 200)
                expected += says
                #expect(Self.sentUsers(to: stage.origin) == expected)
            }
            storage.set(Self.credential("service"), for: space)
            try await visit("service", ["-", "service"])
            try await visit("service", ["service"])
            storage.setDefaultCredential(Self.credential("other"), for: space)
            try await visit("other", ["-", "other"])
            try await visit("other", ["other"])
            storage.setDefaultCredential(Self.credential("service"), for: space)
            try await visit("service", ["service"])
            storage.remove(Self.credential("service"), for: space)
            try await visit("other", ["other"])
        }
    }

    @Test(
        "[U-11.4] a URL with a user and no password is answered with that user's credential, or not at all",
        arguments: TestedHTTP.allCases)
    func namedWithoutPassword(over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        try await Self.withMembers(storage, over: testedHTTP) { stage in
            let space = Scheme.basic.space(at: stage)
            storage.setDefaultCredential(Self.credential("service"), for: space)
            storage.set(Self.credential("bob"), for: space)
            for (user, text) in [("bob", "bob"), ("alice", "")] {
                let address = try stage.url("/members/page").absoluteString
                let url = try #require(URL(string: address.replacing("http://", with: "http://\(user)@")))
                #expect(await Self.load(url, in: stage.session).text == text)
            }
            #expect(Self.sentUsers(to: stage.origin) == ["-", "bob", "-"])
        }
    }

    @Test(
        "[U-11.16] an invalidated session releases the credentials of its tasks", arguments: Scheme.allCases,
        TestedHTTP.allCases)
    func sessionEnds(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        try await Self.withMembers(storage, over: testedHTTP) { stage in
            let url = try stage.url(scheme.path(of: "alice"))
            let first = URLSession(configuration: stage.session.configuration)
            await Self.load(url, as: Self.credential("alice", .permanent), in: first)
            first.finishTasksAndInvalidate()
            let second = URLSession(configuration: stage.session.configuration)
            await Self.load(url, as: Self.credential("alice", .permanent), in: second)
            second.finishTasksAndInvalidate()
            #expect(storage.allCredentials.isEmpty)
            #expect(Self.sentUsers(to: stage.origin) == ["-", "alice", "-", "alice"])
        }
    }

    // MARK: tunnels

    @Test("[U-11.17, U-8.12] a tunnel for WebSockets or streams that one user opened is not used for another")
    func tunnels() async throws {
        let refuses = Script([
            .expectHead,
            .send("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\n\r\n"), .close,
        ])
        let opens = Script([.expectHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .speakHTTP])
        var serving = OriginConfiguration()
        // The connections of alice, bob, nobody and alice again; then of a stream task, which has no user.
        serving.script = ScriptPlan([refuses, opens, refuses, opens, refuses, refuses, opens, refuses])
        try await withStage(serving: serving) { stage in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.waitPatiently()
            let port = Int(stage.origin.port)
            configuration.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port, "HTTPSEnable": 1,
                "HTTPSProxy": "127.0.0.1", "HTTPSPort": port,
            ]
            let session = URLSession(configuration: configuration)
            let url = try #require(URL(string: "ws://far.test/websocket"))
            for user in ["alice", "bob", nil, "alice"] {
                let task = session.webSocketTask(with: url)
                task.ownCredential = user.map { Self.credential($0) }
                task.resume()
                let isOpen: Bool
                do {
                    try await task.send(.string("through"))
                    _ = try await task.receive()
                    isOpen = true
                } catch { isOpen = false }
                #expect(isOpen == (user != nil), "\(user ?? "nobody")")
                task.cancel(with: .normalClosure, reason: nil)
            }
            let stream = session.streamTask(withHostName: "far.test", port: 7)
            stream.resume()
            await #expect(throws: (any Error).self) {
                try await stream.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
            }
            session.invalidateAndCancel()
            let names = (0..<stage.origin.counts.connectionsAccepted).map { index in
                CredentialUsers.read(stage.origin.received(on: index), "Proxy-Authorization").first ?? "?"
            }
            #expect(names == ["-", "alice", "-", "bob", "-", "-", "alice", "-"])
        }
    }

    // MARK: proxies, without a network

    @Test(
        "[U-11.17] the configuration's proxy user applies to all tasks; the storage's to tasks without a credential"
    )
    func proxies() throws {
        let memory = AuthenticationMemory()
        let storage = URLCredentialStorage()
        let request = try Scene.request("http://origin.test/a")
        let plain = try ProxyAuthenticationTests.proxy(ProxyServerFixture.plain, "http://origin.test/a")
        let space = URLProtectionSpace(
            proxyHost: "proxy.test", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
        storage.set(Self.credential("service"), for: space)
        for (own, proposed) in [(nil, "service"), ("alice", "alice"), ("bob", "bob")] as [(String?, String)] {
            var scene = Scene(memory, storage: storage, own: own.map { Self.credential($0) }, for: request)
            #expect(try scene.send(request, proxy: plain).proxyAuthorization == nil)
            #expect(try ProxyAuthenticationTests.refuse(&scene, [Scene.digest()]) == "ask")
            #expect(scene.lastChallenge?.proposedCredential?.user == proposed)
            #expect(scene.answer(.performDefault) == "resend")
            let sent = try scene.send(request, proxy: plain).proxyAuthorization
            #expect(try DigestTests.parameters(sent)["nc"] == "00000001")
            #expect(try scene.receive(200) == "deliver")
        }
        // A user whose password the proxy refuses is not authenticated with the session's credential.
        var wrong = Scene(
            memory, storage: storage,
            own: URLCredential(user: "alice", password: "wrong", persistence: .forSession), for: request)
        #expect(try wrong.send(request, proxy: plain).proxyAuthorization == nil)
        for _ in 0..<2 {
            #expect(try ProxyAuthenticationTests.refuse(&wrong, [Scene.digest()]) == "ask")
            if wrong.answer(.performDefault) == "resend" { try wrong.send(request, proxy: plain) }
        }
        #expect(wrong.lastChallenge?.proposedCredential == nil)
        // The configuration's credential, once accepted, is sent preemptively for every task.
        let named = try ProxyAuthenticationTests.proxy(ProxyServerFixture.named, "http://origin.test/a")
        var first = Scene(memory)
        try first.send(request, proxy: named)
        #expect(try ProxyAuthenticationTests.refuse(&first, [Scene.digest()]) == "resend")
        try first.send(request, proxy: named)
        #expect(try first.receive(200) == "deliver")
        var other = Scene(memory, own: Self.credential("alice"), for: request)
        let sent = try other.send(request, proxy: named).proxyAuthorization
        #expect(try DigestTests.parameters(sent)["username"] == "\"Mufasa\"")
    }

    // MARK: bounds

    @Test("[U-11.15] the number of remembered users has a limit")
    func bounds() throws {
        let memory = AuthenticationMemory()
        for number in 0..<1_500 {
            var scene = Scene(memory)
            try scene.authenticate("http://origin.test/a/b", Scene.basic, as: Self.credential("u\(number)"))
        }
        let known = try (0..<1_500).filter { number in
            try AuthenticationMemoryTests.sentAuthorization(
                memory, "http://origin.test/a/b", as: Self.credential("u\(number)")) != nil
        }
        #expect(known.last == 1_499 && known.count <= 1_024 && known.count > 100)
    }
}
