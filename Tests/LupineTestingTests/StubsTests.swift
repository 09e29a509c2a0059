// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTesting
import Testing

/// Tests of sessions that stubs answer: which requests match, what is sent, and the errors when nothing matches.
@Suite(.timeLimit(.minutes(10))) struct StubsTests {
    /// Returns the response of `Session` to a request to an address.
    static func ask(
        _ stubs: Stubs, _ address: String, _ method: HTTPMethod = .get, body: Data? = nil,
        headers: HTTPHeaders? = nil
    ) async -> AFDataResponse<String> {
        await stubs.session().request(address, method: method, headers: headers) { $0.httpBody = body }
            .serializingString(emptyResponseCodes: [200, 204]).response
    }

    static func stubError(_ response: AFDataResponse<String>) -> StubError? {
        response.error?.underlyingError as? StubError
    }

    @Test func stubsAnswerThePipelineAndTheURLSession() async throws {
        let stubs = Stubs()
        stubs.expect(.get("/flowers/{name}"), times: 2) { request in
            .json(Flower(name: request.parameters["name"] ?? "", petals: 5)).header("X-Path", request.path)
        }
        let response = await stubs.session().request("https://api.test/flowers/blue%20lupin")
            .validate().serializingDecodable(Flower.self).response
        #expect(response.value == Flower(name: "blue lupin", petals: 5))
        #expect(response.response?.headers["X-Path"] == "/flowers/blue lupin")

        let session = URLSession(configuration: stubs.configuration)
        defer { session.finishTasksAndInvalidate() }
        let url = try #require(URL(string: "http://other.test:8080/flowers/rose"))
        let (data, head) = try await session.data(from: url)
        #expect(try JSONDecoder().decode(Flower.self, from: data).name == "rose")
        #expect((head as? HTTPURLResponse)?.statusCode == 200 && head.mimeType == "application/json")
        #expect(stubs.requests.map(\.path) == ["/flowers/blue lupin", "/flowers/rose"])
        try stubs.verify()
    }

    @Test(arguments: [
        (RequestPattern.get("https://api.test/a"), true), (.get("/a"), true), (.get("/{x}"), true),
        (.any("/{*}"), true), (.get("HTTPS://API.test/a"), true),
        (.get("/a?two=2&one=1"), true), (.get("/a?one=1"), false), (.get("/a?"), false),
        (.get("/a").header("x-test", "yes"), true), (.get("/a").header("X-Test", "no"), false),
        (.post("/a"), false), (.get("/b"), false), (.get("http://api.test/a"), false),
        (.get("https://api.test:8443/a"), false), (.get("/a/b"), false),
        (.get("/a").matching("has two items") { $0.queryItems.count == 2 }, true),
        (.get("/a").matching("never") { _ in false }, false),
    ])
    func patterns(_ pattern: RequestPattern, _ matches: Bool) async {
        let stubs = Stubs()
        stubs.stub(pattern, .status(200))
        let response = await Self.ask(stubs, "https://api.test/a?one=1&two=2", headers: ["X-Test": "yes"])
        #expect((response.response?.statusCode == 200) == matches)
        #expect((Self.stubError(response) == nil) == matches)
    }

    @Test func bodiesAreComparedAlsoOfUploads() async throws {
        let stubs = Stubs()
        let flower = Flower(name: "lupin", petals: 5)
        stubs.expect(.post("/").json(flower), times: 4, .status(204))
        stubs.expect(.post("/").body("plain"), .status(204))
        let spaced = Data(#"{ "petals" : 5 ,"name":"lupin" }"#.utf8)
        #expect(await Self.ask(stubs, "http://a.test", .post, body: spaced).response?.statusCode == 204)
        #expect(await Self.ask(stubs, "http://a.test", .post, body: Data("plain".utf8)).error == nil)
        let session = stubs.session()
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try spaced.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for upload in [
            session.upload(spaced, to: "http://a.test"), session.upload(file, to: "http://a.test"),
            session.request("http://a.test", method: .post, parameters: flower, encoder: .json),
        ] {
            let response = await upload.serializingData(emptyResponseCodes: [204]).response
            #expect(response.error == nil, "\(String(describing: response.error))")
        }
        try stubs.verify()
    }

    @Test func theErrorOfARequestWithoutStubShowsTheNearest() async throws {
        let stubs = Stubs()
        stubs.stub(.get("/elsewhere"), .status(200))
        stubs.stub(
            .post("/flowers?page=1").header("Accept", "text/plain").json(Flower(name: "lupin", petals: 5)),
            .status(200))
        let response = await Self.ask(
            stubs, "https://api.test/flowers?page=2", .put, body: Data(#"{"name":"rose","petals":5}"#.utf8),
            headers: ["Accept": "*/*"])
        let error = try #require(Self.stubError(response))
        #expect(
            error.description == """
                no stub for PUT https://api.test/flowers?page=2; the nearest of 2 is POST /flowers?page=1:
                  - method: POST
                  + method: PUT
                  - url: /flowers?page=1
                  + url: /flowers?page=2
                  - header Accept: text/plain
                  + header Accept: */*
                    body:
                      {
                  -     "name" : "lupin",
                  +     "name" : "rose",
                        "petals" : 5
                      }
                """)
        #expect(error.localizedDescription == error.description)
        #expect(throws: StubError.notMet(error.description)) { try stubs.verify() }
        let none = await Self.ask(Stubs(), "http://a.test/")
        #expect(Self.stubError(none) == .noStub("no stub for GET http://a.test/: there are none"))
    }

    @Test func expectationsAreCounted() async throws {
        let stubs = Stubs()
        stubs.expect(.get("/once"), .text("first"))
        stubs.expect(.get("/once"), .text("second"))
        stubs.expect(.get("/some"), times: .atLeast(2), .status(200))
        stubs.expect(.get("/few"), times: .atMost(1), .status(200))
        stubs.stub(.get("/any"), .status(200))
        #expect(await Self.ask(stubs, "http://a.test/once").value == "first")
        #expect(await Self.ask(stubs, "http://a.test/once").value == "second")
        _ = await Self.ask(stubs, "http://a.test/some")
        #expect(
            throws: StubError.notMet(
                "expectations that were not met:\n  GET /some: expected at least 2 times, was asked 1 time")
        ) { try stubs.verify() }
        _ = await Self.ask(stubs, "http://a.test/some")
        try stubs.verify()
        let third = await Self.ask(stubs, "http://a.test/once")
        #expect(
            Self.stubError(third)?.description == """
                every stub for GET http://a.test/once is used up:
                  GET /once: expected once, was asked 1 time
                  GET /once: expected once, was asked 1 time
                """)
    }

    @Test func orderIsHeldWhereItIsWanted() async throws {
        let stubs = Stubs(inOrder: true)
        stubs.expect(.post("/login"), .status(200))
        stubs.expect(.get("/data"), .status(200))
        let early = await Self.ask(stubs, "http://a.test/data")
        #expect(
            Self.stubError(early)
                == .outOfOrder(
                    "GET http://a.test/data came before:\n  POST /login: expected once, was asked 0 times"))
        #expect(await Self.ask(stubs, "http://a.test/login", .post).error == nil)
        #expect(await Self.ask(stubs, "http://a.test/data").error == nil)
        // `verify` still reports the earlier error.
        #expect(throws: StubError.self) { try stubs.verify() }
    }

    @Test func responsesMisbehave() async throws {
        let stubs = Stubs()
        stubs.stub(.get("/cut"), .text("0123456789").cut(after: 4))
        stubs.stub(.get("/reset"), .reset)
        stubs.stub(.get("/garbage"), .garbage())
        stubs.stub(.get("/offline"), .failure(URLError(.notConnectedToInternet)))
        let codes: [String: URLError.Code] = [
            "cut": .networkConnectionLost, "reset": .networkConnectionLost, "garbage": .cannotParseResponse,
            "offline": .notConnectedToInternet,
        ]
        for (path, code) in codes {
            let error = await Self.ask(stubs, "http://a.test/\(path)").error?.underlyingError
            #expect((error as? URLError)?.code == code, "\(path): \(String(describing: error))")
        }
        stubs.stub(.get("/never"), .stalled)
        let never = stubs.session().request("http://a.test/never").serializingData()
        async let ended = never.response
        _ = try await stubs.request(at: 4)
        never.cancel()
        #expect(await ended.error?.isExplicitlyCancelledError == true)
    }

    @Test func streamsAndHeldResponsesWaitForSignals() async throws {
        let stubs = Stubs()
        let goOn = TestSignal()
        stubs.stub(.get("/s"), .stream([.text("one"), .wait(goOn), .text("two")]))
        let session = stubs.session()
        let stream = session.streamRequest("http://a.test/s").streamTask()
        var pieces: [String] = []
        for await event in stream.streamingData() {
            guard let data = event.value else { continue }
            pieces.append(String(decoding: data, as: UTF8.self))
            goOn.open()
        }
        #expect(pieces == ["one", "two"])

        let answer = TestSignal()
        stubs.stub(.get("/slow"), .text("at last").held(until: answer))
        async let value = Self.ask(stubs, "http://a.test/slow").value
        _ = try await stubs.request(at: 1)
        answer.open()
        #expect(await value == "at last")
    }

    @Test func redirectsAndCookiesAreFollowedAsFromAServer() async throws {
        let stubs = Stubs()
        stubs.expect(
            .post("https://a.test/old"),
            .redirect(to: "/new", status: 303).header("Set-Cookie", "a=1").header("Set-Cookie", "b=2; Path=/")
        )
        stubs.expect(.get("https://a.test/new").header("Cookie", "a=1; b=2"), .text("new"))
        #expect(await Self.ask(stubs, "https://a.test/old", .post, body: Data("x".utf8)).value == "new")
        stubs.expect(.get("https://a.test/held"), .redirect(to: "https://b.test/"))
        let held = await stubs.session(redirectHandler: Redirector(behavior: .doNotFollow))
            .request("https://a.test/held").serializingData(emptyResponseCodes: [302]).response
        #expect(held.response?.statusCode == 302)
        try stubs.verify()
    }

    @Test("cookies are kept where the session keeps them, as it does")
    func cookiesAreTheSessions() async throws {
        let stubs = Stubs()
        stubs.stub(.get("https://a.test/"), .text("x").header("Set-Cookie", "a=1"))
        let url = try #require(URL(string: "https://a.test/"))
        let shared = try #require(stubs.configuration.httpCookieStorage)
        let own = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        for (storage, policy) in [(own, HTTPCookie.AcceptPolicy.always), (nil, .always), (shared, .never)] {
            let configuration = stubs.configuration
            configuration.httpCookieStorage = storage
            configuration.httpCookieAcceptPolicy = policy
            let session = Session(configuration: configuration)
            _ = try await session.request(url).serializingData().value
        }
        #expect(own.cookies?.count == 1 && shared.cookies?.isEmpty ?? true)
        _ = try await stubs.session().request(url).serializingData().value
        #expect(shared.cookies?.count == 1)
    }

    @Test func retriesAreSeenAsTheyAre() async throws {
        let stubs = Stubs()
        stubs.expect(.get("/flaky"), times: 2, .status(503))
        stubs.expect(.get("/flaky"), .text("well"))
        let retrier = Retrier { request, _, _, completion in
            completion(request.retryCount < 2 ? .retry : .doNotRetry)
        }
        let value = try await stubs.session(interceptor: Interceptor(retriers: [retrier]))
            .request("http://a.test/flaky").validate().serializingString().value
        #expect(value == "well")
        try stubs.verify()
    }

    @Test func stubsAreForThemselves() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let stubs = Stubs()
                    stubs.expect(.get("/"), .text("\(number)"))
                    #expect(await Self.ask(stubs, "https://api.test/").value == "\(number)")
                    try stubs.verify()
                }
            }
            try await group.waitForAll()
        }
    }
}
