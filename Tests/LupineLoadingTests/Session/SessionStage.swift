// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport

@testable import LupineLoading

/// A session, and an origin that every host name resolves to, for tests through all layers.
struct SessionStage {
    let session: URLSession
    let origin: LupineOrigin.Origin
    var testedHTTP = TestedHTTP.http1

    /// Returns a URL of the origin, under this host name.
    func url(_ path: String = "/", host: String = "origin.test", scheme: String = "http") throws -> URL {
        guard let url = URL(string: "\(scheme)://\(host):\(origin.port)\(path)") else {
            throw URLError(.badURL)
        }
        return url
    }

    /// The result of a load: status and body, or the code of the error.
    struct End: Sendable {
        var status: Int?
        var text = ""
        var code: URLError.Code?
    }

    func load(_ request: URLRequest) async -> End {
        do {
            let (data, response) = try await session.data(for: request)
            return End(
                status: (response as? HTTPURLResponse)?.statusCode,
                text: String(decoding: data, as: UTF8.self))
        } catch {
            return End(code: (error as? URLError)?.code ?? .unknown)
        }
    }

    /// Loads a path with GET.
    func get(_ path: String = "/") async throws -> End {
        await load(URLRequest(url: try url(path)))
    }
}

/// Runs `body` with a session and an origin of this configuration, and ends both.
func withStage(
    _ plan: ScriptPlan? = nil, serving: OriginConfiguration = OriginConfiguration(),
    configuration: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
    over testedHTTP: TestedHTTP = .http1, _ body: (SessionStage) async throws -> Void
) async throws {
    var serving = serving
    let script = plan ?? serving.script
    serving.script = nil
    serving.enable(testedHTTP, script)
    serving.recordedBytes = 1 << 20
    let origin = try LupineOrigin.Origin.start(configuration: serving)
    configuration.waitPatiently()
    configuration.connectionProxyDictionary = [:]
    if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
    if configuration.lupine.addressOverrides.isEmpty {
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
    }
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    let result: Result<Void, any Error>
    do {
        result = .success(
            try await body(SessionStage(session: session, origin: origin, testedHTTP: testedHTTP)))
    } catch {
        result = .failure(error)
    }
    session.invalidateAndCancel()
    await origin.shutdown()
    try result.get()
}
