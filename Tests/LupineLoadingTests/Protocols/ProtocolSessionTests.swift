// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Protocols, files and `data:` URLs through whole sessions.
struct ProtocolSessionTests {
    static func withSession<Result>(
        _ classes: [AnyClass]? = [ScriptedProtocol.self], _ body: (URLSession) async throws -> Result
    ) async throws -> Result {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = classes
        configuration.connectionProxyDictionary = [:]
        configuration.httpAdditionalHeaders = ["X-Session": "added"]
        // Long, so that no time-out ends a test on a busy machine.
        configuration.timeoutIntervalForRequest = 3_600
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return try await body(session)
    }

    static func request(_ scheme: String, _ host: String, _ path: String = "/") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "\(scheme)://\(host)\(path)")))
    }

    @Test(
        "[U-17.2, U-17.3, U-17.5] a protocol class of the configuration gets the session's fields, and loads"
    )
    func answers() async throws {
        let (host, scenario) = ScriptedProtocol.register { loader in
            #expect(loader.request.value(forHTTPHeaderField: "X-Session") == "added")
            #expect(loader.request.value(forHTTPHeaderField: "X-Canonical") == "yes")
            #expect(loader.task?.currentRequest?.url == loader.request.url)
            // Statuses are not interpreted.
            loader.respond(401, ["WWW-Authenticate": "Basic realm=\"r\"", "Location": "/x"])
            loader.load("one ")
            loader.load("two")
            loader.finish()
        }
        for scheme in ["http", "echo"] {
            let (data, response) = try await Self.withSession {
                try await $0.data(for: Self.request(scheme, host))
            }
            #expect(String(decoding: data, as: UTF8.self) == "one two")
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
        }
        await scenario.stopped.wait()
        #expect(scenario.log.value.first == "canInit added")
    }

    @Test("[U-17.8, U-17.9] a protocol sees the session's value, and the body of an upload task")
    func valueAndBody() async throws {
        let (host, _) = ScriptedProtocol.register { loader in
            loader.respond(200)
            loader.load("\(loader.sessionValue ?? "nothing") ")
            let body = String(decoding: loader.request.httpBody ?? Data(), as: UTF8.self)
            loader.load(loader.request.httpBodyStream == nil ? body : "stream")
            loader.finish()
        }
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for value in ["one", "two"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [ScriptedProtocol.self]
            configuration.lupine.protocolValue = value
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            let request = try Self.request("http", host)
            let plain = try await session.data(for: request).0
            let data = try await session.upload(for: request, from: Data("data".utf8)).0
            let fromFile = try await session.upload(for: request, fromFile: file).0
            let texts = [plain, data, fromFile].map { String(decoding: $0, as: UTF8.self) }
            #expect(texts == ["\(value) ", "\(value) data", "\(value) stream"])
        }
        let without = try await Self.withSession { try await $0.data(for: Self.request("http", host)).0 }
        #expect(String(decoding: without, as: UTF8.self) == "nothing ")
    }

    @Test(
        "[U-17.1] protocol classes are tried in order; an unknown scheme that none accepts is unsupported"
    )
    func order() async throws {
        let (host, scenario) = ScriptedProtocol.register { $0.finish() }
        try await Self.withSession([TakesEcho.self, ScriptedProtocol.self]) { session in
            let (data, _) = try await session.data(for: Self.request("takes-echo", host))
            #expect(String(decoding: data, as: UTF8.self) == "taken")
            let error = await #expect(throws: URLError.self) {
                _ = try await session.data(for: Self.request("unknown", "nobody.test"))
            }
            #expect(error?.code == .unsupportedURL)
        }
        #expect(scenario.log.value.isEmpty)
    }

    private final class TakesEcho: URLProtocol {
        override class func canInit(with task: URLSessionTask) -> Bool {
            task.currentRequest?.url?.scheme == "takes-echo"
        }
        override func startLoading() {
            guard let url = request.url else { return }
            client?.urlProtocol(
                self,
                didReceive: URLResponse(
                    url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil),
                cacheStoragePolicy: .notAllowed)
            client?.urlProtocol(self, didLoad: Data("taken".utf8))
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    @Test("[U-17.1] the shared session tries registered classes; earlier configurations do not")
    func shared() async throws {
        let before = URLSessionConfiguration.ephemeral
        before.connectionProxyDictionary = [:]
        let (host, _) = ScriptedProtocol.register { loader in
            loader.respond()
            loader.finish()
        }
        _ = URLSession.shared
        #expect(URLProtocol.registerClass(ScriptedProtocol.self))
        defer { URLProtocol.unregisterClass(ScriptedProtocol.self) }
        _ = try await URLSession.shared.data(for: Self.request("echo", host))
        let session = URLSession(configuration: before)
        let error = await #expect(throws: URLError.self) {
            _ = try await session.data(for: Self.request("echo", host))
        }
        #expect(error?.code == .unsupportedURL)
        session.finishTasksAndInvalidate()
    }

    @Test("[U-17.6] a protocol's redirect selects a protocol again, after the first one was stopped")
    func redirects() async throws {
        let (second, last) = ScriptedProtocol.register { loader in
            loader.respond()
            loader.load("there")
            loader.finish()
        }
        let target = try Self.request("echo", second)
        let (first, scenario) = ScriptedProtocol.register { loader in
            guard let url = loader.request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: nil, headerFields: [:])
            else { return }
            loader.client?.urlProtocol(loader, wasRedirectedTo: target, redirectResponse: response)
        }
        let (data, response) = try await Self.withSession {
            try await $0.data(for: Self.request("echo", first))
        }
        #expect(String(decoding: data, as: UTF8.self) == "there" && response.url == target.url)
        await scenario.stopped.wait()
        await last.stopped.wait()
        #expect(scenario.log.value.filter { !$0.hasPrefix("canInit") } == ["start", "stop"])
        #expect(last.log.value.filter { !$0.hasPrefix("canInit") } == ["start", "stop"])
    }

    @Test(
        "[U-17.6] fields that were added to a protocol's request are not in the redirect that it derives from it"
    )
    func redirectedCopy() async throws {
        let seen = LockedValue<[String?]>([])
        let names = ["Cookie", "X-Session", "X-Own"]
        let (last, _) = ScriptedProtocol.register { loader in
            seen.set(names.map { loader.request.value(forHTTPHeaderField: $0) })
            loader.respond()
            loader.finish()
        }
        let (first, _) = ScriptedProtocol.register { loader in
            var target = loader.request
            target.url = URL(string: "echo://\(last)/")
            guard let url = loader.request.url,
                names.allSatisfy({ target.value(forHTTPHeaderField: $0) != nil }),
                let response = HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: nil, headerFields: [:])
            else { return }
            loader.client?.urlProtocol(loader, wasRedirectedTo: target, redirectResponse: response)
        }
        let storage = HTTPCookieStorage(file: nil)
        let url = try #require(URL(string: "http://\(first)/"))
        storage.setCookies(
            HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "id=1"], for: url), for: url,
            mainDocumentURL: nil)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [ScriptedProtocol.self]
        configuration.httpCookieStorage = storage
        configuration.httpAdditionalHeaders = ["X-Session": "s"]
        configuration.lupine.sensitiveFields = ["X-Session"]
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: url)
        request.setValue("own", forHTTPHeaderField: "X-Own")
        _ = try await session.data(for: request)
        #expect(seen.value == [nil, nil, "own"])
        session.invalidateAndCancel()
    }

    @Test("[U-10.5] a protocol's redirect counts as a redirect with any response", arguments: [nil, 302])
    func leftOrigin(_ status: Int?) async throws {
        let (last, _) = ScriptedProtocol.register { loader in
            loader.respond()
            loader.finish()
        }
        let (first, _) = ScriptedProtocol.register { loader in
            guard let url = loader.request.url, let target = URL(string: "http://\(last)/") else { return }
            let plain = URLResponse(
                url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
            let response = status.flatMap {
                HTTPURLResponse(url: url, statusCode: $0, httpVersion: nil, headerFields: nil)
            }
            loader.client?.urlProtocol(
                loader, wasRedirectedTo: URLRequest(url: target), redirectResponse: response ?? plain)
        }
        let request = try Self.request("http", first)
        let hasLeft = try await Self.withSession { session in
            let task = LockedValue<URLSessionTask?>(nil)
            await withCheckedContinuation { continuation in
                let made = session.dataTask(with: request) { _, _, _ in continuation.resume() }
                task.set(made)
                made.resume()
            }
            defer { task.set(nil) }
            return task.value?.hasLeftOrigin
        }
        #expect(hasLeft == true)
    }

    @Test("[U-17.5] a finish without a response completes with the bytes and no response")
    func noResponse() async throws {
        let (host, _) = ScriptedProtocol.register { loader in
            loader.load("bytes")
            loader.finish()
        }
        let request = try Self.request("echo", host)
        let (data, response, error) = try await Self.withSession { session in
            await withCheckedContinuation { continuation in
                session.dataTask(with: request) { data, response, error in
                    continuation.resume(returning: (data, response, error as? URLError))
                }
                .resume()
            }
        }
        #expect(data == Data("bytes".utf8) && response == nil && error == nil)
    }

    @Test(
        "[U-7.1] GET with a body fails in the network only: protocols get it unchanged, and caches answer it"
    )
    func bodyWithGET() async throws {
        func loadedText(_ body: @escaping @Sendable (inout URLRequest) -> Void) async throws -> String {
            let (host, _) = ScriptedProtocol.register { loader in
                let stream = loader.request.httpBodyStream.map { _ in "a stream" }
                loader.respond(200)
                loader.load(loader.request.httpMethod ?? "")
                loader.load(" ")
                let body = loader.request.httpBody.map { String(decoding: $0, as: UTF8.self) }
                loader.load(stream ?? body ?? "nothing")
                loader.finish()
            }
            var request = try Self.request("https", host)
            body(&request)
            let sent = request
            return try await Self.withSession { session in
                String(decoding: try await session.data(for: sent).0, as: UTF8.self)
            }
        }
        #expect(try await loadedText { $0.httpBody = Data("x".utf8) } == "GET x")
        #expect(
            try await loadedText { $0.httpBodyStream = InputStream(data: Data("x".utf8)) } == "GET a stream")
        try await Self.withSession(nil) { session in
            var request = try Self.request("http", "stored.test")
            request.httpBody = Data("x".utf8)
            let url = try #require(request.url)
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
            session.configuration.urlCache?.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("stored".utf8)), for: request)
            request.cachePolicy = .returnCacheDataDontLoad
            #expect(try await session.data(for: request).0 == Data("stored".utf8))
            request.cachePolicy = .reloadIgnoringLocalCacheData
            let refused = request
            let error = await #expect(throws: URLError.self) { _ = try await session.data(for: refused) }
            #expect(error?.code == .dataLengthExceedsMaximum)
        }
    }

    @Test(
        "[U-1.8] a relative URL is loaded, cached and passed to protocols as absolute",
        arguments: TestedHTTP.allCases)
    func relativeAddresses(over testedHTTP: TestedHTTP) async throws {
        let (host, _) = ScriptedProtocol.register { loader in
            #expect(loader.request.url?.baseURL == nil)
            #expect(loader.task?.currentRequest?.url == loader.request.url)
            #expect(loader.task?.originalRequest?.url?.relativeString == "../c?d")
            loader.respond(200)
            loader.load(loader.request.url?.absoluteString ?? "")
            loader.finish()
        }
        var request = try Self.request("http", host, "/a/b/")
        request.url = URL(string: "../c?d", relativeTo: request.url)
        let relative = request
        try await Self.withSession { session in
            let (data, response) = try await session.data(for: relative)
            #expect(String(decoding: data, as: UTF8.self) == "http://\(host)/a/c?d")
            #expect(response.url?.baseURL == nil)
        }
        try await withStage(over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url("/a/b"))
            request.url = URL(string: "/anything?x=1", relativeTo: request.url)
            let (data, response) = try await stage.session.data(for: request)
            #expect(response.url == (try stage.url("/anything?x=1")))
            #expect(String(decoding: data, as: UTF8.self).contains("/anything?x=1"))
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            cache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: request)
            #expect(cache.cachedResponse(for: URLRequest(url: try stage.url("/anything?x=1"))) != nil)
        }
    }

    @Test("[U-17.7] a task that is cancelled stops its protocol")
    func cancels() async throws {
        let (host, scenario) = ScriptedProtocol.register { $0.respond() }
        let request = try Self.request("echo", host)
        let error = try await Self.withSession { session in
            await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request) { _, _, error in
                    continuation.resume(returning: error as? URLError)
                }
                task.resume()
                Task {
                    await scenario.started.wait()
                    task.cancel()
                }
            }
        }
        await scenario.stopped.wait()
        #expect(error?.code == .cancelled)
    }

    @Test("[U-18.1, U-18.2] file: and data: URLs in data tasks, not in uploads")
    func builtIn() async throws {
        try await FileLoadTests.withFolder { folder in
            let file = folder.appending(path: "a.json")
            try Data("{}".utf8).write(to: file)
            try await Self.withSession(nil) { session in
                let (data, response) = try await session.data(from: file)
                #expect(data == Data("{}".utf8) && response.mimeType == "application/json")
                let dataURL = try #require(URL(string: "data:;base64,SGVsbG8="))
                let (hello, plain) = try await session.data(from: dataURL)
                #expect(hello == Data("Hello".utf8) && plain.textEncodingName == "US-ASCII")
                for url in [file, dataURL] {
                    let error = await #expect(throws: URLError.self) {
                        _ = try await session.upload(for: URLRequest(url: url), from: Data("x".utf8))
                    }
                    #expect(error?.code == .unsupportedURL)
                }
                let missing = await #expect(throws: URLError.self) {
                    _ = try await session.data(from: folder.appending(path: "none"))
                }
                #expect(missing?.code == .fileDoesNotExist)
            }
        }
    }
}
