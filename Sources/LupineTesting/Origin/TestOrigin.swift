// SPDX-License-Identifier: MIT

public import Foundation
internal import Lupine
public import LupineLoading
internal import LupineOrigin
internal import LupineTLS
internal import LupineTransport

/// An HTTP/1.1 server in the process of a test, on a free port of the loopback interface, whose routes are closures.
///
/// ```swift
/// let origin = try await TestOrigin.start()
/// origin.route("GET", "/users/{id}") { request in .json(["id": request.parameters["id"]]) }
/// // ... requests to origin.url("/users/1")
/// await origin.shutdown()
/// ```
///
/// Requests are read whole, up to a body of 16 MiB. A request without a matching route is answered with 404 and a list of
/// the routes. Origins share no state, so that tests may run in parallel. Can be used on any thread.
public final class TestOrigin: SessionSource {
    /// Whether an origin uses TLS, and which certificate authority issues its certificate.
    public struct TLS: Sendable {
        enum Kind: Sendable {
            case none
            /// TLS, with a certificate authority that is created for the origin.
            case newAuthority
            /// TLS, with an existing certificate authority.
            case existing(TestAuthority)
        }

        let kind: Kind
        /// The names in the certificate.
        var names = EphemeralIdentity.loopback

        /// Plain HTTP.
        public static let none = TLS(kind: .none)
        /// TLS, with a certificate authority that is created for this origin: `TestOrigin.authority`.
        public static let authority = TLS(kind: .newAuthority)

        /// TLS, with a certificate authority that several origins may share.
        public static func authority(_ authority: TestAuthority) -> TLS { TLS(kind: .existing(authority)) }

        /// Returns the setting with a certificate for these names instead of those of the loopback interface.
        public func certificate(for names: [String]) -> TLS {
            var setting = self
            setting.names = names
            return setting
        }
    }

    /// `http://127.0.0.1:PORT`, or `https` with TLS.
    public let url: URL
    /// The certificate authority that issued the origin's certificate; nil without TLS.
    public let authority: TestAuthority?

    private let core: OriginCore
    private let origin: LupineOrigin.Origin
    /// Keeps the sessions that are created for this origin alive.
    public let shelf = SessionShelf()
    /// The task of `shutdown()`; nil before the first call.
    private let shutdownTask = Lock<Task<Void, Never>?>(nil)

    private init(_ url: URL, _ authority: TestAuthority?, _ core: OriginCore, _ origin: LupineOrigin.Origin) {
        self.url = url
        self.authority = authority
        self.core = core
        self.origin = origin
    }

    /// Starts an origin on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - tls: Whether the origin uses TLS.
    ///   - clock: The clock of its sessions and of the `Date` of its responses; nil for the system clock.
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
                case .newAuthority: try TestAuthority()
                case .existing(let existing): existing
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
        core.setURL(url)
        return TestOrigin(url, authority, core, origin)
    }

    /// Shuts the origin down asynchronously, unless `shutdown()` was called.
    deinit {
        guard shutdownTask.withLock({ $0 == nil }) else { return }
        core.close(TestOriginError.shutDown)
        // The task must not capture `self`, which is being deallocated.
        let origin = origin
        Task.detached { await origin.shutdown() }
    }

    /// Returns the URL of a path, which may have a query: `origin.url("/users?page=2")`.
    public func url(_ path: String) -> URL {
        // A text that is no URL reference is appended as a path, percent-encoded.
        URL(string: path, relativeTo: url)?.absoluteURL ?? url.appending(path: path)
    }

    // MARK: sessions

    /// A new configuration with in-memory stores, whose sessions trust the origin's authority, if it has one.
    public var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.af.ephemeral
        if let authority { configuration.lupine.tls.roots = authority.roots }
        core.clock?.govern(configuration)
        return configuration
    }

    // MARK: routes

    /// Answers requests of a method (nil for any) whose paths match a pattern. Of several matching routes, the latest answers.
    ///
    /// - Parameters:
    ///   - method: The method; `GET` also matches `HEAD`.
    ///   - pattern: A path, in which `{name}` matches one segment, available as `parameters["name"]`, and `{*}` at the end
    ///     matches all further segments.
    ///   - handler: Returns the response; called in a new task for each request, off the origin's thread. A thrown error is
    ///     answered with status 500 and its text.
    public func route(
        _ method: String?, _ pattern: String,
        _ handler: @escaping @Sendable (_ request: TestRequest) async throws -> TestResponse
    ) {
        core.add(method, pattern, handler)
    }

    /// Answers requests of a method (nil for any) whose paths match a pattern, always with the same response.
    public func route(_ method: String?, _ pattern: String, _ response: TestResponse) {
        core.add(method, pattern) { _ in response }
    }

    // MARK: received requests

    /// The received requests, in order, including those without a matching route.
    public var requests: [TestRequest] { core.log.requests }

    /// Waits for the request with that index and returns it.
    ///
    /// - Throws: `TestOriginError.shutDown` when the origin is shut down first, `CancellationError` when the task is
    ///   cancelled.
    public func request(at index: Int) async throws -> TestRequest { try await core.log.request(at: index) }

    /// Waits for the first request that this method has not returned yet.
    ///
    /// - Throws: `TestOriginError.shutDown` when the origin is shut down first, `CancellationError` when the task is
    ///   cancelled.
    public func nextRequest() async throws -> TestRequest { try await core.log.next() }

    /// The number of connections accepted so far.
    public var connectionCount: Int { origin.counts.connectionsAccepted }

    // MARK: shutdown

    /// Shuts the origin down and cancels running handlers. Returns when the last connection and the last handler have ended.
    /// Further calls wait for the same shutdown. Must not be awaited in a handler.
    public func shutdown() async {
        // The task captures these two objects instead of `self`.
        let (core, origin) = (core, origin)
        let task = shutdownTask.withLock { shutdownTask -> Task<Void, Never> in
            if let shutdownTask { return shutdownTask }
            let task = Task {
                core.close(TestOriginError.shutDown)
                await origin.shutdown()
                await core.waitForHandlers()
            }
            shutdownTask = task
            return task
        }
        await task.value
    }
}

/// Calls `body` with a new origin, and shuts the origin down afterwards, whether `body` returns or throws.
///
/// - Parameters:
///   - tls: Whether the origin uses TLS.
///   - clock: The clock of its sessions and of the `Date` of its responses; nil for the system clock.
///   - isolation: The isolation of `body`: that of the caller.
///   - body: Called once, with the origin.
/// - Throws: Any error of `body`, and `TestOriginError.cannotStart`.
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
