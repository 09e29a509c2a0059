// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// The separation of judges: a connection that one task's delegate has accepted is used for no task whose judge has not.
@Suite struct HostileConnectionTests {
    // MARK: reused connections

    /// How a task reaches its server.
    enum Path: Sendable {
        case direct, tunnel, tunnelInTLS
    }

    @Test(
        "[U-9.17] a connection that one task's delegate accepted is not used for another's",
        arguments: [
            (Path.direct, TestedHTTP.http1), (.tunnel, .http1), (.tunnelInTLS, .http1), (.direct, .http2),
        ])
    func notUsedForAnotherDelegate(_ connectionPath: Path, over testedHTTP: TestedHTTP) async throws {
        try await Self.run(connectionPath, over: testedHTTP) { stage in
            let (accepting, refusing) = (Judge(.accepts), Judge(.refuses))
            #expect(await stage.load(as: accepting) == nil)
            #expect(await stage.load(as: refusing) == .serverCertificateUntrusted)
            #expect(accepting.challengeCount == 1 && refusing.challengeCount == 1)
            // The first delegate's connection is still open, and the delegate is not asked about it again.
            #expect(await stage.load(as: accepting) == nil)
            #expect(accepting.challengeCount == 1)
        }
    }

    @Test(
        "[U-9.17] a connection that a task's delegate accepted is not used for a task whose delegate does not decide",
        arguments: TestedHTTP.allCases)
    func notUsedForTheSession(over testedHTTP: TestedHTTP) async throws {
        for session in [nil, Judge(.refuses), Judge(.byDefault)] {
            try await Self.run(leaf: "expired", session: session, over: testedHTTP) { stage in
                #expect(await stage.load(as: Judge(.accepts)) == nil)
                for own in [nil, Silent()] {
                    #expect(await stage.load(as: own) == .serverCertificateUntrusted)
                }
                #expect(stage.origin.counts.requests == 1)
                if let session { #expect(session.challengeCount == 2) }
            }
        }
    }

    @Test(
        "[U-9.17] a task's delegate that decides is called, whatever the session's delegate has accepted",
        arguments: TestedHTTP.allCases)
    func theSessionsVerdictIsNotForThoseWhoJudge(over testedHTTP: TestedHTTP) async throws {
        let session = Judge(.accepts)
        try await Self.run(leaf: "expired", session: session, over: testedHTTP) { stage in
            #expect(await stage.load(as: nil) == nil)
            for _ in 0..<2 {
                let own = Judge(.refuses)
                #expect(await stage.load(as: own) == .serverCertificateUntrusted)
                #expect(own.challengeCount == 1)
            }
            #expect(session.challengeCount == 1 && stage.origin.counts.requests == 1)
        }
    }

    @Test(
        "[U-9.17] connections that the session's delegate accepted are used for all tasks whose delegates do not decide",
        arguments: TestedHTTP.allCases)
    func theSessionsVerdictIsShared(over testedHTTP: TestedHTTP) async throws {
        let session = Judge(.accepts)
        try await Self.run(leaf: "expired", session: session, over: testedHTTP) { stage in
            // The first connection is opened for a task whose delegate could have judged, but has not.
            let tasks: [(any URLSessionTaskDelegate)?] = [Silent(), nil, Silent(), Silent(), nil, session]
            for own in tasks { #expect(await stage.load(as: own) == nil) }
            #expect(session.challengeCount == 1 && stage.origin.counts.connectionsAccepted == 1)
            #expect(stage.origin.counts.requests == tasks.count)
        }
    }

    @Test(
        "[U-9.17] connections that the policy accepted are used for all tasks whose delegates do not decide",
        arguments: TestedHTTP.allCases)
    func thePolicysVerdictIsShared(over testedHTTP: TestedHTTP) async throws {
        try await Self.run(over: testedHTTP) { stage in
            for own in [Silent(), Silent(), Silent()] { #expect(await stage.load(as: own) == nil) }
            #expect(stage.origin.counts.connectionsAccepted == 1)
            let refusing = Judge(.refuses)
            #expect(await stage.load(as: refusing) == .serverCertificateUntrusted)
            #expect(refusing.challengeCount == 1)
        }
    }

    @Test(
        "[U-9.17] what one delegate passed on is not valid for another of its class that passes on to another object",
        arguments: TestedHTTP.allCases)
    func passedOnToAnotherDelegate(over testedHTTP: TestedHTTP) async throws {
        try await Self.run(over: testedHTTP) { stage in
            for _ in 0..<2 { #expect(await stage.load(as: Forwarding(to: Silent())) == nil) }
            let judge = Judge(.refuses)
            #expect(await stage.load(as: Forwarding(to: judge)) == .serverCertificateUntrusted)
            #expect(judge.challengeCount == 1)
        }
    }

    /// The delegate leaves the first challenge to the session and answers the second: neither connection serves the other's
    /// tasks.
    @Test(
        "[U-9.17] a delegate that passes on one challenge and answers the next is called each time",
        arguments: TestedHTTP.allCases)
    func passedOnThenAnswered(over testedHTTP: TestedHTTP) async throws {
        let session = Judge(.accepts)
        try await Self.run(leaf: "expired", session: session, over: testedHTTP) { stage in
            let alternating = Judge(.passesOn)
            #expect(await stage.load(as: alternating) == nil)
            await stage.closeIdle()
            alternating.answer(.accepts)
            #expect(await stage.load(as: alternating) == nil)
            #expect(alternating.challengeCount == 2 && session.challengeCount == 1)
            session.answer(.refuses)
            #expect(await stage.load(as: nil) == .serverCertificateUntrusted)
            // The delegate has a connection of its own now.
            #expect(await stage.load(as: alternating) == nil)
            #expect(alternating.challengeCount == 2 && session.challengeCount == 2)
        }
    }

    @Test(
        "[U-9.17] a new delegate at the memory address of a released one inherits nothing",
        arguments: TestedHTTP.allCases)
    func aDeadDelegatesAddress(over testedHTTP: TestedHTTP) async throws {
        try await Self.run(over: testedHTTP) { stage in
            var address: ObjectIdentifier?
            for _ in 0..<8 {
                do {
                    let own = Judge(.accepts)
                    address = ObjectIdentifier(own)
                    #expect(await stage.load(as: own) == nil)
                    #expect(own.challengeCount == 1)
                }
                // Freed memory is usually reused at once; objects at other addresses are kept until that happens.
                var others: [Judge] = []
                while others.count < 1_000 {
                    let next = Judge(.refuses)
                    others.append(next)
                    if ObjectIdentifier(next) == address { break }
                }
                let newDelegate = try #require(others.last)
                #expect(await stage.load(as: newDelegate) == .serverCertificateUntrusted)
                #expect(newDelegate.challengeCount == 1)
            }
        }
    }

    // MARK: tickets

    /// The kind of task, each with a connection of its own.
    enum TaskKind: Sendable { case data, socket, stream }

    @Test(
        "[U-9.17, I-12.15] a TLS ticket of a connection that one delegate accepted is not offered for another's",
        arguments: [
            (TaskKind.data, TestedHTTP.http1), (.socket, .http1), (.stream, .http1), (.data, .http2),
        ])
    func ticketsAreNotOfferedForOthers(_ taskKind: TaskKind, over testedHTTP: TestedHTTP) async throws {
        try await Self.run(
            keepsAlive: taskKind == .socket, script: taskKind == .stream ? Self.streamScript : nil,
            over: testedHTTP
        ) {
            stage in
            let first = Judge(.accepts)
            #expect(await stage.perform(taskKind, as: first) == nil)
            #expect(await stage.perform(taskKind, as: Judge(.accepts)) == nil)
            #expect(await stage.perform(taskKind, as: nil) == nil)
            #expect(stage.origin.counts.handshakesCompleted == 3)
            #expect(stage.origin.counts.handshakesResumed == 0)
            // A delegate's own ticket is offered; the delegate is asked nevertheless.
            #expect(await stage.perform(taskKind, as: first) == nil)
            #expect(first.challengeCount == 2 && stage.origin.counts.handshakesResumed == 1)
        }
    }

    @Test(
        "[U-9.17, I-12.15] a TLS ticket of a connection that the session's delegate accepted is offered for the session's tasks",
        arguments: TestedHTTP.allCases)
    func theSessionsTicketsAreShared(over testedHTTP: TestedHTTP) async throws {
        let session = Judge(.accepts)
        try await Self.run(leaf: "expired", keepsAlive: false, session: session, over: testedHTTP) { stage in
            for own in [Silent(), nil, Silent()] { #expect(await stage.load(as: own) == nil) }
            #expect(session.challengeCount == 3 && stage.origin.counts.handshakesResumed == 2)
            #expect(await stage.load(as: Judge(.accepts)) == nil)
            #expect(stage.origin.counts.handshakesResumed == 2)
        }
    }

    // MARK: identities

    /// Each task is redirected within the origin: its second hop uses a connection of the identity that the task chose at its
    /// first hop, and such connections are kept.
    @Test(
        "[U-11.20, U-9.17] the same client identity does not share connections between delegates",
        arguments: TestedHTTP.allCases)
    func theSameIdentityIsNotTheSameVerdict(over testedHTTP: TestedHTTP) async throws {
        let identity = try TrustStage.identity("client-rsa")
        try await Self.run(asksForIdentity: true, over: testedHTTP) { stage in
            let first = Judge(.accepts, showing: identity)
            #expect(await stage.load("/redirect/1", as: first) == nil)
            #expect(first.challengeCount == 2)
            let second = Judge(.accepts, .refuses, showing: identity)
            #expect(await stage.load("/redirect/1", as: second) == .serverCertificateUntrusted)
            #expect(second.challengeCount == 2 && stage.origin.counts.requests == 3)
        }
    }

    // MARK: waiting tasks

    @Test(
        "[U-9.17] a waiting task does not get a connection that another task's delegate accepts",
        arguments: TestedHTTP.allCases)
    func waitingTasks(over testedHTTP: TestedHTTP) async throws {
        try await Self.run(perHost: 1, over: testedHTTP) { stage in
            let undecided = Judge()
            async let first = stage.load(as: undecided)
            await undecided.waitForChallenges(1)
            // The task neither waits for the other delegate's answer, nor is served because of it.
            let refusing = Judge(.refuses)
            #expect(await stage.load(as: refusing) == .serverCertificateUntrusted)
            // A second task with the first delegate waits, and is served by the same answer.
            async let second = stage.load(as: undecided)
            undecided.answer(.accepts)
            let ends = await [first, second]
            #expect(ends == [nil, nil] && undecided.challengeCount == 1 && refusing.challengeCount == 1)
        }
    }

    @Test(
        "[U-9.17] a waiting task gets a connection that the session's delegate accepts",
        arguments: TestedHTTP.allCases)
    func waitingTasksOfTheSession(over testedHTTP: TestedHTTP) async throws {
        let session = Judge()
        try await Self.run(leaf: "expired", perHost: 1, session: session, over: testedHTTP) { stage in
            async let silent = stage.load(as: Silent())
            await session.waitForChallenges(1)
            session.answer(.accepts)
            #expect(await silent == nil)
            let ends = await withTaskGroup(of: URLError.Code?.self) { group in
                for index in 0..<8 { group.addTask { await stage.load(as: index % 2 == 0 ? nil : Silent()) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(ends.allSatisfy { $0 == nil } && session.challengeCount == 1)
            #expect(stage.origin.counts.connectionsAccepted == 1)
        }
    }

    /// Many delegates at once, some of which refuse: each task ends as its own delegate decides.
    @Test(
        "[U-9.17] in any order each task ends as its own delegate decides", arguments: 1...4,
        TestedHTTP.allCases)
    func everyOrder(_ seed: UInt64, over testedHTTP: TestedHTTP) async throws {
        try await Self.run(leaf: "expired", perHost: 2, session: Judge(.accepts), over: testedHTTP) { stage in
            var random = SeededRandom(seed: seed)
            let judges = (0..<6).map { Judge($0 % 2 == 0 ? .accepts : .refuses) }
            let picks = (0..<48).map { _ in Int.random(in: 0..<8, using: &random) }
            await withTaskGroup(of: Void.self) { group in
                for pick in picks {
                    group.addTask {
                        let own: (any URLSessionTaskDelegate)? =
                            pick < judges.count ? judges[pick] : pick == 6 ? Silent() : nil
                        let code = await stage.load(as: own)
                        let isRefused = pick < judges.count && pick % 2 == 1
                        #expect(code == (isRefused ? .serverCertificateUntrusted : nil), "\(pick)")
                    }
                }
            }
        }
    }
}

// MARK: - the stage

extension HostileConnectionTests {
    private static let streamScript = ScriptPlan([
        Script([.startTLS(), .expectBytes(2), .send("ok"), .expectEnd, .close], on: .socket)
    ])

    /// A session and its origin.
    struct Stage: Sendable {
        let session: URLSession
        let origin: LupineOrigin.Origin
        /// The host and port in URLs; without the origin's port if there is a proxy.
        let authority: String

        /// Loads in a task with this delegate; returns the code of the error, if any.
        func load(_ path: String = "/get", as own: (any URLSessionTaskDelegate)?) async -> URLError.Code? {
            guard let url = URL(string: "https://\(authority)\(path)") else { return .badURL }
            do {
                _ = try await session.data(from: url, delegate: own)
                return nil
            } catch { return (error as? URLError)?.code ?? .unknown }
        }

        func perform(_ taskKind: TaskKind, as own: (any URLSessionTaskDelegate)?) async -> URLError.Code? {
            do {
                switch taskKind {
                case .data: return await load(as: own)
                case .socket:
                    guard let url = URL(string: "wss://\(authority)/websocket") else { return .badURL }
                    let task = session.webSocketTask(with: url)
                    task.delegate = own
                    task.resume()
                    try await task.send(.string("a"))
                    _ = try await task.receive()
                    task.cancel(with: .normalClosure, reason: nil)
                case .stream:
                    let task = session.streamTask(withHostName: "good.test", port: Int(origin.port))
                    task.delegate = own
                    task.resume()
                    task.startSecureConnection()
                    try await task.write(Data("hi".utf8), timeout: 0)
                    _ = try await task.readData(ofMinLength: 2, maxLength: 2, timeout: 0)
                    task.closeWrite()
                    _ = try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0)
                    task.closeRead()
                }
                return nil
            } catch { return (error as? URLError)?.code ?? .unknown }
        }

        /// Closes the idle connections of the session, and waits until that is done.
        func closeIdle() async {
            await withCheckedContinuation { continuation in session.flush { continuation.resume() } }
        }
    }

    /// Runs `body` with an origin of this identity and a session whose delegate is `session`.
    static func run(
        _ connectionPath: Path = .direct, leaf: String = "good", keepsAlive: Bool = true,
        asksForIdentity: Bool = false,
        perHost: Int = 6, script: ScriptPlan? = nil, session delegate: Judge? = nil,
        over testedHTTP: TestedHTTP, _ body: (Stage) async throws -> Void
    ) async throws {
        var tls = TLSServerConfiguration(
            identities: [
                TLSServerIdentity(
                    try TLSIdentity(pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
            ])
        if asksForIdentity {
            tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.text("client-root.pem")))
        }
        var serving = OriginConfiguration()
        tls.enable(testedHTTP)
        serving.tls = tls
        serving.enable(testedHTTP)
        let established = Script.Step.send("HTTP/1.1 200 Connected\r\n\r\n")
        let answers = (0..<4).flatMap { _ in [Script.Step.expectHead, .reply("ok")] }
        switch connectionPath {
        case .direct: serving.script = script
        case .tunnel:
            serving.script = ScriptPlan([
                Script([.expectHead, established, .startTLS()] + answers + [.stall], on: .socket)
            ])
        case .tunnelInTLS:
            serving.script = ScriptPlan([
                Script([.expectHead, established, .startTLS()] + answers + [.stall], on: .content)
            ])
        }
        if !keepsAlive, testedHTTP == .http2 {
            serving.endpoint = .closing
        } else if !keepsAlive, script == nil {
            serving.script = ScriptPlan(
                .expectHead, .reply("ok", status: "200 OK", "Connection: close\r\n"), .close)
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.waitPatiently()
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = perHost
        configuration.lupine.httpVersions = testedHTTP.versions
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        switch connectionPath {
        case .direct: break
        case .tunnel: configuration.lupine.proxies = ["https_proxy": "http://localhost:\(origin.port)"]
        case .tunnelInTLS: configuration.lupine.proxies = ["https_proxy": "https://localhost:\(origin.port)"]
        }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let stage = Stage(session: session, origin: origin, authority: "good.test:\(origin.port)")
        let result: Result<Void, any Error>
        do { result = .success(try await body(stage)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    /// A delegate without a method for challenges.
    final class Silent: NSObject, URLSessionTaskDelegate {}

    /// A delegate that forwards challenges to another one.
    private final class Forwarding: NSObject, URLSessionTaskDelegate {
        private let inner: any URLSessionTaskDelegate

        init(to inner: any URLSessionTaskDelegate) { self.inner = inner }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            inner.urlSession(
                session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
    }

    /// A delegate that answers trust challenges with the given answers, and counts the challenges.
    final class Judge: NSObject, URLSessionTaskDelegate {
        enum Answer: Sendable { case accepts, refuses, byDefault, passesOn }

        private struct State: Sendable {
            /// The answers to the next challenges; the last one is repeated.
            var answers: [Answer]
            var challengeCount = 0
            /// Closures that answer the challenges that wait.
            var pendingReplies: [@Sendable (Answer) -> Void] = []
            var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        }

        private let state: Lock<State>
        private let identity: SecIdentity?

        /// Without answers, challenges wait until `answer` is called.
        init(_ answers: Answer..., showing identity: SecIdentity? = nil) {
            state = Lock(State(answers: answers))
            self.identity = identity
        }

        /// The number of challenges about a server.
        var challengeCount: Int { state.withLock { $0.challengeCount } }

        /// Gives this answer to the challenges that wait and to all later ones.
        func answer(_ answer: Answer) {
            let replies = state.withLock { state in
                defer { state.pendingReplies = [] }
                state.answers = [answer]
                return state.pendingReplies
            }
            for reply in replies { reply(answer) }
        }

        /// Waits until there have been this many challenges.
        func waitForChallenges(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.challengeCount < count { state.waiting.append((count, continuation)) }
                    return state.challengeCount >= count
                }
                if isThere { continuation.resume() }
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard let trust = challenge.protectionSpace.serverTrust else {
                return completionHandler(
                    identity == nil ? .performDefaultHandling : .useCredential,
                    identity.map { URLCredential(identity: $0, certificates: nil, persistence: .forSession) })
            }
            let reply = { @Sendable (answer: Answer) in
                switch answer {
                case .accepts: completionHandler(.useCredential, URLCredential(trust: trust))
                case .refuses: completionHandler(.rejectProtectionSpace, nil)
                case .byDefault: completionHandler(.performDefaultHandling, nil)
                case .passesOn:
                    Silent().urlSession(
                        session, task: task, didReceive: challenge, completionHandler: completionHandler)
                }
            }
            let (answer, ready) = state.withLock { state in
                state.challengeCount += 1
                let count = state.challengeCount
                let ready = state.waiting.filter { $0.count <= count }
                state.waiting.removeAll { $0.count <= count }
                guard let answer = state.answers.first else {
                    state.pendingReplies.append(reply)
                    return (Answer?.none, ready)
                }
                if state.answers.count > 1 { state.answers.removeFirst() }
                return (answer, ready)
            }
            if let answer { reply(answer) }
            for waiter in ready { waiter.continuation.resume() }
        }
    }
}
