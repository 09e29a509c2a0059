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
        /// A pipeline without evaluators.
        case pipeline
        /// A pipeline that trusts every server.
        case disabled
        /// A pipeline that pins the key of the leaf `good`.
        case pinsGood
        /// A pipeline that pins another key.
        case pinsOther
        /// A pipeline that pins the key of the leaf `untrusted`, and checks nothing else.
        case pinsUntrusted
        /// A pipeline whose evaluator reads the chain, and accepts every server.
        case reading
        /// A pipeline that checks revocation, and nothing else.
        case revocation
        /// A delegate that accepts every server.
        case accepting
        /// A delegate that has the chain evaluated, ignores the result and accepts every server.
        case ignoring
        /// A delegate that asks for the default handling.
        case asking
        /// A subclass of the pipeline's delegate.
        case subclass
        /// No delegate, and other roots.
        case otherRoots
    }

    let origin: LupineOrigin.Origin
    let cache: URLCache
    let leaf: String?
    var numbers = RequestNumbers()

    final class RequestNumbers: Sendable {
        private let last = Atomic(0)
        var next: Int { last.add(1, ordering: .relaxed).newValue }
        var count: Int { last.load(ordering: .relaxed) }
    }

    /// The result of one request.
    enum End: Hashable, Sendable {
        /// The response to the request of that number.
        case answer(Int)
        case refused
        case failed(String)
    }

    static func with(
        leaf: String? = "good", asksForIdentity: Bool = false, cache: URLCache? = nil,
        _ fields: [(String, String)] = [("Cache-Control", "max-age=1000")],
        _ body: (SharedCache) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        if let leaf {
            var tls = try HostileStage.secured(leaf)
            if asksForIdentity {
                tls.clientCertificates = .requested(roots: try Certificate.pem(PKI.text("client-root.pem")))
            }
            serving.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
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

    /// Returns a session with that policy that uses the cache.
    func session(
        _ policy: Policy, _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
    ) throws -> PolicySession {
        let configuration = try configuration(policy, configure)
        switch policy {
        case .standard, .otherRoots: return .plain(URLSession(configuration: configuration))
        case .listening:
            return .plain(
                URLSession(configuration: configuration, delegate: Listening(), delegateQueue: nil))
        case .accepting, .asking, .ignoring:
            return .plain(
                URLSession(configuration: configuration, delegate: Answering(policy), delegateQueue: nil))
        case .pipeline: return .pipeline(Session(configuration: configuration))
        case .subclass: return .pipeline(Session(configuration: configuration, delegate: OwnDelegate()))
        case .disabled: return try pipeline(configuration, DisabledTrustEvaluator())
        case .pinsGood: return try pipeline(configuration, Self.pins("good"))
        case .pinsOther: return try pipeline(configuration, Self.pins("untrusted"))
        case .pinsUntrusted: return try pipeline(configuration, Self.pins("untrusted", validates: false))
        case .reading: return try pipeline(configuration, Reading())
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

    /// Sends a request in a new session with that policy, which is invalidated afterwards.
    func ask(
        _ policy: Policy, _ path: String = "/a/1", _ fields: [String: String] = [:],
        _ configure: (URLSessionConfiguration) throws -> Void = { _ in }
    ) async -> End {
        do {
            let session = try session(policy, configure)
            let end = await session.ask(try url(path), fields)
            session.end()
            return end
        } catch { return .failed("\(error)") }
    }

    private final class Listening: NSObject, URLSessionDataDelegate {}

    private final class OwnDelegate: SessionDelegate, @unchecked Sendable {}

    private struct Reading: ServerTrustEvaluating {
        func evaluate(_ trust: SecTrust, forHost host: String) throws {
            if trust.af.certificates.isEmpty || SecTrustCopyKey(trust) == nil {
                throw AFError.serverTrustEvaluationFailed(reason: .noCertificatesFound)
            }
        }
    }

    private final class Answering: NSObject, URLSessionTaskDelegate {
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

    func ask(_ url: URL, _ fields: [String: String] = [:]) async -> SharedCache.End {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        switch self {
        case .plain(let session):
            do {
                return Self.end(try await session.data(for: request).0)
            } catch let error as URLError {
                return Self.end(error)
            } catch { return .failed("\(error)") }
        case .pipeline(let session):
            let answer = await session.request(request).answered()
            if let data = answer.data { return Self.end(data) }
            guard let error = answer.error else { return .failed("nothing") }
            if case .serverTrustEvaluationFailed = error { return .refused }
            return (error.underlyingError as? URLError).map(Self.end) ?? .failed("\(error)")
        }
    }

    private static func end(_ data: Data) -> SharedCache.End {
        Int(String(decoding: data, as: UTF8.self)).map { .answer($0) } ?? .failed("no number")
    }

    private static func end(_ error: URLError) -> SharedCache.End {
        switch error.code {
        case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .refused
        default: .failed("\(error.code)")
        }
    }

    /// Waits until stored responses are on the disk, and closes idle connections.
    func flush() async {
        let session: URLSession
        switch self {
        case .plain(let own): session = own
        case .pipeline(let own): session = own.session
        }
        await withCheckedContinuation { continuation in
            session.flush { continuation.resume() }
        }
    }

    func end() {
        switch self {
        case .plain(let session): session.invalidateAndCancel()
        case .pipeline(let session): session.session.invalidateAndCancel()
        }
    }
}
