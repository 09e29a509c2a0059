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
/// A request is answered by the first matching stub that is not used up, in the order in which the stubs were added. A
/// request without such a stub fails with `StubError.noStub`. All `http` and `https` requests of the sessions are stubbed,
/// including redirects. Cookies are stored, nothing is cached, and WebSockets are not stubbed. No state is shared between
/// `Stubs`, so that tests may run in parallel. Can be used on any thread.
public final class Stubs: SessionSource {
    private let store: StubStore
    /// Retains the sessions.
    public let shelf = SessionShelf()

    /// Creates an object that has no stubs yet.
    ///
    /// - Parameters:
    ///   - inOrder: Whether an expectation may only be met after all those before it have been met.
    ///   - clock: The clock of the sessions; nil for the system clock.
    public init(inOrder: Bool = false, clock: ManualClock? = nil) {
        store = StubStore(inOrder: inOrder, clock: clock)
    }

    // MARK: stubs

    /// Answers all requests that match a pattern with the same response.
    public func stub(_ pattern: RequestPattern, _ response: TestResponse) {
        // `any` is the number of requests: `verify` requires none.
        store.add(pattern, .any) { _ in response }
    }

    /// Answers all requests that match a pattern with a closure.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the requests.
    ///   - handler: Returns the response; called in a new task for each request. A thrown error becomes that of the load.
    public func stub(
        _ pattern: RequestPattern,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        // `any` is the number of requests: `verify` requires none.
        store.add(pattern, .any, handler)
    }

    /// Expects requests that match a pattern, and answers them with the same response.
    public func expect(_ pattern: RequestPattern, times: StubTimes = .once, _ response: TestResponse) {
        store.add(pattern, times) { _ in response }
    }

    /// Expects requests that match a pattern, and answers them with a closure.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the requests.
    ///   - times: The expected number of requests.
    ///   - handler: Returns the response; called in a new task for each request. A thrown error becomes that of the load.
    public func expect(
        _ pattern: RequestPattern, times: StubTimes = .once,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        store.add(pattern, times, handler)
    }

    // MARK: sessions

    /// A new configuration with its own in-memory stores, whose sessions are answered by this object: for a `URLSession`, or
    /// for a `Session` that the test creates itself.
    public var configuration: URLSessionConfiguration { store.configuration() }

    // MARK: received requests

    /// The received requests, in order, including those without a matching stub.
    public var requests: [TestRequest] { store.log.requests }

    /// Waits for the request with that index and returns it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func request(at index: Int) async throws -> TestRequest { try await store.log.request(at: index) }

    /// Checks that all expectations were met and all requests had a stub.
    ///
    /// - Throws: `StubError.notMet`, whose text lists all problems, line by line.
    public func verify() throws(StubError) { try store.verify() }
}
