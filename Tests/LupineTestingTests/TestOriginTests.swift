// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTesting
import LupineTransport
import Testing

/// Tests of a test's origin through a session and through a raw socket.
@Suite(.timeLimit(.minutes(10))) struct TestOriginTests {
    @Test func routesAreClosures() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/flowers/{name}") { request in
                .json(Flower(name: request.parameters["name"] ?? "", petals: 5))
            }
            origin.route("POST", "/flowers") { request async throws in
                await Task.yield()
                let flower = try request.json(Flower.self)
                return .json(flower, status: 201).header("Location", "/flowers/\(flower.name)")
            }
            let session = origin.session()
            let got = try await session.request(origin.url("/flowers/blue%20lupin?page=2"))
                .serializingDecodable(Flower.self).value
            #expect(got == Flower(name: "blue lupin", petals: 5))
            let posted = await session.request(
                origin.url("/flowers"), method: .post, parameters: got, encoder: .json
            )
            .serializingDecodable(Flower.self).response
            #expect(posted.response?.statusCode == 201 && posted.value == got)

            let requests = origin.requests
            #expect(requests.map(\.method) == ["GET", "POST"])
            #expect(requests.first?.path == "/flowers/blue lupin")
            #expect(requests.first?.query("page") == "2")
            #expect(requests.first?.url.absoluteString == "\(origin.url)/flowers/blue%20lupin?page=2")
            #expect(requests.last?.headers["content-type"] == "application/json")
            #expect(try requests.last?.json() == got)
        }
    }

    @Test func theLatestRouteAnswersAndSegmentsInBracesMatchAnywhere() async throws {
        try await withOrigin { origin in
            origin.route(nil, "/{*}", .text("any"))
            origin.route("GET", "/{first}/x", .text("braces"))
            origin.route("GET", "/a/x", .text("early"))
            origin.route("GET", "/a/x", .text("late"))
            let session = origin.session()
            for (path, text) in [("/b/c/d", "any"), ("/", "any"), ("/b/x", "braces"), ("/a/x", "late")] {
                let answer = try await session.request(origin.url(path)).serializingString().value
                #expect(answer == text)
            }
            let head = await session.request(origin.url("/a/x"), method: .head).serializingData().response
            #expect(head.response?.expectedContentLength == 4 && head.data == nil)
        }
    }

    @Test func whatHasNoRouteAndWhatThrowsIsSaid() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/throws") { _ in throw TestOriginError.cannotStart("on purpose") }
            let session = origin.session()
            let missing = await session.request(origin.url("/nowhere"), method: .put).serializingString()
                .response
            #expect(missing.response?.statusCode == 404)
            #expect(missing.value == "no route for PUT /nowhere; there are: GET /throws\n")
            let thrown = await session.request(origin.url("/throws")).serializingString().response
            #expect(thrown.response?.statusCode == 500)
            #expect(thrown.value == "the route threw: the origin cannot start: on purpose\n")
            #expect(origin.requests.count == 2)
        }
    }

    @Test func requestsAreWaitedFor() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/{number}", .status(204))
            async let second = origin.request(at: 1)
            async let first = origin.nextRequest()
            let session = origin.session()
            for number in 0..<2 {
                _ = await session.request(origin.url("/\(number)")).serializingData().response
            }
            let paths = [try await first.path, try await second.path, try await origin.nextRequest().path]
            #expect(paths == ["/0", "/1", "/1"])
            let waiting = Task { try await origin.request(at: 7) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func whoWaitsIsToldOfTheEnd() async throws {
        let origin = try await TestOrigin.start()
        async let request = origin.nextRequest()
        await Task.yield()
        await origin.shutdown()
        let outcome: TestOriginError?
        do {
            _ = try await request
            outcome = nil
        } catch {
            outcome = error as? TestOriginError
        }
        #expect(outcome == .shutDown)
        await #expect(throws: TestOriginError.shutDown) { try await origin.request(at: 0) }
    }

    @Test(arguments: [true, false])
    func anAuthorityMadeInMemoryIsTrustedOrPinned(_ pins: Bool) async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/", .text("secret"))
            #expect(origin.url.scheme == "https")
            let authority = try #require(origin.authority)
            #expect(authority.pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
            let host = try #require(origin.url.host())
            let session =
                pins
                ? Session(
                    configuration: .af.ephemeral,
                    serverTrustManager: ServerTrustManager(evaluators: [host: authority.evaluator]))
                : origin.session()
            #expect(try await session.request(origin.url).serializingString().value == "secret")
            // Other sessions do not trust it, and its session trusts no other origin.
            let unknowing = Session(configuration: .ephemeral)
            let stranger = await unknowing.request(origin.url).serializingData()
                .response
            #expect(stranger.error != nil)
            let other = try TestAuthority()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.lupine.tls.roots = other.roots
            let misled = Session(configuration: configuration)
            let mistaken = await misled.request(origin.url).serializingData()
                .response
            #expect(mistaken.error != nil)
        }
    }

    @Test func originsShareAnAuthorityAndHaveOtherNames() async throws {
        let authority = try TestAuthority()
        try await withOrigin(tls: .authority(authority).certificate(for: ["api.test"])) { origin in
            origin.route("GET", "/", .text("api"))
            let configuration = URLSessionConfiguration.af.ephemeral
            configuration.lupine.tls.roots = authority.roots
            configuration.lupine.addressOverrides = [
                .init(host: "api.test", port: 443): [
                    try #require(SocketAddress(literal: "127.0.0.1", port: UInt16(origin.url.port ?? 0)))
                ]
            ]
            let session = Session(configuration: configuration)
            #expect(try await session.request("https://api.test/").serializingString().value == "api")
            let wrongName = await session.request(origin.url).serializingData().response
            #expect(wrongName.error != nil)
        }
        await #expect(throws: TestOriginError.self) {
            _ = try await TestOrigin.start(tls: .authority(authority).certificate(for: ["a,DNS:b"]))
        }
    }

    @Test func redirectsAreFollowed() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/old", .redirect(to: "/new"))
            origin.route("GET", "/new", .text("new"))
            let text = try await origin.session().request(origin.url("/old")).serializingString()
                .value
            #expect(text == "new" && origin.requests.map(\.path) == ["/old", "/new"])
        }
    }

    @Test func aStreamGoesOnWhenItsSignalOpens() async throws {
        try await withOrigin { origin in
            let goOn = TestSignal()
            origin.route(
                "GET", "/s", .stream([.text("one"), .text(""), .wait(goOn), .data(Data("two".utf8))]))
            let stream = origin.session().streamRequest(origin.url("/s")).streamTask()
            var pieces: [String] = []
            for await event in stream.streamingData() {
                guard let data = event.value else { continue }
                pieces.append(String(decoding: data, as: UTF8.self))
                goOn.open()
            }
            #expect(pieces == ["one", "two"])
        }
    }

    @Test func aSlowResponseWaitsForItsSignal() async throws {
        try await withOrigin { origin in
            let answer = TestSignal()
            origin.route("GET", "/slow", .text("at last").held(until: answer))
            async let value = origin.session().request(origin.url("/slow")).serializingString().value
            _ = try await origin.nextRequest()
            answer.open()
            #expect(try await value == "at last")
        }
    }

    @Test(arguments: [
        (TestResponse.text("0123456789").cut(after: 4), URLError.Code.networkConnectionLost),
        (TestResponse.stream([.text("0123"), .text("456789")]).cut(after: 6), .networkConnectionLost),
        (TestResponse.text("0123456789").reset(after: 4), .networkConnectionLost),
        (.closed, .networkConnectionLost), (.reset, .networkConnectionLost),
        (.failure(URLError(.badURL)), .networkConnectionLost), (.garbage(), .badServerResponse),
    ])
    func misbehaviourIsAnError(_ response: TestResponse, _ code: URLError.Code) async throws {
        try await withOrigin { origin in
            origin.route("POST", "/", response)
            let answer = await origin.session().request(origin.url, method: .post)
                .serializingData().response
            let error = answer.error?.underlyingError as? URLError
            #expect(error?.code == code, "\(String(describing: answer.error))")
        }
    }

    @Test func aStallLeavesTheRequestOpen() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/never", .stalled)
            origin.route("GET", "/half", .text("0123456789").stalled(after: 4))
            let session = origin.session()
            let never = session.request(origin.url("/never")).serializingData()
            async let ended = never.response
            _ = try await origin.nextRequest()
            never.cancel()
            #expect(await ended.error?.isExplicitlyCancelledError == true)

            var got = ""
            let stream = session.streamRequest(origin.url("/half")).streamTask()
            for await event in stream.streamingData() {
                got += event.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
                if got.count == 4 { stream.cancel() }
            }
            #expect(got == "0123")
        }
    }

    @Test func shutdownEndsConnectionsAndHandlersOnce() async throws {
        let origin = try await TestOrigin.start()
        let (begun, ended) = (TestSignal(), TestSignal())
        origin.route("GET", "/") { _ in
            begun.open()
            defer { ended.open() }
            try await TestSignal().wait()
            return .status(200)
        }
        let request = origin.session().request(origin.url).serializingData()
        async let response = request.response
        try await begun.wait()
        async let first: Void = origin.shutdown()
        async let second: Void = origin.shutdown()
        _ = await (first, second)
        // It has already ended: even a wait that is cancelled at once finds it so.
        let check = Task { try await ended.wait() }
        check.cancel()
        try await check.value
        #expect(await response.error != nil)
        await origin.shutdown()
    }

    @Test func anOriginThatNobodyHoldsClosesItsConnections() async throws {
        var origin: TestOrigin? = try await TestOrigin.start()
        origin?.route("GET", "/", .stalled)
        let url = try #require(origin?.url)
        let session = Session(configuration: .af.ephemeral)
        async let response = session.request(url).serializingData().response
        _ = try await origin?.nextRequest()
        weak let gone = origin
        origin = nil
        #expect(gone == nil)
        #expect(await response.error != nil)
    }
}
