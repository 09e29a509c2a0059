// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// A session and a raw origin that follows a test's script and records every received byte.
///
/// The session resolves every host name with the origin's port to the origin. A request without a response fails after `timeout`,
/// so no test waits for ever.
struct HostileStage {
    /// The number of seconds after which a missing response is an error.
    static let timeout: TimeInterval = 30

    let session: Session
    let origin: LupineOrigin.Origin
    let scheme: String
    /// The folder of the session's temporary files.
    let folder: SessionFolder

    /// Returns a URL of the origin.
    func url(_ path: String = "/", host: String = "origin.test") -> String {
        "\(scheme)://\(host):\(origin.port)\(path)"
    }

    /// The received bytes of each connection, in the order of the connections.
    var wire: [[UInt8]] {
        (0..<origin.counts.connectionsAccepted).map { origin.received(on: $0) }
    }

    /// Runs `body` with a session and an origin, ends both, and checks that the session has left no temporary file.
    ///
    /// - Parameters:
    ///   - plan: The script of connections, from their first byte on; nil leaves them to the origin's routes.
    ///   - leaf: The name of the origin's certificate; nil for an origin without TLS.
    ///   - monitors: The session's event monitors.
    static func with(
        _ plan: ScriptPlan? = nil, leaf: String? = nil, monitors: [any EventMonitor] = [],
        delegate: SessionDelegate = SessionDelegate(), redirects: (any RedirectHandler)? = nil,
        over testedHTTP: TestedHTTP = .http1,
        _ configure: (URLSessionConfiguration, LupineOrigin.Origin) throws -> Void = { _, _ in },
        place: SourceLocation = #_sourceLocation, _ body: (HostileStage) async throws -> Void
    ) async throws {
        var originConfiguration = OriginConfiguration()
        originConfiguration.recordedBytes = 1 << 16
        originConfiguration.enable(testedHTTP, plan)
        if let leaf {
            var tls = try Self.tlsConfiguration(leaf)
            tls.enable(testedHTTP)
            originConfiguration.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: originConfiguration)
        let result: Result<Void, any Error>
        do {
            let configuration = try Self.configuration(of: origin)
            let folder = try SessionFolder()
            configuration.lupine.temporaryDirectory = folder.url
            if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
            try configure(configuration, origin)
            let invalidation = InvalidationMonitor()
            let session = Session(
                configuration: configuration, delegate: delegate, redirectHandler: redirects,
                eventMonitors: monitors + [invalidation])
            do {
                try await body(
                    HostileStage(
                        session: session, origin: origin, scheme: leaf == nil ? "http" : "https",
                        folder: folder))
                result = .success(())
            } catch { result = .failure(error) }
            session.session.invalidateAndCancel()
            await invalidation.wait()
            await folder.close(place)
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    /// Returns the configuration of a test's session.
    static func configuration(of origin: LupineOrigin.Origin) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.headers = .default
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = timeout
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        return configuration
    }

    /// Returns the origin's TLS configuration, with the certificate `leaf` of the fixtures.
    static func tlsConfiguration(_ leaf: String) throws -> TLSServerConfiguration {
        let identity = try TLSIdentity(
            pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key"))
        return TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
    }
}

extension DataRequest {
    /// Waits for the end of the request, and returns its response.
    func answered() async -> AFDataResponse<Data?> {
        await withCheckedContinuation { continuation in
            response(queue: DispatchQueue(label: "handler")) { continuation.resume(returning: $0) }
        }
    }
}

extension DownloadRequest {
    /// Waits for the end of the request, and returns its response.
    func answered() async -> AFDownloadResponse<URL?> {
        await withCheckedContinuation { continuation in
            response(queue: DispatchQueue(label: "handler")) { continuation.resume(returning: $0) }
        }
    }
}

extension AFError {
    /// The HTTP error in the response that failed the request; nil if it failed for another reason.
    var httpError: HTTPError? {
        guard let error = underlyingError as? URLError,
            case .http(_, _, let httpError)? = error.userInfo[NSUnderlyingErrorKey] as? TransportError
        else { return nil }
        return httpError
    }
}
