// SPDX-License-Identifier: MIT

public import Foundation
internal import Lupine
public import LupineLoading
internal import LupineOrigin
internal import LupineTLS
internal import LupineTransport

/// An HTTP/1.1 server in the process of a test, on a free port of the loopback, whose routes are closures.
///
/// ```swift
/// let origin = try await TestOrigin.start()
/// origin.route("GET", "/users/{id}") { request in .json(["id": request.parameters["id"]]) }
/// // ... requests to origin.url("/users/1")
/// await origin.shutdown()
/// ```
///
/// Requests are read whole, up to 16 MiB of body; what no route matches is answered with 404 and the routes that there are.
/// Origins share nothing, so that tests may run in parallel. Any thread.
public final class TestOrigin: SessionSource {
    /// Whether an origin speaks TLS, and who vouches for it.
    public struct TLS: Sendable {
        enum Kind: Sendable {
            case none
            case own
            case given(TestAuthority)
        }

        let kind: Kind
        /// Whom the certificate is for.
        var names = ThrowawayIdentity.loopback

        /// Plain HTTP.
        public static let none = TLS(kind: .none)
        /// TLS, with an authority that is made for this origin: `TestOrigin.authority`.
        public static let authority = TLS(kind: .own)

        /// TLS, with an authority that several origins may have.
        public static func authority(_ authority: TestAuthority) -> TLS { TLS(kind: .given(authority)) }

        /// The same with a certificate for other names, in the place of those of the loopback.
        public func certificate(for names: [String]) -> TLS {
            var other = self
            other.names = names
            return other
        }
    }

    /// `http://127.0.0.1:PORT`, or `https` with TLS.
    public let url: URL
    /// Who vouches for the origin; nil without TLS.
    public let authority: TestAuthority?

    private let core: OriginCore
    private let origin: LupineOrigin.Origin
    /// Keeps the sessions.
    public let shelf = SessionShelf()
    private let ending = Lock<Task<Void, Never>?>(nil)

    private init(_ url: URL, _ authority: TestAuthority?, _ core: OriginCore, _ origin: LupineOrigin.Origin) {
        self.url = url
        self.authority = authority
        self.core = core
        self.origin = origin
    }

    /// Starts an origin on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - tls: Whether it speaks TLS.
    ///   - clock: What its sessions go by, and what it dates its responses by; nil for the machine's clock.
    /// - Throws: `TestOriginError.cannotStart`.
    public static func start(
        tls: TLS = .none, clock: ManualClock? = nil
    ) async throws(TestOriginError) -> TestOrigin {
        let core = OriginCore(clock: clock)
        var configuration = OriginConfiguration()
        configuration.endpoint = core.endpoint()
        let authority: TestAuthority?
        let origin: LupineOrigin.Origin
        do {
            authority =
                switch tls.kind {
                case .none: nil
                case .own: try TestAuthority()
                case .given(let given): given
                }
            if let identity = try authority?.issue(for: tls.names) {
                configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
            }
            origin = try LupineOrigin.Origin.start(configuration: configuration)
        } catch {
            throw .cannotStart("\(error)")
        }
        guard let url = URL(string: origin.url) else {
            await origin.shutdown()
            throw .cannotStart("\(origin.url) is no address")
        }
        core.begin(at: url)
        return TestOrigin(url, authority, core, origin)
    }

    /// An origin that nobody holds any more closes all it has, without anybody waiting for it.
    deinit {
        guard ending.withLock({ $0 == nil }) else { return }
        core.close(TestOriginError.shutDown)
        let origin = origin
        Task.detached { await origin.shutdown() }
    }

    /// The address of a path, which may have a query: `origin.url("/users?page=2")`.
    public func url(_ path: String) -> URL {
        URL(string: path, relativeTo: url)?.absoluteURL ?? url.appending(path: path)
    }

    // MARK: sessions

    /// A new configuration with stores in memory, whose sessions trust the origin's authority, if it has one.
    public var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.af.ephemeral
        if let authority { configuration.lupine.tls.roots = authority.roots }
        core.clock?.govern(configuration)
        return configuration
    }

    // MARK: what it answers

    /// Answers requests of a method (nil: any) for paths of a pattern; of several routes that match, the latest answers.
    ///
    /// - Parameters:
    ///   - method: The method; `GET` answers `HEAD` too.
    ///   - pattern: A path, where `{name}` stands for one segment that becomes `parameters["name"]`, and `{*}` at the end for
    ///     any rest.
    ///   - handler: Answers; called in a task of its own for each request, off the origin's thread. An error is answered with
    ///     status 500 and its text.
    public func route(
        _ method: String?, _ pattern: String,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        core.add(method, pattern, handler)
    }

    /// Answers requests of a method (nil: any) for paths of a pattern always alike.
    public func route(_ method: String?, _ pattern: String, _ response: TestResponse) {
        core.add(method, pattern) { _ in response }
    }

    // MARK: what it got

    /// The requests that came, in their order, also those that no route matched.
    public var requests: [TestRequest] { core.log.requests }

    /// The request of that number, from 0; waits until it has come.
    ///
    /// - Throws: `TestOriginError.shutDown` when the origin ends before, `CancellationError` when the task is cancelled.
    public func request(at index: Int) async throws -> TestRequest { try await core.log.request(at: index) }

    /// The first request that no call of this has returned yet; waits until it has come.
    ///
    /// - Throws: `TestOriginError.shutDown` when the origin ends before, `CancellationError` when the task is cancelled.
    public func nextRequest() async throws -> TestRequest { try await core.log.next() }

    /// How many connections were accepted so far.
    public var connectionCount: Int { origin.counts.connectionsAccepted }

    // MARK: the end

    /// Closes everything, and returns when the last connection and the last handler is gone; handlers that still run are
    /// cancelled. It happens once, however often this is called. A handler cannot wait for it.
    public func shutdown() async {
        let (core, origin) = (core, origin)
        let task = ending.withLock { ending -> Task<Void, Never> in
            if let ending { return ending }
            let task = Task {
                core.close(TestOriginError.shutDown)
                await origin.shutdown()
                await core.drained()
            }
            ending = task
            return task
        }
        await task.value
    }
}

/// Runs `body` with an origin of its own, and shuts that down behind it, whether `body` returns or throws.
///
/// - Parameters:
///   - tls: Whether the origin speaks TLS.
///   - clock: What its sessions go by, and what it dates its responses by; nil for the machine's clock.
///   - isolation: Where `body` runs: with the caller.
///   - body: Called once, with the origin.
/// - Throws: What `body` throws, and `TestOriginError.cannotStart`.
public func withOrigin<Result>(
    tls: TestOrigin.TLS = .none, clock: ManualClock? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (_ origin: TestOrigin) async throws -> Result
) async throws -> Result {
    let origin = try await TestOrigin.start(tls: tls, clock: clock)
    do {
        let result = try await body(origin)
        await origin.shutdown()
        return result
    } catch {
        await origin.shutdown()
        throw error
    }
}
