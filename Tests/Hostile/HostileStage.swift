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

/// A session and a raw origin that says what a test wrote down and keeps every byte that comes.
///
/// The session is made as programs make theirs, and finds the origin under every host name that has the origin's port.
/// Each wait in it has an end: a request that nobody answers fails after `patience`.
struct HostileStage {
    /// After how many seconds an answer that does not come is an error.
    static let patience: TimeInterval = 30

    let session: Session
    let origin: LupineOrigin.Origin
    let scheme: String
    /// Where the session writes what it moves or removes later.
    let litter: LitterFolder

    /// An address of the origin's.
    func url(_ path: String = "/", host: String = "origin.test") -> String {
        "\(scheme)://\(host):\(origin.port)\(path)"
    }

    /// Every byte that came, one connection behind the other.
    var wire: [[UInt8]] {
        (0..<origin.counts.connectionsAccepted).map { origin.received(on: $0) }
    }

    /// Runs `body` with a session and an origin, and ends both. No file of the session's may be left then.
    ///
    /// - Parameters:
    ///   - plan: What connections do from their first byte on; nil leaves them to the origin's routes.
    ///   - leaf: The name of the origin's certificate; nil for an origin without TLS.
    ///   - monitors: Who hears of the session's events.
    static func with(
        _ plan: ScriptPlan? = nil, leaf: String? = nil, monitors: [any EventMonitor] = [],
        delegate: SessionDelegate = SessionDelegate(), redirects: (any RedirectHandler)? = nil,
        over spoken: Spoken = .http1,
        _ configure: (URLSessionConfiguration, LupineOrigin.Origin) throws -> Void = { _, _ in },
        place: SourceLocation = #_sourceLocation, _ body: (HostileStage) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.recordedBytes = 1 << 16
        serving.speak(spoken, plan)
        if let leaf {
            var tls = try Self.secured(leaf)
            tls.speak(spoken)
            serving.tls = tls
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let result: Result<Void, any Error>
        do {
            let configuration = try Self.configuration(of: origin)
            let litter = try LitterFolder()
            configuration.lupine.temporaryDirectory = litter.url
            if spoken == .http2 { configuration.lupine.httpVersions = .http2 }
            try configure(configuration, origin)
            let farewell = Farewell()
            let session = Session(
                configuration: configuration, delegate: delegate, redirectHandler: redirects,
                eventMonitors: monitors + [farewell])
            do {
                try await body(
                    HostileStage(
                        session: session, origin: origin, scheme: leaf == nil ? "http" : "https",
                        litter: litter))
                result = .success(())
            } catch { result = .failure(error) }
            session.session.invalidateAndCancel()
            await farewell.wait()
            await litter.close(place)
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    /// How a session of a test is set up.
    static func configuration(of origin: LupineOrigin.Origin) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.headers = .default
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = patience
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        return configuration
    }

    /// The origin's side of TLS.
    static func secured(_ leaf: String) throws -> TLSServerConfiguration {
        let identity = try TLSIdentity(
            pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key"))
        return TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
    }
}

extension DataRequest {
    /// What the request ends with.
    func answered() async -> AFDataResponse<Data?> {
        await withCheckedContinuation { continuation in
            response(queue: DispatchQueue(label: "handler")) { continuation.resume(returning: $0) }
        }
    }
}

extension DownloadRequest {
    /// What the request ends with.
    func answered() async -> AFDownloadResponse<URL?> {
        await withCheckedContinuation { continuation in
            response(queue: DispatchQueue(label: "handler")) { continuation.resume(returning: $0) }
        }
    }
}

extension AFError {
    /// What the transport found wrong with the message, if that is what ended the request.
    var httpError: HTTPError? {
        guard let error = underlyingError as? URLError,
            case .http(_, _, let found)? = error.userInfo[NSUnderlyingErrorKey] as? TransportError
        else { return nil }
        return found
    }
}
