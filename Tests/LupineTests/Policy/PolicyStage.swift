// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

@testable import Lupine

/// An origin that every host name resolves to, and sessions that use it.
struct PolicyStage {
    let origin: LupineOrigin.Origin
    var testedHTTP = TestedHTTP.http1

    /// Returns a URL of the origin, with the given host name.
    func url(_ path: String = "/get", host: String = "localhost", isSecure: Bool = false) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(origin.port)\(path)"
    }

    /// Returns a configuration that resolves every name to the origin and trusts the root of the fixtures.
    func configuration(trusting roots: [String] = ["root"]) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        // On a slow or busy machine no time-out may expire except those that a test sets.
        configuration.timeoutIntervalForRequest = 3_600
        configuration.lupine.tls.handshakeTimeout = .seconds(3_600)
        if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(
            try roots.flatMap { try Certificate.pem(PKI.text("\($0).pem")) })
        return configuration
    }

    /// Runs `body` with a session, and invalidates it.
    func withSession<Result>(
        interceptor: (any RequestInterceptor)? = nil, trust: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil, cacher: (any CachedResponseHandler)? = nil,
        startRequestsImmediately: Bool = true,
        configure: (URLSessionConfiguration) throws -> Void = { _ in },
        _ body: (Session) async throws -> Result
    ) async throws -> Result {
        let configuration = try configuration()
        try configure(configuration)
        let session = Session(
            configuration: configuration, startRequestsImmediately: startRequestsImmediately,
            interceptor: interceptor, serverTrustManager: trust, redirectHandler: redirectHandler,
            cachedResponseHandler: cacher, eventMonitors: [])
        defer { session.session.invalidateAndCancel() }
        return try await body(session)
    }

    /// Runs `body` with an origin, and stops it. With the name of a fixture the origin uses TLS.
    static func run(
        leaf: String? = nil, stapled: String? = nil, newest: TLSVersion = .v1_3,
        over testedHTTP: TestedHTTP = .http1,
        _ body: (PolicyStage) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        if let leaf {
            var tls = TLSServerConfiguration(identities: [
                TLSServerIdentity(
                    try TLSIdentity(
                        pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")),
                    stapledResponse: try stapled.map { try PKI.bytes($0) })
            ])
            tls.cipherList = "ALL:@SECLEVEL=0"
            tls.maximumVersion = newest
            tls.enable(testedHTTP)
            serving.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let result: Result<Void, any Error>
        do { result = .success(try await body(PolicyStage(origin: origin, testedHTTP: testedHTTP))) } catch {
            result = .failure(error)
        }
        await origin.shutdown()
        try result.get()
    }
}

extension DataRequest {
    /// Waits for the response of a handler without a serializer.
    func awaitResponse() async -> AFDataResponse<Data?> {
        await called { answer in response { answer($0) } }
    }

    /// Waits for the response of a handler with a serializer. If the serializer fails, the retrier is called.
    func awaitTextResponse() async -> AFDataResponse<String> {
        await called { answer in responseString { answer($0) } }
    }
}

extension RequestRetrier {
    /// Calls the retrier and waits for its result.
    func answer(
        _ request: Request, for session: Session, dueTo error: any Error
    ) async -> RetryResult {
        await called { answer in retry(request, for: session, dueTo: error) { answer($0) } }
    }
}

extension RetryResult {
    /// The result in a comparable form.
    var text: String {
        switch self {
        case .retry: "retry"
        case .retryWithDelay(let delay): "retry after \(delay)"
        case .doNotRetry: "do not retry"
        case .doNotRetryWithError(let error): "fail: \(error)"
        }
    }
}
