// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTesting
import Testing

/// Tests of sessions with a manual clock: waits of an hour, and time-outs and caches that expire after one.
@Suite(.timeLimit(.minutes(10))) struct ManualClockSessionTests {
    /// Retries twice, an hour after each failure.
    struct Hourly: RequestInterceptor {
        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            completion(request.retryCount < 2 ? .retryWithDelay(3_600) : .doNotRetry)
        }
    }

    static let date = Date(timeIntervalSince1970: 784_111_777)
    static let dateText = "Sun, 06 Nov 1994 08:49:37 GMT"

    static func code(_ error: AFError?) -> URLError.Code? { (error?.underlyingError as? URLError)?.code }

    // MARK: retries

    @Test func aRetryWaitsForTheClock() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.expect(.get("/"), times: 2, .status(503))
        stubs.expect(.get("/"), .text("at last"))
        async let text = stubs.session(interceptor: Hourly()).request("https://api.test/").validate()
            .serializingString().value
        for attempt in 1...2 {
            try await clock.untilWaiting()
            #expect(stubs.requests.count == attempt)
            clock.advance(by: .seconds(3_599))
            #expect(stubs.requests.count == attempt && clock.waitingCount == 1)
            #expect(try await clock.advanceToNext() == .seconds(1))
        }
        let told = try await text
        #expect(told == "at last")
        #expect(clock.now.elapsed == .seconds(7_200))
        try stubs.verify()
    }

    @Test func overSocketsToo() async throws {
        let clock = ManualClock()
        try await withOrigin(tls: .authority, clock: clock) { origin in
            origin.route("GET", "/") { _ in
                origin.requests.count < 3 ? .status(503) : .text("at last")
            }
            async let text = origin.session(interceptor: Hourly()).request(origin.url).validate()
                .serializingString().value
            for _ in 1...2 { #expect(try await clock.advanceToNext() == .seconds(3_600)) }
            let told = try await text
            #expect(told == "at last")
        }
    }

    @Test func aPolicysWaitsAndADateToRetryAfterGoByTheClock() async throws {
        let clock = ManualClock(date: Self.date)
        let stubs = Stubs(clock: clock)
        stubs.expect(.get("/"), times: 2, .status(503))
        stubs.expect(.get("/"), .status(503).header("Retry-After", "Sun, 06 Nov 1994 08:51:00 GMT"))
        stubs.expect(.get("/"), .text("at last"))
        let policy = RetryPolicy(
            retryLimit: 3, exponentialBackoffScale: 10, timing: .init(honorsRetryAfter: true))
        async let text = stubs.session(interceptor: policy).request("https://api.test/").validate()
            .serializingString().value
        var waits: [Duration] = []
        for _ in 1...3 { waits.append(try await clock.advanceToNext()) }
        // The last wait lasts until the date of Retry-After; the policy alone would wait 40 seconds.
        #expect(waits == [.seconds(10), .seconds(20), .seconds(53)])
        let told = try await text
        #expect(told == "at last")
    }

    @Test func aWaitForANetworkGoesByTheClock() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.stub(.get("/"), .failure(URLError(.notConnectedToInternet)))
        let retrier = OfflineRetrier(
            prohibitedInterfaceTypes: [.wifi, .cellular, .wiredEthernet, .loopback, .other],
            maximumWait: .seconds(300))
        async let response = stubs.session(interceptor: retrier).request("https://api.test/")
            .serializingData().response
        // The retrier is asked about the failed load, and again about the serializer's failure that results from it.
        for _ in 1...2 { #expect(try await clock.advanceToNext() == .seconds(300)) }
        let error = await response.error
        #expect(Self.code(error) == .notConnectedToInternet)
    }

    // MARK: time-outs

    /// The time-out that is 1,000 seconds long.
    enum Limit: CaseIterable { case request, resource }

    private func configuration(_ source: some SessionSource, _ limit: Limit) -> URLSessionConfiguration {
        let configuration = source.configuration
        configuration.timeoutIntervalForRequest = limit == .request ? 1_000 : 10_000
        configuration.timeoutIntervalForResource = limit == .resource ? 1_000 : 10_000
        return configuration
    }

    @Test(arguments: Limit.allCases, [999, 1_000])
    func timeoutsStrikeWithoutSockets(_ limit: Limit, seconds: Int) async throws {
        let clock = ManualClock()
        let (stubs, answer) = (Stubs(clock: clock), TestSignal())
        stubs.stub(.get("/"), .text("in time").held(until: answer))
        let session = Session(configuration: configuration(stubs, limit))
        async let response = session.request("https://api.test/").serializingString().response
        _ = try await stubs.request(at: 0)
        clock.advance(by: .seconds(seconds))
        if seconds < 1_000 { answer.open() }
        let ended = await response
        #expect(ended.value == (seconds < 1_000 ? "in time" : nil))
        #expect(Self.code(ended.error) == (seconds < 1_000 ? nil : .timedOut))
        withExtendedLifetime(session) {}
    }

    @Test(arguments: Limit.allCases, [500, 1_000])
    func timeoutsStrikeOverSockets(_ limit: Limit, seconds: Int) async throws {
        let clock = ManualClock()
        try await withOrigin(clock: clock) { origin in
            let goOn = TestSignal()
            origin.route("GET", "/", .stream([.text("one"), .wait(goOn), .text("two")]))
            let session = Session(configuration: configuration(origin, limit))
            var (text, code) = ("", URLError.Code?.none)
            for await stream in session.streamRequest(origin.url).streamTask().streamingStrings() {
                switch stream.event {
                case .stream(let result):
                    // The first piece has arrived, so nothing in transit restarts a time-out.
                    if text.isEmpty { clock.advance(by: .seconds(seconds)) }
                    if seconds < 1_000 { goOn.open() }
                    text += result.get()
                case .complete(let completion): code = Self.code(completion.error)
                }
            }
            #expect(text == (seconds < 1_000 ? "onetwo" : "one"))
            #expect(code == (seconds < 1_000 ? nil : .timedOut))
            withExtendedLifetime(session) {}
        }
    }

    // MARK: ages

    @Test func whatIsCachedAgesByTheClock() async throws {
        let clock = ManualClock()
        try await withOrigin(clock: clock) { origin in
            origin.route("GET", "/", .text("lupin").header("Cache-Control", "max-age=60"))
            let session = origin.session()
            // The seconds since the last step, and the number of requests that have then reached the origin.
            for (seconds, count) in [(0, 1), (59, 1), (2, 2), (59, 2), (2, 3), (3_600, 4), (30, 4)] {
                clock.advance(by: .seconds(seconds))
                let text = try await session.request(origin.url).serializingString().value
                #expect(text == "lupin")
                #expect(origin.requests.count == count, "\(clock.now.elapsed)")
            }
        }
    }

    @Test func anOriginDatesItsResponsesByTheClock() async throws {
        let clock = ManualClock(date: Self.date)
        try await withOrigin(clock: clock) { origin in
            origin.route("GET", "/", .text("lupin"))
            origin.route("GET", "/own", .text("lupin").header("Date", "Sun, 06 Nov 1994 08:00:00 GMT"))
            let session = origin.session()
            for (path, date) in [
                ("/", Self.dateText), ("/own", "Sun, 06 Nov 1994 08:00:00 GMT"), ("/none", Self.dateText),
            ] {
                let response = await session.request(origin.url(path)).serializingString().response
                #expect(response.response?.headers["Date"] == date, "\(path)")
            }
            clock.advance(by: .seconds(23))
            let later = await session.request(origin.url).serializingString().response
            #expect(later.response?.headers["Date"] == "Sun, 06 Nov 1994 08:50:00 GMT")
        }
    }

    @Test(arguments: ["stubs", "origin"])
    func cookiesEndByTheClock(_ kind: String) async throws {
        let clock = ManualClock(date: Self.date)
        let (stubs, origin) = (Stubs(clock: clock), try await TestOrigin.start(clock: clock))
        let set = TestResponse.status(204).header("Set-Cookie", "name=lupin; Max-Age=60")
        stubs.stub(.get("/set"), set)
        stubs.stub(.get("/"), .status(204))
        origin.route("GET", "/set", set)
        origin.route("GET", "/", .status(204))
        let session = kind == "stubs" ? stubs.session() : origin.session()
        let base = kind == "stubs" ? "http://api.test" : "\(origin.url)"
        for (seconds, path) in [(0, "/set"), (59, "/"), (2, "/"), (3_600, "/set"), (1, "/")] {
            clock.advance(by: .seconds(seconds))
            let response = await session.request(base + path).serializingData(emptyResponseCodes: [204])
                .response
            #expect(response.response?.statusCode == 204)
        }
        let requests = kind == "stubs" ? stubs.requests : origin.requests
        #expect(requests.map { $0.headers["Cookie"] } == [nil, "name=lupin", nil, nil, "name=lupin"])
        await origin.shutdown()
    }

    // MARK: other waits

    private struct Token: AuthenticationCredential {
        let number: Int
        var requiresRefresh: Bool { false }
    }

    private final class Tokens: Authenticator {
        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            urlRequest.headers.update(name: "X-Token", value: "\(credential.number)")
        }
        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            completion(.success(Token(number: credential.number + 1)))
        }
        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool {
            response.statusCode == 401
        }
        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["X-Token"] == "\(credential.number)"
        }
    }

    @Test func theWindowOfRefreshesGoesByTheClock() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.stub(.get("/{refused}")) { request in
            .status(request.headers["X-Token"] == request.parameters["refused"] ? 401 : 200)
        }
        let interceptor = AuthenticationInterceptor(
            authenticator: Tokens(), credential: Token(number: 0),
            refreshWindow: .init(interval: 30, maximumAttempts: 1))
        let session = stubs.session(interceptor: interceptor)
        var ends: [Bool] = []
        for (seconds, refused) in [(0, 0), (29, 1), (2, 1)] {
            clock.advance(by: .seconds(seconds))
            let response = await session.request("https://api.test/\(refused)").validate()
                .serializingData(emptyResponseCodes: [200]).response
            ends.append(response.error == nil)
        }
        #expect(ends == [true, false, true])
        #expect(interceptor.credential?.number == 2)
    }

    @Test func pingsOfWebSocketsGoByTheClock() async throws {
        let clock = ManualClock()
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        let configuration = URLSessionConfiguration.af.ephemeral
        clock.govern(configuration)
        let session = Session(configuration: configuration)
        let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket"))
        let socket = session.webSocketRequest(to: url, configuration: .pingInterval(7_200))
        let events = Task { for await _ in socket.webSocketTask().streamingMessageEvents() {} }
        // Each ping waits until the pong of the previous one has arrived.
        for _ in 1...3 { #expect(try await clock.advanceToNext() == .seconds(7_200)) }
        try await clock.untilWaiting()
        socket.cancel()
        await events.value
        await origin.shutdown()
    }

    @Test func recordersAndTheirReplaysGoByAClock() async throws {
        try await RecordingTests.inFolder { parent in
            let folder = parent.appending(path: "recording")
            try await withOrigin { origin in
                origin.route("GET", "/") { _ in
                    origin.requests.count < 3 ? .status(503) : .text("at last")
                }
                let clock = ManualClock()
                let recorder = try Recorder(into: folder, clock: clock)
                async let text = recorder.session(interceptor: Hourly()).request(origin.url).validate()
                    .serializingString().value
                for _ in 1...2 { #expect(try await clock.advanceToNext() == .seconds(3_600)) }
                let told = try await text
                #expect(told == "at last")
                try recorder.verify()

                let later = ManualClock()
                let stubs = try Stubs.replaying(folder, clock: later)
                async let same = stubs.session(interceptor: Hourly()).request(origin.url).validate()
                    .serializingString().value
                for _ in 1...2 { #expect(try await later.advanceToNext() == .seconds(3_600)) }
                let replayed = try await same
                #expect(replayed == "at last")
                try stubs.verify()
            }
        }
    }

    // MARK: apart, and let go

    @Test func clocksDoNotSeeEachOther() async throws {
        let (first, second) = (ManualClock(), ManualClock())
        let all = [first, second].map { Stubs(clock: $0) }
        let texts = all.map { stubs in
            stubs.expect(.get("/"), .status(503))
            stubs.expect(.get("/"), .text("at last"))
            return Task {
                try await stubs.session(interceptor: Hourly()).request("https://api.test/").validate()
                    .serializingString().value
            }
        }
        try await first.untilWaiting()
        try await second.untilWaiting()
        first.advance(by: .seconds(3_600))
        #expect(try await texts[0].value == "at last")
        #expect(all.map(\.requests.count) == [2, 1])
        #expect(second.waitingCount == 1 && second.now.elapsed == .zero)
        second.advance(by: .seconds(3_600))
        #expect(try await texts[1].value == "at last")
    }

    /// Returns a request that waits an hour for its retry, and the only reference to its session.
    private func waiting(_ stubs: Stubs) -> (session: Session, request: DataRequest) {
        let session = Session(configuration: stubs.configuration, interceptor: Hourly())
        return (session, session.request("https://api.test/").validate())
    }

    @Test func aSessionThatIsLetGoEndsWhatWaits() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.stub(.get("/"), .status(503))
        var held: (session: Session, request: DataRequest)? = waiting(stubs)
        let task = try #require(held?.request.serializingData())
        async let response = task.response
        try await clock.untilWaiting()
        weak let session = held?.session
        held = nil
        let error = await response.error
        #expect(error?.isSessionDeinitializedError == true, "\(String(describing: error))")
        #expect(session == nil)
        clock.advance(by: .seconds(7_200))
        #expect(stubs.requests.count == 1)
    }

    @Test func aRequestThatIsCancelledDoesNotWaitForTheClock() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.stub(.get("/"), .status(503))
        let (session, request) = waiting(stubs)
        async let response = request.serializingData().response
        try await clock.untilWaiting()
        request.cancel()
        // It ends with the error of its last attempt.
        let error = await response.error
        #expect(request.isCancelled && error?.responseCode == 503)
        clock.advance(by: .seconds(7_200))
        #expect(stubs.requests.count == 1)
        withExtendedLifetime(session) {}
    }
}
