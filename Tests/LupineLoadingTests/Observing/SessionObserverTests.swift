// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of the events that observers of a session get of its tasks.
@Suite(.timeLimit(.minutes(10))) struct SessionObserverTests {
    /// Runs `body` with an observed session, ends the session, and checks the events.
    private func observing(
        _ plan: ScriptPlan? = nil, delegate: (any URLSessionDelegate)? = nil,
        configure: (URLSessionConfiguration) -> Void = { _ in },
        over testedHTTP: TestedHTTP = .http1, _ body: (SessionStage, RecordingObserver) async throws -> Void
    ) async throws {
        let observer = RecordingObserver()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.transferObservers = [observer]
        configure(configuration)
        try await withStage(plan, configuration: configuration, delegate: delegate, over: testedHTTP) {
            stage in
            try await body(stage, observer)
        }
        await observer.waitForEnds(observer.starts.count)
        #expect(observer.violations.isEmpty)
    }

    private func expectAnswer(of stage: SessionStage, _ path: String = "/") async throws {
        let status = try await stage.get(path).status
        #expect(status == 200)
    }

    @Test(
        "[U-21.1] a transfer has its task, and the result of the network load", arguments: TestedHTTP.allCases
    )
    func tasks(over testedHTTP: TestedHTTP) async throws {
        try await observing(over: testedHTTP) { stage, observer in
            let first = stage.session.dataTask(with: try stage.url("/get?a=1"))
            let (ends, end) = AsyncStream.makeStream(of: Int.self)
            let second = stage.session.dataTask(with: try stage.url("/status/500")) { _, response, _ in
                end.yield((response as? HTTPURLResponse)?.statusCode ?? 0)
            }
            first.resume()
            await observer.waitForEnds(1)
            second.resume()
            var iterator = ends.makeAsyncIterator()
            #expect(await iterator.next() == 500)
            await observer.waitForEnds(2)
            #expect(
                observer.names == [
                    ["start", "dial", "lease", "head", "end"], ["start", "lease", "head", "end"],
                ])
            #expect(
                observer.starts.map(\.start.taskIdentifier) == [first.taskIdentifier, second.taskIdentifier])
            #expect(observer.starts[0].start.url == "http://origin.test:\(stage.origin.port)/get?a=1")
            #expect(observer.ends.map(\.status?.code) == [200, 500])
            #expect(observer.ends.allSatisfy { $0.outcome == .completed })
        }
    }

    @Test(
        "[U-21.2] redirects are transfers of the same task; each refers to the one before",
        arguments: TestedHTTP.allCases)
    func redirects(over testedHTTP: TestedHTTP) async throws {
        try await observing(over: testedHTTP) { stage, observer in
            try await expectAnswer(of: stage, "/redirect/2")
            await observer.waitForEnds(3)
            let ids = observer.starts.map(\.id)
            #expect(
                observer.starts.map(\.start.cause) == [
                    .request, .redirect(after: ids[0]), .redirect(after: ids[1]),
                ])
            #expect(Set(observer.starts.map(\.start.taskIdentifier)).count == 1)
        }
    }

    /// Answers every challenge.
    private final class AnsweringDelegate: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(
                .useCredential, URLCredential(user: "u", password: "p", persistence: .forSession))
        }
    }

    @Test(
        "[U-21.2] the request after a challenge is a new transfer, which repeats the one before",
        arguments: TestedHTTP.allCases)
    func challenges(over testedHTTP: TestedHTTP) async throws {
        try await observing(delegate: AnsweringDelegate(), over: testedHTTP) { stage, observer in
            try await expectAnswer(of: stage, "/basic-auth/u/p")
            await observer.waitForEnds(2)
            #expect(
                observer.starts.map(\.start.cause) == [.request, .repetition(after: observer.starts[0].id)])
            #expect(observer.ends.map(\.status?.code) == [401, 200])
        }
    }

    @Test("[U-21.1] a load without the network is no transfer", arguments: TestedHTTP.allCases)
    func noTransfers(over testedHTTP: TestedHTTP) async throws {
        let configure = { (configuration: URLSessionConfiguration) in
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        }
        try await observing(configure: configure, over: testedHTTP) { stage, observer in
            try await expectAnswer(of: stage, "/cache/3600")
            try await expectAnswer(of: stage, "/cache/3600")
            let data = try #require(URL(string: "data:,lupin"))
            let text = await stage.load(URLRequest(url: data)).text
            #expect(text == "lupin")
            let unknown = try #require(URL(string: "gopher://origin.test/"))
            let code = await stage.load(URLRequest(url: unknown)).code
            #expect(code == .unsupportedURL)
            try await expectAnswer(of: stage, "/get")
            await observer.waitForEnds(2)
            #expect(observer.starts.map(\.start.target) == ["/cache/3600", "/get"])
        }
    }

    @Test(
        "[U-21.1] a session that is invalidated ends the transfers of its tasks",
        arguments: TestedHTTP.allCases)
    func invalidation(over testedHTTP: TestedHTTP) async throws {
        let stall = ScriptPlan([Script([.expectHead, .stall])])
        let configure = { (configuration: URLSessionConfiguration) in
            configuration.httpMaximumConnectionsPerHost = 2
        }
        try await observing(stall, configure: configure, over: testedHTTP) { stage, observer in
            for _ in 0..<6 { stage.session.dataTask(with: try stage.url()).resume() }
            await observer.waitForEvents("start", 6)
            await observer.waitForEvents("lease", 2)
            stage.session.invalidateAndCancel()
            await observer.waitForEnds(6)
            #expect(observer.ends.allSatisfy { $0.outcome == .cancelled })
        }
    }

    @Test("[U-21.1] a WebSocket's transfer ends when the connection leaves HTTP")
    func webSockets() async throws {
        try await observing { stage, observer in
            let socket = stage.session.webSocketTask(with: try stage.url("/websocket", scheme: "ws"))
            socket.resume()
            try await socket.send(.string("lupin"))
            guard case .string("lupin") = try await socket.receive() else {
                throw URLError(.badServerResponse)
            }
            await observer.waitForEnds(1)
            #expect(observer.ends.first?.status?.code == 101 && observer.ends.first?.outcome == .completed)
            // An upgraded connection remains leased until it ends.
            #expect(stage.session.poolCounts().map(\.leased) == [1])
            socket.cancel(with: .normalClosure, reason: nil)
        }
    }

    /// Returns the head of a request, as octets of HTTP/1.1.
    private static func octets(_ head: LupineHTTP.RequestHead) -> [UInt8] {
        var text = "\(head.method.rawValue) \(head.target) \(head.version)\r\n"
        for index in 0..<head.fields.count {
            text += "\(head.fields.name(at: index)): \(head.fields.value(at: index))\r\n"
        }
        return Array((text + "\r\n").utf8)
    }

    @Test("[U-21.1, U-21.6] the observed head is the head that the server received, also without sending it")
    func headsOfRequests() async throws {
        let configure = { (configuration: URLSessionConfiguration) in
            configuration.httpAdditionalHeaders = ["X-Session": "one"]
        }
        try await observing(configure: configure) { stage, observer in
            let received = LockedValue<[[UInt8]]>([])
            for method in ["GET", "POST"] {
                stage.origin.route(method, "/x") { request throws(Refusal) in
                    received.update { $0.append(Self.octets(request.head)) }
                    return try OriginResponse(200, "text/plain", [])
                }
            }
            var request = URLRequest(url: try stage.url("/x?q=1"))
            request.setValue("two", forHTTPHeaderField: "x-own")
            var post = request
            post.httpMethod = "POST"
            post.httpBody = Data("content".utf8)
            for request in [request, post] {
                let status = await stage.load(request).status
                #expect(status == 200)
                let head = try stage.session.requestHead(for: request)
                #expect(Array(head) == received.value.last, "\(String(decoding: head, as: UTF8.self))")
            }
            await observer.waitForEnds(2)
            #expect(observer.leases.map(\.requestHead) == received.value)
            #expect(observer.heads.map(\.reason) == ["OK", "OK"])
        }
    }

    @Test("[U-21.6] a request that cannot be sent has no head")
    func noHead() throws {
        let session = URLSession(configuration: .ephemeral)
        for text in ["ws://origin.test/", "file:///etc/hostname", "//origin.test/"] {
            let url = try #require(URL(string: text))
            #expect { try session.requestHead(for: URLRequest(url: url)) } throws: { error in
                (error as? URLError)?.code == .unsupportedURL
            }
        }
        var request = URLRequest(url: try #require(URL(string: "http://origin.test/")))
        request.httpBody = Data("content".utf8)
        #expect { try session.requestHead(for: request) } throws: { error in
            (error as? URLError)?.code == .dataLengthExceedsMaximum
        }
    }

    @Test(
        "[U-21.6] `whenObserversHaveHeard` calls back after all earlier events",
        arguments: TestedHTTP.allCases)
    func hearing(over testedHTTP: TestedHTTP) async throws {
        let names = LockedValue<[String]>([])
        let observer = RecordingObserver { event in names.update { $0.append(event.kind.name) } }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.transferObservers = [observer]
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            try await expectAnswer(of: stage)
            let observedNames = await withCheckedContinuation { continuation in
                stage.session.whenObserversHaveHeard { continuation.resume(returning: names.value) }
            }
            let steps = observedNames.filter { $0 != "notice" }
            #expect(steps.prefix(4) == ["start", "dial", "lease", "head"])
        }
        let called = LockedValue(false)
        URLSession(configuration: .ephemeral).whenObserversHaveHeard { called.set(true) }
        #expect(called.value)
    }

    @Test("[U-21.4] a session counts its connections", arguments: TestedHTTP.allCases)
    func counts(over testedHTTP: TestedHTTP) async throws {
        try await observing(over: testedHTTP) { stage, observer in
            #expect(stage.session.poolCounts().isEmpty)
            try await expectAnswer(of: stage)
            await observer.waitForEnds(1)
            let count = try #require(stage.session.poolCounts().first)
            #expect(count.host == "origin.test" && count.port == stage.origin.port && count.scheme == "http")
            #expect((count.idle, count.leased, count.dialing, count.waiting) == (1, 0, 0, 0))
        }
    }

    @Test(
        "[U-21.3, O-6] an observer may invalidate the session and cancel its tasks",
        arguments: TestedHTTP.allCases)
    func callsBack(over testedHTTP: TestedHTTP) async throws {
        let session = LockedValue<URLSession?>(nil)
        let observer = RecordingObserver { event in
            guard case .lease = event.kind, let session = session.value else { return }
            _ = session.poolCounts()
            session.invalidateAndCancel()
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.transferObservers = [observer]
        let stall = ScriptPlan([Script([.expectHead, .stall])])
        try await withStage(stall, configuration: configuration, over: testedHTTP) { stage in
            session.set(stage.session)
            let code = try await stage.get().code
            #expect(code == .cancelled)
            await observer.waitForEnds(1)
            #expect(observer.violations.isEmpty)
            session.set(nil)
        }
    }
}
