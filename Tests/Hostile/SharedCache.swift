// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Synchronization
import Testing

/// One origin, one cache, and sessions with different policies that share them.
///
/// Every response contains the number of its request at the origin, which shows whether it came from the cache.
struct SharedCache {
    /// The way in which a session decides whether a server is trusted.
    enum Policy: CaseIterable, Sendable {
        /// No delegate.
        case standard
        /// A delegate without a challenge method.
        case listening
        /// A `Session` without evaluators.
        case pipeline
        /// A `Session` that trusts every server.
        case disabled
        /// A `Session` that pins the key of the leaf `good`.
        case pinsGood
        /// A `Session` that pins another key.
        case pinsOther
        /// A `Session` that pins the key of the leaf `untrusted`, and checks nothing else.
        case pinsUntrusted
        /// A `Session` whose evaluator reads the chain, and accepts every server.
        case reading
        /// A `Session` that checks revocation, and nothing else.
        case revocation
        /// A delegate that accepts every server.
        case accepting
        /// A delegate that has the chain evaluated, ignores the result and accepts every server.
        case ignoring
        /// A delegate that answers challenges with `performDefaultHandling`.
        case asking
        /// A subclass of `SessionDelegate`.
        case subclass
        /// No delegate, and roots that do not include the fixtures' root.
        case otherRoots
    }

    let origin: LupineOrigin.Origin
    let cache: URLCache
    let leaf: String?
    var numbers = RequestNumbers()

    /// Counts the requests that the origin has received.
    final class RequestNumbers: Sendable {
        private let last = Atomic(0)
        /// Counts a request, and returns its number.
        var next: Int { last.add(1, ordering: .relaxed).newValue }
        var count: Int { last.load(ordering: .relaxed) }
    }

    /// The result of one request.
    enum Outcome: Hashable, Sendable {
        /// The response that the origin gave to its request of this number.
        case answer(Int)
        case refused
        case failed(String)
    }

    /// Runs `body` with an origin whose responses to `/a/...` have the header `fields`, and shuts the origin down.
    static func with(
        leaf: String? = "good", asksForIdentity: Bool = false, cache: URLCache? = nil,
        _ fields: [(String, String)] = [("Cache-Control", "max-age=1000")],
        _ body: (SharedCache) async throws -> Void
    ) async throws {
        var originConfiguration = OriginConfiguration()
        if let leaf {
            var tls = try HostileStage.tlsConfiguration(leaf)
            if asksForIdentity {
                tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.text("client-root.pem")))
            }
            originConfiguration.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: originConfiguration)
        let shared = SharedCache(
            origin: origin, cache: cache ?? URLCache(memoryCapacity: 1 << 20, diskCapacity: 0), leaf: leaf)
        origin.route("GET", "/a/{*}") { [numbers = shared.numbers] _ throws(Refusal) in
            var response = try OriginResponse(200, "text/plain", Array("\(numbers.next)".utf8))
            for (name, value) in fields { try response.add(name, value) }
            return response
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(shared)) } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    func url(_ path: String = "/a/1") throws -> URL {
        try #require(URL(string: "\(leaf == nil ? "http" : "https")://localhost:\(origin.port)\(path)"))
    }

    func configuration(
        _ policy: Policy = .standard, _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
    ) throws -> URLSessionConfiguration {
        let configuration = try HostileStage.configuration(of: origin)
        configuration.urlCache = cache
        if policy == .otherRoots {
            configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("other-root.pem")))
        }
        try configure(configuration)
        return configuration
    }

    /// Returns a session with this policy that uses the cache.
    func session(
        _ policy: Policy, _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
    ) throws -> PolicySession {
        let configuration = try configuration(policy, configure)
        switch policy {
        case .standard, .otherRoots: return .plain(URLSession(configuration: configuration))
        case .listening:
            return .plain(
                URLSession(
                    configuration: configuration, delegate: DelegateWithoutChallenges(), delegateQueue: nil))
        case .accepting, .asking, .ignoring:
            return .plain(
                URLSession(
                    configuration: configuration, delegate: ChallengeDelegate(policy), delegateQueue: nil))
        case .pipeline: return .pipeline(Session(configuration: configuration))
        case .subclass: return .pipeline(Session(configuration: configuration, delegate: DelegateSubclass()))
        case .disabled: return try pipeline(configuration, DisabledTrustEvaluator())
        case .pinsGood: return try pipeline(configuration, Self.pins("good"))
        case .pinsOther: return try pipeline(configuration, Self.pins("untrusted"))
        case .pinsUntrusted: return try pipeline(configuration, Self.pins("untrusted", validates: false))
        case .reading: return try pipeline(configuration, ChainReadingEvaluator())
        case .revocation:
            return try pipeline(
                configuration,
                RevocationTrustEvaluator(
                    performDefaultValidation: false, validateHost: false, options: .networkAccessDisabled))
        }
    }

    private func pipeline(
        _ configuration: URLSessionConfiguration, _ evaluator: any ServerTrustEvaluating
    ) throws -> PolicySession {
        .pipeline(
            Session(
                configuration: configuration,
                serverTrustManager: ServerTrustManager(evaluators: ["localhost": evaluator])))
    }

    private static func pins(
        _ leaf: String, validates: Bool = true
    ) throws -> PublicKeyPinsTrustEvaluator {
        let certificate = try #require(try Certificate.pem(PKI.text("\(leaf).pem")).first)
        return try PublicKeyPinsTrustEvaluator(
            pins: [try #require(certificate.publicKey).pin.description], performDefaultValidation: validates,
            validateHost: validates)
    }

    /// Sends a request in a new session with this policy, and invalidates the session.
    func fetch(
        _ policy: Policy, _ path: String = "/a/1", _ fields: [String: String] = [:],
        _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
    ) async -> Outcome {
        do {
            let session = try session(policy, configure)
            let outcome = await session.fetch(try url(path), fields)
            session.invalidate()
            return outcome
        } catch { return .failed("\(error)") }
    }

    private final class DelegateWithoutChallenges: NSObject, URLSessionDataDelegate {}

    private final class DelegateSubclass: SessionDelegate, @unchecked Sendable {}

    private struct ChainReadingEvaluator: ServerTrustEvaluating {
        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            if trust.af.certificates.isEmpty || SecTrustCopyKey(trust) == nil {
                throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
            }
        }
    }

    private final class ChallengeDelegate: NSObject, URLSessionTaskDelegate {
        private let policy: Policy

        init(_ policy: Policy) { self.policy = policy }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) ->
                Void
        ) {
            guard policy != .asking, let trust = challenge.protectionSpace.serverTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            if policy == .ignoring { _ = SecTrustEvaluateWithError(trust, nil) }
            completionHandler(.useCredential, URLCredential(trust: trust))
        }
    }
}

/// A `URLSession`, or a `Session` on one.
enum PolicySession: Sendable {
    case plain(URLSession)
    case pipeline(Session)

    func fetch(_ url: URL, _ fields: [String: String] = [:]) async -> SharedCache.Outcome {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        switch self {
        case .plain(let session):
            do {
                return Self.outcome(of: try await session.data(for: request).0)
            } catch let error as URLError {
                return Self.outcome(of: error)
            } catch { return .failed("\(error)") }
        case .pipeline(let session):
            let answer = await session.request(request).answered()
            if let data = answer.data { return Self.outcome(of: data) }
            guard let error = answer.error else { return .failed("no error") }
            if case .serverTrustEvaluationFailed = error { return .refused }
            return (error.underlyingError as? URLError).map(Self.outcome(of:)) ?? .failed("\(error)")
        }
    }

    private static func outcome(of data: Data) -> SharedCache.Outcome {
        Int(String(decoding: data, as: UTF8.self)).map { .answer($0) } ?? .failed("no number")
    }

    private static func outcome(of error: URLError) -> SharedCache.Outcome {
        switch error.code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .refused
        default: .failed("\(error.code)")
        }
    }

    /// Waits until stored responses are on the disk, and closes idle connections.
    func flush() async {
        let session: URLSession
        switch self {
        case .plain(let plain): session = plain
        case .pipeline(let pipeline): session = pipeline.session
        }
        await withCheckedContinuation { continuation in
            session.flush { continuation.resume() }
        }
    }

    func invalidate() {
        switch self {
        case .plain(let session): session.invalidateAndCancel()
        case .pipeline(let session): session.session.invalidateAndCancel()
        }
    }
}
