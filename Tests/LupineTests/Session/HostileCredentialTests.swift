// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

@testable import Lupine

/// Requests of several users on one session: the credentials of one user are never sent for another user.
@Suite(.timeLimit(.minutes(10))) struct HostileCredentialTests {
    // MARK: one user after the other

    enum Scheme: String, CaseIterable, Sendable {
        case basic, digest

        /// Returns the path that the user has access to. With Basic, all users share one directory; with Digest, one origin.
        func path(of user: String) -> String {
            self == .basic ? "/members/page" : "/digest-auth/auth/\(user)/secret-\(user)"
        }
    }

    /// The source of a request's credential.
    enum CredentialSource: String, CaseIterable, Sendable {
        case request, url, delegate
    }

    /// The expected result of one task: its user, and the users of the `Authorization` fields that it sends, as returned by
    /// `usersSent(to:)`.
    struct Visit: Sendable {
        let user: String?
        let usersSent: [String]
        let status: Int

        /// The server sends a challenge first.
        static func challenged(_ user: String) -> Visit {
            Visit(user: user, usersSent: ["-", user], status: 200)
        }
        /// The first request contains the credential.
        static func preemptive(_ user: String) -> Visit {
            Visit(user: user, usersSent: [user], status: 200)
        }
        static let anonymous = Visit(user: nil, usersSent: ["-"], status: 401)
    }

    /// Responds with the user name of the request if the password is that user's.
    static func serveMembers(on origin: LupineOrigin.Origin) {
        origin.route("GET", "/members/{page}") { request throws(Refusal) in
            for user in ["alice", "bob", "service"]
            where request.field("Authorization")
                == HTTPHeader.authorization(
                    username: user, password: "secret-\(user)"
                ).value
            {
                return try OriginResponse(200, "text/plain", Array(user.utf8))
            }
            var response = OriginResponse(401)
            try response.add("WWW-Authenticate", "Basic realm=\"members\"")
            return response
        }
    }

    /// Returns a set-up without a cache and with its own credential storage. It allows one connection at a time, so that the
    /// origin records the requests in order.
    static func setUp(_ storage: URLCredentialStorage = URLCredentialStorage()) -> PipelineSetUp {
        var setUp = PipelineSetUp()
        setUp.configure = { configuration in
            configuration.httpMaximumConnectionsPerHost = 1
            configuration.urlCache = nil
            configuration.urlCredentialStorage = storage
        }
        return setUp
    }

    /// Returns the users in the credentials of all requests so far, as words of `CredentialUsers`, connection by connection. The
    /// nonce counts are omitted unless `counts` is set.
    static func usersSent(
        to origin: LupineOrigin.Origin, _ field: String = "Authorization", counts: Bool = false
    ) -> [String] {
        (0..<origin.counts.connectionsAccepted).flatMap {
            CredentialUsers.read(origin.receivedAsHTTP1(on: $0), field)
        }.map { counts ? $0 : String($0.prefix { $0 != "#" }) }
    }

    /// Answers challenges with the user named in the request's `X-User`.
    final class AnsweringDelegate: SessionDelegate, @unchecked Sendable {
        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.previousFailureCount == 0,
                let user = task.originalRequest?.value(forHTTPHeaderField: "X-User")
            else { return completionHandler(.performDefaultHandling, nil) }
            completionHandler(.useCredential, HostileCredentialTests.credential(user))
        }
    }

    static func credential(
        _ user: String, _ persistence: URLCredential.Persistence = .forSession
    ) -> URLCredential {
        URLCredential(user: user, password: "secret-\(user)", persistence: persistence)
    }

    /// Returns a request whose credential comes from this source; without a user, a request without a credential.
    static func request(
        _ user: String?, _ source: CredentialSource, _ url: String, _ session: Session,
        _ persistence: URLCredential.Persistence = .forSession
    ) -> DataRequest {
        guard let user else { return session.request(url) }
        switch source {
        case .request: return session.request(url).authenticate(with: credential(user, persistence))
        case .url:
            return session.request(url.replacing("http://", with: "http://\(user):secret-\(user)@"))
        case .delegate: return session.request(url, headers: ["X-User": user])
        }
    }

    @Test(
        "[U-11.15, I-8.1] requests of several users on one session send the credentials of their users only",
        arguments: Scheme.allCases,
        CredentialSource.allCases)
    func oneSession(_ scheme: Scheme, _ source: CredentialSource) async throws {
        for testedHTTP in TestedHTTP.allCases {
            var visits: [Visit] = [
                .challenged("alice"), .challenged("bob"), .anonymous,
                .preemptive("alice"), .preemptive("bob"), .anonymous,
            ]
            // A delegate answers for each task separately, so a task's user is not known before the challenge.
            if source == .delegate {
                visits = [
                    .challenged("alice"), .challenged("bob"), .anonymous,
                    .challenged("alice"), .challenged("bob"), .anonymous,
                ]
            }
            var setUp = Self.setUp()
            if source == .delegate { setUp.delegate = AnsweringDelegate() }
            try await withPipeline(setUp, over: testedHTTP) { stage in
                Self.serveMembers(on: stage.origin)
                var expected: [String] = []
                for visit in visits {
                    let url = stage.url(scheme.path(of: visit.user ?? "alice"))
                    let response = await Self.request(visit.user, source, url, stage.session).answered()
                    #expect(response.response?.statusCode == visit.status, "\(visit)")
                    if visit.status == 200 {
                        let text = String(decoding: response.data ?? Data(), as: UTF8.self)
                        #expect(text.contains(visit.user ?? "?"), "\(visit)")
                    }
                    expected += visit.usersSent
                    #expect(Self.usersSent(to: stage.origin) == expected, "\(visit)")
                }
            }
        }
    }

    @Test(
        "[U-11.15] the same user name with another password is another credential",
        arguments: Scheme.allCases,
        TestedHTTP.allCases)
    func otherPassword(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let url = stage.url(scheme.path(of: "alice"))
            let first = await Self.request("alice", .request, url, stage.session).answered()
            #expect(first.response?.statusCode == 200)
            let thief = stage.session.request(url).authenticate(username: "alice", password: "guessed")
            #expect(await thief.answered().response?.statusCode == 401)
            #expect(Self.usersSent(to: stage.origin) == ["-", "alice", "-", "alice"])
            // The failures of the others have not affected alice's requests.
            let again = await Self.request("alice", .request, url, stage.session).answered()
            #expect(again.response?.statusCode == 200)
            #expect(Self.usersSent(to: stage.origin).count == 5)
        }
    }

    @Test("[U-11.11] the nonce count of each user is separate", arguments: TestedHTTP.allCases)
    func counts(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            for user in ["alice", "bob", "alice", "bob", "alice"] {
                let url = stage.url(Scheme.digest.path(of: user))
                let response = await Self.request(user, .request, url, stage.session).answered()
                #expect(response.response?.statusCode == 200)
            }
            #expect(
                Self.usersSent(to: stage.origin, counts: true)
                    == ["-", "alice#1", "-", "bob#1", "alice#2", "bob#2", "alice#3"])
        }
    }

    // MARK: two sessions

    /// A credential that must not be shared with another session.
    struct Sharing: CustomTestStringConvertible, Sendable {
        let scheme: Scheme
        let source: CredentialSource
        let persistence: URLCredential.Persistence
        var testDescription: String { "\(scheme), by the \(source), \(persistence)" }

        static let all = Scheme.allCases.flatMap { scheme in
            CredentialSource.allCases.flatMap { source in
                [URLCredential.Persistence.forSession, .permanent].map {
                    Sharing(scheme: scheme, source: source, persistence: $0)
                }
            }
        }
    }

    @Test(
        "[U-11.16, U-11.15] a request's credential is not stored, and no other session uses it",
        arguments: Sharing.all, TestedHTTP.allCases)
    func twoSessions(_ row: Sharing, over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        var setUp = Self.setUp(storage)
        if row.source == .delegate { setUp.delegate = AnsweringDelegate() }
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let url = stage.url(row.scheme.path(of: "alice"))
            let request = Self.request("alice", row.source, url, stage.session, row.persistence)
            #expect(await request.answered().response?.statusCode == 200)
            #expect(storage.allCredentials.isEmpty)
            let other = try Self.setUp(storage).session(of: stage.origin)
            #expect(await other.request(url).answered().response?.statusCode == 401)
            other.session.invalidateAndCancel()
            #expect(Self.usersSent(to: stage.origin) == ["-", "alice", "-"])
        }
    }

    @Test(
        "[U-11.16] a request's `.forSession` credential is not added to the shared storage",
        arguments: TestedHTTP.allCases)
    func sharedStorage(over testedHTTP: TestedHTTP) async throws {
        var setUp = Self.setUp(.shared)
        setUp.recorder = EventRecorder()
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let url = stage.url("/members/page")
            let own = stage.session.request(url).authenticate(username: "alice", password: "secret-alice")
            #expect(await own.answered().response?.statusCode == 200)
            let port = Int(stage.origin.port)
            #expect(URLCredentialStorage.shared.allCredentials.keys.allSatisfy { $0.port != port })
        }
    }

    // MARK: the storage

    @Test(
        "[U-11.4, D-1, I-8.1] the storage answers only for requests without a credential",
        arguments: Scheme.allCases, TestedHTTP.allCases)
    func storage(_ scheme: Scheme, over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        try await withPipeline(Self.setUp(storage), over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let space = URLProtectionSpace(
                host: "origin.test", port: Int(stage.origin.port), protocol: "http",
                realm: scheme == .basic ? "members" : "lupine@origin",
                authenticationMethod: scheme == .basic
                    ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest)
            let service = Self.credential("service")
            storage.setDefaultCredential(service, for: space)
            let url = stage.url(scheme.path(of: "service"))
            let wrong = { (url: String) in
                stage.session.request(url).authenticate(username: "alice", password: "wrong")
            }
            var expected: [String] = []
            func visit(_ request: DataRequest, _ status: Int, _ usersSent: [String]) async {
                expected += usersSent
                #expect(await request.answered().response?.statusCode == status)
                #expect(Self.usersSent(to: stage.origin) == expected)
            }
            await visit(wrong(url), 401, ["-", "alice"])
            await visit(stage.session.request(url), 200, ["-", "service"])
            await visit(stage.session.request(url), 200, ["service"])
            // For a request with its own credential the storage's is not used.
            await visit(wrong(url), 401, ["-", "alice"])
            await visit(
                stage.session.request(url.replacing("http://", with: "http://alice:wrong@")), 401,
                ["-", "alice"])
            await visit(
                stage.session.request(url, headers: [.authorization(username: "alice", password: "wrong")]),
                401,
                ["alice"])
            await visit(stage.session.request(url), 200, ["service"])
            // A credential that the program has removed from the storage is not sent again.
            storage.remove(service, for: space)
            await visit(stage.session.request(url), 401, ["-"])
        }
    }

    @Test(
        "[U-11.4] a password that was refused with Digest is not sent with Basic",
        arguments: TestedHTTP.allCases)
    func refusedByDigest(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            let fields = ValueLog<String>()
            stage.origin.route("GET", "/both") { request throws(Refusal) in
                fields.add(request.field("Authorization") ?? "-")
                var response = OriginResponse(401)
                try response.add("WWW-Authenticate", "Digest realm=\"both\", nonce=\"n\", qop=\"auth\"")
                try response.add("WWW-Authenticate", "Basic realm=\"both\"")
                return response
            }
            let request = stage.get("/both").authenticate(username: "alice", password: "old")
            #expect(await request.answered().response?.statusCode == 401)
            #expect(fields.all.map { $0.prefix { $0 != " " } } == ["-", "Digest"])
        }
    }

    @Test(
        "[U-11.4, U-10.5] after a redirect to another origin a request with a credential does not use the storage",
        arguments: TestedHTTP.allCases)
    func storageAfterRedirect(over testedHTTP: TestedHTTP) async throws {
        let storage = URLCredentialStorage()
        try await withPipeline(Self.setUp(storage), over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let target = stage.url("/members/page", host: "other.test")
            stage.origin.route("GET", "/away") { _ throws(Refusal) in
                var response = OriginResponse(302)
                try response.add("Location", target)
                return response
            }
            storage.setDefaultCredential(
                Self.credential("service"),
                for: URLProtectionSpace(
                    host: "other.test", port: Int(stage.origin.port), protocol: "http", realm: "members",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
            let own = stage.get("/away").authenticate(username: "alice", password: "secret-alice")
            #expect(await own.answered().response?.statusCode == 401)
            #expect(!Self.usersSent(to: stage.origin).contains { $0 != "-" })
            #expect(await stage.get("/away").answered().response?.statusCode == 200)
            #expect(Self.usersSent(to: stage.origin).contains("service"))
        }
    }

    // MARK: delegates and monitors

    /// Records the proposed credential, and calls the superclass for the answer.
    private final class RecordingDelegate: SessionDelegate, @unchecked Sendable {
        let proposals = ValueLog<String>()

        override func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            proposals.add(challenge.proposedCredential?.user ?? "-")
            super.urlSession(
                session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
    }

    @Test(
        "[U-11.4, I-8.3] delegates and monitors receive each challenge, with the request's credential proposed",
        arguments: TestedHTTP.allCases
    )
    func proposed(over testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        let observed = ValueLog<String>()
        let monitor = ClosureEventMonitor()
        monitor.taskDidReceiveChallenge = { _, _, challenge in
            observed.add(challenge.proposedCredential?.user ?? "-")
        }
        var setUp = Self.setUp()
        setUp.delegate = delegate
        setUp.monitors = [monitor]
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let url = stage.url("/members/page")
            for user in ["alice", "bob", nil] {
                _ = await Self.request(user, .request, url, stage.session).answered()
            }
            await monitor.queue.flush()
        }
        #expect(delegate.proposals.all == ["alice", "bob", "-"])
        #expect(observed.all == ["alice", "bob", "-"])
    }

    @Test(
        "[I-8.3] a later credential replaces the one that the task has", arguments: [false, true],
        TestedHTTP.allCases)
    func replaced(isRunning: Bool, over testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        var setUp = Self.setUp()
        setUp.delegate = delegate
        setUp.requestSetup = .eager
        setUp.startsImmediately = false
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let url = stage.url(isRunning ? "/gated" : "/members/page")
            let gate = stage.origin.gate("go")
            let arrived = stage.origin.gate("arrived")
            stage.origin.route("GET", "/gated") { _ throws(Refusal) in
                arrived.open()
                var response = OriginResponse(302)
                try response.add("Location", "/members/page")
                response.gate = gate
                return response
            }
            let request = stage.session.request(url).authenticate(with: Self.credential("alice"))
            let task: URLSessionTask = await called { answer in
                request.onURLSessionTaskCreation(on: DispatchQueue(label: "task")) { answer($0) }
            }
            #expect(task.state == .suspended)
            async let response = request.answered()
            if isRunning {
                request.resume()
                await arrived.wait()
                request.authenticate(with: Self.credential("bob"))
                gate.open()
            } else {
                request.authenticate(with: Self.credential("bob"))
                request.resume()
            }
            #expect(await response.data == Data("bob".utf8))
        }
        #expect(delegate.proposals.all == ["bob"])
    }

    @Test("[I-8.3] each attempt's task has the credential", arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        var setUp = Self.setUp()
        setUp.delegate = delegate
        setUp.interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(setUp, over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let request = stage.get("/members/page").validate(statusCode: [418])
                .authenticate(with: Self.credential("alice", .none))
            _ = await request.answered()
            #expect(request.tasks.count == 2)
            #expect(Self.usersSent(to: stage.origin) == ["-", "alice", "-", "alice"])
        }
        #expect(delegate.proposals.all == ["alice", "alice"])
    }

    @Test(
        "[U-11.15] after a redirect within the origin the same user's credential is sent",
        arguments: TestedHTTP.allCases)
    func redirected(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            stage.origin.route("GET", "/members/old/{page}") { request throws(Refusal) in
                var response = OriginResponse(request.field("Authorization") == nil ? 401 : 302)
                try response.add("WWW-Authenticate", "Basic realm=\"members\"")
                try response.add("Location", "/members/page")
                return response
            }
            for user in ["alice", "bob"] {
                let response = await Self.request(
                    user, .request, stage.url("/members/old/page"), stage.session
                ).answered()
                #expect(response.data == Data(user.utf8))
            }
            #expect(
                Self.usersSent(to: stage.origin) == ["-", "alice", "-", "alice", "-", "bob", "-", "bob"])
        }
    }

    // MARK: other kinds of requests

    @Test(
        "[U-11.15] a resumed download sends a credential only if it is given one again",
        arguments: TestedHTTP.allCases)
    func resumedDownload(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            Self.serveMembers(on: stage.origin)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nAccept-Ranges: bytes\r\nETag: \"e\"\r\n\r\n"
            let remainder =
                "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes 5-9/10\r\nETag: \"e\"\r\n\r\n56789"
            stage.origin.answer(
                "GET", "/members/part",
                ScriptPlan([
                    Script([.send(head + "01234"), .stall]), Script([.send(remainder), .close]),
                    Script([.send(remainder), .close]),
                ]))
            let url = stage.url("/members/part")
            let earlier = Self.request("alice", .request, stage.url("/members/page"), stage.session)
            #expect(await earlier.answered().response?.statusCode == 200)
            let download = stage.session.download(url).authenticate(with: Self.credential("alice"))
            async let ended = download.loaded()
            _ = await called { (answer: @escaping @Sendable (Bool) -> Void) in
                let hasAnswered = Protected(false)
                download.downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
                    let isFirst = hasAnswered.write { hasAnswered in
                        defer { hasAnswered = hasAnswered || progress.completedUnitCount >= 5 }
                        return !hasAnswered && progress.completedUnitCount >= 5
                    }
                    if isFirst { answer(true) }
                }
            }
            let data: Data? = await called { answer in download.cancel { answer($0) } }
            _ = await ended
            let anonymous = stage.session.download(resumingWith: try #require(data))
            _ = await anonymous.loaded()
            let authenticated = stage.session.download(resumingWith: try #require(data))
                .authenticate(with: Self.credential("alice"))
            _ = await authenticated.loaded()
            for file in [anonymous.fileURL, authenticated.fileURL] {
                try FileManager.default.removeItem(at: #require(file))
            }
            #expect(Self.usersSent(to: stage.origin) == ["-", "alice", "alice", "-", "alice"])
        }
    }

    @Test("[U-11.15] each web socket sends the credential of its user", arguments: TestedHTTP.allCases)
    func webSockets(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(Self.setUp(), over: testedHTTP) { stage in
            stage.origin.route(
                "GET", "/members/socket",
                .chosen { request throws(Refusal) in
                    var response = OriginResponse(request.field("Authorization") == nil ? 401 : 403)
                    try response.add("WWW-Authenticate", "Basic realm=\"members\"")
                    return .respond(response)
                })
            let url = stage.url("/members/socket").replacing("http://", with: "ws://")
            for user in ["alice", "bob", nil, "alice"] {
                let request = stage.session.webSocketRequest(to: url)
                if let user { request.authenticate(with: Self.credential(user)) }
                _ = await called { (answer: @escaping @Sendable (Bool) -> Void) in
                    request.streamMessageEvents(on: DispatchQueue(label: "handler")) { event in
                        if case .completed = event.kind { answer(true) }
                    }
                }
            }
            #expect(Self.usersSent(to: stage.origin) == ["-", "alice", "-", "bob", "-", "alice"])
        }
    }
}
