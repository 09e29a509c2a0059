// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import LupineTransport

@testable import Lupine

/// A session with one event loop, and an origin that serves long contents, with what a model of back-pressure has counted.
///
/// HTTP/1.1 uses a Unix-domain socket: there the kernel holds no more octets than fit into the sender's buffer, while the
/// receiver's buffer of a TCP connection grows to megabytes. Over HTTP/2 the window of a stream is the limit.
struct BackPressureStage: Sendable {
    /// What the model has counted.
    struct Tally {
        /// The requests that were answered, and those of them during which a consumer was blocked all the time.
        var answered = 0
        var answeredWhileBlocked = 0
        /// How often the origin has stopped sending before the end of the content.
        var stalls = 0
    }

    /// The size of the kernel's buffer for what the origin sends on a connection. The kernel doubles it.
    fileprivate static let socketBuffer: Int32 = 1 << 16

    let testedHTTP: TestedHTTP
    let session: Session
    let configuration: URLSessionConfiguration
    let origin: LupineOrigin.Origin
    let contents: LongContents
    /// The folder of the downloads.
    let folder: URL
    let faults = OrderFaults()
    let tally = Protected(Tally())

    /// The maximum number of octets that the origin has produced for a transfer and that its task has not received, if it has
    /// received at most `received`.
    func limitBeforeClient(received: Int) -> Int {
        // One read, and what the origin produces before it notices that nothing can be sent.
        let readAndProduced = 3 * EventLoop.readBufferSize
        return switch testedHTTP {
        case .http1: readAndProduced + 2 * Int(Self.socketBuffer)
        // The window of a stream has at first 65,535 octets, and doubles when it was consumed once.
        case .http2: readAndProduced + 65_535 + received
        }
    }

    /// Returns a URL of the origin.
    func url(_ path: String) -> URL {
        guard let url = URL(string: (origin.url.isEmpty ? "http://origin.test" : origin.url) + path) else {
            preconditionFailure("not a URL: \(path)")
        }
        return url
    }
}

/// Runs `body` with a session and an origin, and ends both.
func withBackPressure(
    over testedHTTP: TestedHTTP, _ body: (BackPressureStage) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder async throws in
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        serving.socketBufferSize = BackPressureStage.socketBuffer
        // On a slow or busy machine no time-out may expire.
        serving.idleTimeout = .seconds(3_600)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.timeoutIntervalForRequest = 3_600
        configuration.httpMaximumConnectionsPerHost = 256
        configuration.lupine.ownEventLoops = 1
        let origin: LupineOrigin.Origin
        switch testedHTTP {
        case .http1:
            let path = folder.appendingPathComponent("socket").path
            configuration.lupine.unixSocketPath = path
            origin = try LupineOrigin.Origin.start(at: .unix(path: path), configuration: serving)
        case .http2:
            configuration.lupine.httpVersions = .http2
            origin = try LupineOrigin.Origin.start(configuration: serving)
        }
        let contents = LongContents()
        contents.serve(on: origin)
        let session = Session(configuration: configuration, eventMonitors: [])
        let stage = BackPressureStage(
            testedHTTP: testedHTTP, session: session, configuration: configuration, origin: origin,
            contents: contents, folder: folder)
        let result: Result<Void, any Error>
        do { result = .success(try await body(stage)) } catch { result = .failure(error) }
        session.session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }
}
