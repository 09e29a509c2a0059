// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Synchronization
import Testing

@testable import Lupine

/// The provided handlers of redirects and of cached responses, in a session.
@Suite struct HandlerTests {
    private static let redirectElsewhere: Redirector = .modify { _, request, _ in
        var request = request
        request.url = request.url.map { $0.deletingLastPathComponent().appendingPathComponent("elsewhere") }
        request.httpMethod = "PUT"
        request.setValue("yes", forHTTPHeaderField: "X-Changed")
        return request
    }

    private static func withRedirects(
        over testedHTTP: TestedHTTP = .http1, _ body: (PolicyStage) async throws -> Void
    ) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            stage.origin.route(nil, "/from") { _ throws(Refusal) in
                var response = try OriginResponse(302, "text/plain", Array("moved".utf8))
                try response.add("Location", "/to")
                return response
            }
            for (name, method) in [("to", "GET"), ("elsewhere", "PUT")] {
                stage.origin.route(method, "/\(name)") { request throws(Refusal) in
                    let seen = [
                        name, method, request.field("X-Changed") ?? "-",
                        request.field("X-Adapted") ?? "-",
                    ]
                    return try OriginResponse(200, "text/plain", Array(seen.joined(separator: " ").utf8))
                }
            }
            try await body(stage)
        }
    }

    @Test(
        "[I-6.1] the request's redirect handler precedes the session's; without any, redirects are followed",
        arguments: TestedHTTP.allCases)
    func precedence(over testedHTTP: TestedHTTP) async throws {
        try await Self.withRedirects(over: testedHTTP) { stage in
            let rows: [(session: Redirector?, request: Redirector?, expected: String)] = [
                (nil, nil, "to GET - -"), (.doNotFollow, nil, "moved"), (.follow, nil, "to GET - -"),
                (.doNotFollow, .follow, "to GET - -"), (.follow, .doNotFollow, "moved"),
                (.doNotFollow, Self.redirectElsewhere, "elsewhere PUT yes -"),
            ]
            for row in rows {
                try await stage.withSession(redirectHandler: row.session) { session in
                    let request = session.request(stage.url("/from"))
                    if let handler = row.request { request.redirect(using: handler) }
                    #expect(await request.awaitTextResponse().value == row.expected)
                }
            }
        }
    }

    @Test("[I-6.1] setting a second redirect handler of a request traps")
    func secondHandler() async {
        await #expect(processExitsWith: .failure) {
            let session = Session(startRequestsImmediately: false)
            session.request("http://127.0.0.1:1/").redirect(using: .follow).redirect(using: .follow)
        }
    }

    @Test("[I-6.2] the behaviours complete with the proposed request, nil, or the closure's result")
    func behaviours() throws {
        let task = URLSession.shared.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/")))
        let proposal = try URLRequest(url: "http://127.0.0.1:1/next", method: .get)
        let response = try #require(
            HTTPURLResponse(url: proposal.url!, statusCode: 302, httpVersion: nil, headerFields: nil))
        let rows: [(Redirector, String?)] = [
            (.follow, "/next"), (Redirector(behavior: .follow), "/next"), (.doNotFollow, nil),
            (.modify { _, _, _ in nil }, nil), (Self.redirectElsewhere, "/elsewhere"),
        ]
        for (redirector, path) in rows {
            var completions: [URLRequest?] = []
            redirector.task(task, willBeRedirectedTo: proposal, for: response) { completions.append($0) }
            #expect(completions.map { $0?.url?.path } == [path])
        }
    }

    @Test("[I-6.3] monitors receive a redirect before the handler is called", arguments: TestedHTTP.allCases)
    func order(over testedHTTP: TestedHTTP) async throws {
        try await Self.withRedirects(over: testedHTTP) { stage in
            let seen = Protected<[String]>([])
            let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
            monitor.taskWillPerformHTTPRedirection = { _, _, _, _ in seen.write { $0.append("monitor") } }
            let handler: Redirector = .modify { _, request, _ in
                seen.write { $0.append("handler") }
                return request
            }
            let session = Session(
                configuration: try stage.configuration(), redirectHandler: handler, eventMonitors: [monitor])
            defer { session.session.invalidateAndCancel() }
            #expect(await session.request(stage.url("/from")).awaitTextResponse().value == "to GET - -")
            #expect(Set(seen.read { $0 }) == ["monitor", "handler"])
        }
    }

    @Test(
        "[I-6.4] a redirect that is not followed is the response, with its body and without an error",
        arguments: TestedHTTP.allCases)
    func notFollowed(over testedHTTP: TestedHTTP) async throws {
        try await Self.withRedirects(over: testedHTTP) { stage in
            try await stage.withSession { session in
                let response = await session.request(stage.url("/from")).redirect(using: .doNotFollow)
                    .awaitTextResponse()
                #expect(response.response?.statusCode == 302 && response.response?.url?.path == "/from")
                #expect(response.value == "moved" && response.error == nil)
            }
        }
    }

    @Test("[I-6.5] the handler's request replaces the proposed one", arguments: TestedHTTP.allCases)
    func replaced(over testedHTTP: TestedHTTP) async throws {
        try await Self.withRedirects(over: testedHTTP) { stage in
            try await stage.withSession { session in
                let response = await session.request(stage.url("/from")).redirect(
                    using: Self.redirectElsewhere
                )
                .awaitTextResponse()
                #expect(response.value == "elsewhere PUT yes -")
                #expect(response.response?.url?.path == "/elsewhere")
            }
        }
    }

    @Test(
        "[I-6.6] adapters see the first request of an attempt, and no redirects",
        arguments: TestedHTTP.allCases)
    func adaptersOnce(over testedHTTP: TestedHTTP) async throws {
        try await Self.withRedirects(over: testedHTTP) { stage in
            let paths = Protected<[String]>([])
            let adapter = Adapter { request, _, completion in
                paths.write { $0.append(request.url?.path ?? "") }
                completion(.success(request))
            }
            try await stage.withSession(interceptor: adapter) { session in
                #expect(await session.request(stage.url("/from")).awaitTextResponse().value == "to GET - -")
            }
            #expect(paths.read { $0 } == ["/from"])
        }
    }

    // MARK: caching

    private static let storeModified: ResponseCacher = .modify { _, response in
        CachedURLResponse(
            response: response.response, data: Data("other".utf8), userInfo: ["mark": "yes"],
            storagePolicy: .allowedInMemoryOnly)
    }

    @Test(
        "[I-7.1] [I-7.3] [I-7.4] [I-7.5] the cached response handler decides what is stored",
        arguments: TestedHTTP.allCases)
    func cachers(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let rows: [(session: ResponseCacher?, request: ResponseCacher?, stored: String?)] = [
                (nil, nil, "text"), (.doNotCache, nil, nil), (.cache, nil, "text"),
                (.doNotCache, .cache, "text"),
                (.cache, .doNotCache, nil), (.doNotCache, Self.storeModified, "other"),
                (.modify { _, _ in nil }, nil, nil),
            ]
            stage.origin.route("GET", "/plain") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array("text".utf8))
            }
            stage.origin.route("GET", "/never") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array("text".utf8))
                try response.add("Cache-Control", "no-store")
                return response
            }
            for row in rows {
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
                try await stage.withSession(cacher: row.session, configure: { $0.urlCache = cache }) {
                    session in
                    let request = session.request(stage.url("/plain"))
                    if let cacher = row.request { request.cacheResponse(using: cacher) }
                    #expect(await request.awaitTextResponse().value == "text")
                    let stored = try cache.cachedResponse(for: #require(request.request))
                    #expect(stored.map { String(decoding: $0.data, as: UTF8.self) } == row.stored)
                    if row.stored == "other" {
                        #expect(stored?.userInfo?["mark"] as? String == "yes")
                        #expect(stored?.storagePolicy == .allowedInMemoryOnly)
                    }
                    let never = session.request(stage.url("/never"))
                    _ = await never.awaitTextResponse()
                    #expect(try cache.cachedResponse(for: #require(never.request)) == nil)
                }
            }
        }
    }

    @Test(
        "[I-7.1] the task stores without a delegate call if no handler, monitor or subclass could decide",
        arguments: TestedHTTP.allCases)
    func whoHasASay(over testedHTTP: TestedHTTP) async throws {
        final class Delegate: SessionDelegate, @unchecked Sendable {}
        try await PolicyStage.run(over: testedHTTP) { stage in
            func isDelegateCalled(
                _ delegate: SessionDelegate = SessionDelegate(), cacher: ResponseCacher? = nil,
                monitors: [any EventMonitor] = [AlamofireNotifications()],
                _ setUp: (DataRequest) -> Void = { _ in }
            ) async throws -> Bool {
                let session = Session(
                    configuration: try stage.configuration(), delegate: delegate,
                    startRequestsImmediately: false, cachedResponseHandler: cacher, eventMonitors: monitors)
                defer { session.session.invalidateAndCancel() }
                let request = session.request(stage.url())
                setUp(request)
                request.resume()
                #expect(await request.awaitResponse().error == nil)
                return try #require(request.task).storesWithoutAsking == false
            }
            let withoutCall = [try await isDelegateCalled(), try await isDelegateCalled(monitors: [])]
            let withCall = [
                try await isDelegateCalled(Delegate()), try await isDelegateCalled(cacher: .cache),
                try await isDelegateCalled(monitors: [AlamofireNotifications(), ClosureEventMonitor()]),
                try await isDelegateCalled { $0.cacheResponse(using: .cache) },
                try await isDelegateCalled { $0.onHTTPResponse { _, completion in completion(.allow) } },
                try await isDelegateCalled { request in
                    request.onURLSessionTaskCreation(on: request.underlyingQueue) { [unowned request] _ in
                        request.cacheResponse(using: .cache)
                    }
                },
            ]
            #expect(!withoutCall.contains(true) && !withCall.contains(false))
        }
    }

    @Test(
        "[I-7.1] a refused response is not stored, and a handler set on arrival is called",
        arguments: TestedHTTP.allCases)
    func refusedResponse(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            stage.origin.route("GET", "/plain") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array("text".utf8))
            }
            for isRefused in [true, false] {
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
                try await stage.withSession(configure: { $0.urlCache = cache }) { session in
                    let request = session.request(stage.url("/plain"))
                    request.onHTTPResponse { [unowned request] _, completion in
                        if !isRefused { request.cacheResponse(using: Self.storeModified) }
                        completion(isRefused ? .cancel : .allow)
                    }
                    #expect(
                        await request.awaitResponse().error?.isExplicitlyCancelledError
                            == (isRefused ? true : nil))
                    let stored = try cache.cachedResponse(for: #require(request.request))
                    #expect(
                        stored.map { String(decoding: $0.data, as: UTF8.self) } == (isRefused ? nil : "other")
                    )
                }
            }
        }
    }

    @Test("[I-7.1] setting a second cached response handler of a request traps")
    func secondCacher() async {
        await #expect(processExitsWith: .failure) {
            let session = Session(startRequestsImmediately: false)
            session.request("http://127.0.0.1:1/").cacheResponse(using: .cache).cacheResponse(using: .cache)
        }
    }

    @Test(
        "[I-7.2] the handler is called for data and upload tasks, not for downloads",
        arguments: TestedHTTP.allCases)
    func whoAsks(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let callCount = Atomic(0)
            stage.origin.route(nil, "/plain") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array("text".utf8))
                try response.add("Cache-Control", "max-age=60")
                return response
            }
            let cacher: ResponseCacher = .modify { _, response in
                callCount.add(1, ordering: .relaxed)
                return response
            }
            try await stage.withSession(
                cacher: cacher,
                configure: {
                    $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
                }
            ) { session in
                _ = await session.request(stage.url("/plain")).awaitTextResponse()
                #expect(callCount.load(ordering: .relaxed) == 1)
                await withCheckedContinuation { continuation in
                    session.download(stage.url("/plain?2")).response { response in
                        if let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                        continuation.resume()
                    }
                }
                #expect(callCount.load(ordering: .relaxed) == 1)
                // Only responses to GET are stored, and this GET has an empty body.
                let upload = session.upload(Data(), to: stage.url("/plain?3"), method: .get)
                #expect(await upload.awaitTextResponse().value == "text")
                #expect(upload.task?.currentRequest?.httpMethod == "GET")
                #expect(callCount.load(ordering: .relaxed) == 2)
            }
        }
    }
}
