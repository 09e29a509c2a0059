// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin

@testable import Lupine

/// A pipeline's session, and the origin that it talks to.
struct ObservedStage {
    let session: Session
    let origin: LupineOrigin.Origin

    /// An address of the origin's.
    func url(_ path: String, scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(origin.port)\(path)"
    }

    /// A request that the origin holds: it is asked, and answers when it is let go.
    func held(
        _ path: String = "/held",
        answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    ) -> DataRequest {
        origin.script(
            "GET", path,
            ScriptPlan(.signal("asked \(path)"), .waitForSignal("go \(path)"), .send(answer), .close))
        return session.request(url(path))
    }

    func wasAsked(_ path: String = "/held") async { await origin.gate("asked \(path)").wait() }

    func letGo(_ path: String = "/held") { origin.gate("go \(path)").open() }
}

/// Runs `body` with an origin and a session that talks to it, and ends both.
func withObserved(
    monitors: [any EventMonitor] = [], startRequestsImmediately: Bool = true,
    interceptor: (any RequestInterceptor)? = nil, configure: (URLSessionConfiguration) -> Void = { _ in },
    _ body: (ObservedStage) async throws -> Void
) async throws {
    let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
    let configuration = URLSessionConfiguration.ephemeral
    configuration.connectionProxyDictionary = [:]
    configure(configuration)
    let session = Session(
        configuration: configuration, startRequestsImmediately: startRequestsImmediately,
        interceptor: interceptor, eventMonitors: monitors)
    let result: Result<Void, any Error>
    do { result = .success(try await body(ObservedStage(session: session, origin: origin))) } catch {
        result = .failure(error)
    }
    session.session.invalidateAndCancel()
    await origin.shutdown()
    try result.get()
}

/// Retries so many times.
struct Retrying: RequestInterceptor {
    let times: Int

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount < times ? .retry : .doNotRetry)
    }
}
