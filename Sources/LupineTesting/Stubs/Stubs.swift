// SPDX-License-Identifier: MIT

internal import Lupine
public import LupineLoading

/// Sessions whose requests are answered by the test, without a socket.
///
/// ```swift
/// let stubs = Stubs()
/// stubs.expect(.get("/users/1"), .json(["name": "lupin"]))
/// let user = try await stubs.session().request("https://api.test/users/1").serializingDecodable(User.self).value
/// try stubs.verify()
/// ```
///
/// Of several stubs that match a request the first answers that has not been used up, in the order in which they were added;
/// a request that none takes fails with `StubError.noStub`. All `http` and `https` requests of the sessions come here, redirects
/// too; cookies are kept, nothing is cached, and web sockets are not stubbed. The state is this object's alone, so that tests may
/// run in parallel. Any thread.
public final class Stubs: SessionSource {
    private let book: StubBook
    /// Keeps the sessions.
    public let shelf = SessionShelf()

    /// No stubs yet.
    ///
    /// - Parameters:
    ///   - inOrder: Whether an expectation may only be met when all those before it are.
    ///   - clock: What the sessions go by; nil for the machine's clock.
    public init(inOrder: Bool = false, clock: ManualClock? = nil) {
        book = StubBook(inOrder: inOrder, clock: clock)
    }

    // MARK: what is answered

    /// Answers requests of a pattern always alike, however many come.
    public func stub(_ pattern: RequestPattern, _ response: TestResponse) {
        book.add(pattern, .any) { _ in response }
    }

    /// Answers requests of a pattern by a closure, however many come.
    ///
    /// - Parameters:
    ///   - pattern: Which requests.
    ///   - handler: Answers; called in a task of its own for each request. An error becomes that of the load.
    public func stub(
        _ pattern: RequestPattern,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        book.add(pattern, .any, handler)
    }

    /// Expects requests of a pattern, and answers them always alike.
    public func expect(_ pattern: RequestPattern, times: StubTimes = .once, _ response: TestResponse) {
        book.add(pattern, times) { _ in response }
    }

    /// Expects requests of a pattern, and answers them by a closure.
    ///
    /// - Parameters:
    ///   - pattern: Which requests.
    ///   - times: How many of them.
    ///   - handler: Answers; called in a task of its own for each request. An error becomes that of the load.
    public func expect(
        _ pattern: RequestPattern, times: StubTimes = .once,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        book.add(pattern, times, handler)
    }

    // MARK: sessions

    /// A new configuration, with stores of its own kind in memory, whose sessions are answered here: for a `URLSession`, or for
    /// a `Session` that is made by hand.
    public var configuration: URLSessionConfiguration { book.configuration() }

    // MARK: what came

    /// The requests that came, in their order, also those that no stub took.
    public var requests: [TestRequest] { book.log.requests }

    /// The request of that number, from 0; waits until it has come.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func request(at index: Int) async throws -> TestRequest { try await book.log.request(at: index) }

    /// Says whether all expectations were met, and all requests had a stub.
    ///
    /// - Throws: `StubError.notMet`, whose text has all that is missing, line by line.
    public func verify() throws(StubError) { try book.verify() }
}
