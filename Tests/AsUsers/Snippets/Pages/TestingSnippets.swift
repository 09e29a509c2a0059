// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTesting
import Testing

/// The snippets of `TestingYourProgram.md`.
@Suite(.timeLimit(.minutes(10))) struct TestingSnippets {
    private struct User: Codable, Sendable {
        var id: String
    }

    @Test func server() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/users/{id}") { request in
                .json(["id": request.parameters["id"]])
            }
            origin.route("POST", "/users") { request in
                let user = try request.json(User.self)
                return .json(user, status: 201).header("Location", "/users/\(user.id)")
            }
            let user = try await AF.request(origin.url("/users/7")).serializingDecodable(User.self).value
            print(user.id, origin.requests[0].headers["User-Agent"] ?? "")
        }
    }

    @Test func routes() async throws {
        try await withOrigin { origin in
            origin.route("POST", "/users") { request in
                .json(try request.json(User.self), status: 201).header("Location", "/users/1")
            }
            let made = await origin.session().request(
                origin.url("/users"), method: .post, parameters: User(id: "1"), encoder: .json
            )
            .serializingDecodable(User.self).response
            #expect(made.response?.headers["Location"] == "/users/1" && made.value?.id == "1")
        }
    }

    @Test func signals() async throws {
        let origin = try await TestOrigin.start()
        do {
            let answer = TestSignal()
            origin.route("GET", "/slow", .text("at last").held(until: answer))
            async let text = AF.request(origin.url("/slow")).serializingString().value
            let request = try await origin.nextRequest()
            print(request.path, "has arrived")
            answer.open()
            try await print(text)
        }
        let goOn = TestSignal()
        origin.route("GET", "/events", .stream([.text("one\n"), .wait(goOn), .text("two\n")]))
        goOn.open()
        let text = try await AF.request(origin.url("/events")).serializingString().value
        #expect(text == "one\ntwo\n")
        await origin.shutdown()
    }

    @Test func misbehaviour() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/cut", .text("0123456789").cut(after: 4))
            origin.route("GET", "/reset", .text("0123456789").reset(after: 4))
            origin.route("GET", "/stalled", .text("0123456789").stalled(after: 4))
            origin.route("GET", "/closed", .closed)
            origin.route("GET", "/garbage", .garbage())
            for path in ["/cut", "/reset", "/closed", "/garbage"] {
                let response = await AF.request(origin.url(path)).serializingData().response
                #expect(response.error != nil, "\(path)")
            }
        }
    }

    @Test func secure() async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/", .text("secret"))
            let text = try await origin.session().request(origin.url).serializingString().value
            let configuration = URLSessionConfiguration.af.default
            if let authority = origin.authority { configuration.lupine.tls.roots = authority.roots }
            print(text, configuration.lupine.tls.roots.certificates.count)
            #expect(text == "secret")  // not on the page
        }
    }

    @Test func stubs() async throws {
        let stubs = Stubs()
        stubs.expect(.get("/users/{id}"), times: 2) { request in
            .json(["id": request.parameters["id"]])
        }
        stubs.expect(.post("https://api.test/users").json(User(id: "7")), .status(201))
        stubs.stub(.any("/health"), .text("fine"))

        let session = stubs.session()
        for id in ["1", "2"] {
            let user = try await session.request("https://api.test/users/\(id)")
                .serializingDecodable(User.self).value
            #expect(user.id == id)
        }
        let made = await session.request(
            "https://api.test/users", method: .post, parameters: User(id: "7"), encoder: .json
        ).serializingData(emptyResponseCodes: [201]).response
        #expect(made.error == nil)

        stubs.stub(.get("/offline"), .failure(URLError(.notConnectedToInternet)))
        stubs.stub(.get("/lost"), .text("0123456789").cut(after: 4))
        for path in ["offline", "lost"] {
            let response = await session.request("https://api.test/\(path)").serializingData().response
            #expect(response.error?.underlyingError is URLError)
        }

        try stubs.verify()
    }

    @Test func time() async throws {
        do {
            let clock = ManualClock()
            let stubs = Stubs(clock: clock)
            stubs.expect(.get("/users/7"), .status(503))
            stubs.expect(.get("/users/7"), .json(User(id: "7")))
            let session = stubs.session(interceptor: RetryPolicy(exponentialBackoffScale: 3_600))
            async let user = session.request("https://api.test/users/7").validate()
                .serializingDecodable(User.self).value
            let waited = try await clock.advanceToNext()
            try await print(user.id, "behind", waited)
            #expect(waited == .seconds(3_600))  // not on the page
        }
        do {
            let clock = ManualClock()
            let stubs = Stubs(clock: clock)
            stubs.stub(.get("/users"), .stalled)
            async let users = stubs.session().request("https://api.test/users").serializingData().response
            _ = try await stubs.request(at: 0)
            clock.advance(by: .seconds(60))
            let error = await users.error?.underlyingError as? URLError
            print(error?.code == .timedOut)
            #expect(error?.code == .timedOut)  // not on the page
        }
        do {
            let clock = ManualClock()
            try await withOrigin(clock: clock) { origin in
                origin.route("GET", "/news", .text("rain").header("Cache-Control", "max-age=60"))
                let session = origin.session()
                for seconds in [0, 59, 2] {
                    clock.advance(by: .seconds(seconds))
                    let news = try await session.request(origin.url("/news")).serializingString().value
                    print(news, origin.requests.count)
                }
                #expect(origin.requests.count == 2)  // not on the page
            }
        }
        do {
            let clock = ManualClock()
            let configuration = URLSessionConfiguration.af.default
            clock.govern(configuration)
            let session = Session(configuration: configuration)
            #expect(session.startRequestsImmediately)  // not on the page
        }
    }

    @Test func recordings() async throws {
        try await inFolder { parent in
            let folder = parent.appending(path: "recording")
            try await API.serve { api in
                do {
                    let recorder = try Recorder(into: folder)
                    let users = try await recorder.session().request("\(api)/get").serializingString().value
                    try recorder.verify()
                    #expect(!users.isEmpty)
                }
                do {
                    let stubs = try Stubs.replaying(folder)
                    let same = try await stubs.session().request("\(api)/get").serializingString().value
                    try stubs.verify()
                    #expect(!same.isEmpty)
                }
            }
        }
        try await inFolder { folder in
            let redaction = RecordingRedaction(["x-tenant", "pin"])
            let recorder = try Recorder(into: folder, redacting: redaction)
            #expect(recorder.count == 0)
        }
    }
}
