// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import LupineTransport

@testable import Lupine

/// A session, and the origin that it uses.
struct ObservedStage {
    let session: Session
    let origin: LupineOrigin.Origin

    /// Returns a URL of the origin.
    func url(_ path: String, scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(origin.port)\(path)"
    }

    /// Returns a request whose response the origin delays until `sendResponse()` is called.
    func held(_ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") -> DataRequest {
        origin.answer(
            "GET", "/held", ScriptPlan(.signal("asked"), .waitForSignal("go"), .send(answer), .close))
        return session.request(url("/held"))
    }

    /// Waits until the origin has received the request of `held`.
    func waitForRequest() async { await origin.gate("asked").wait() }

    /// Lets the origin send the response of `held`.
    func sendResponse() { origin.gate("go").open() }
}

/// Runs `body` with an origin and a session that uses it, and ends both.
func withObserved(
    monitors: [any EventMonitor] = [], startRequestsImmediately: Bool = true,
    interceptor: (any RequestInterceptor)? = nil, configure: (URLSessionConfiguration) -> Void = { _ in },
    over testedHTTP: TestedHTTP = .http1,
    _ body: (ObservedStage) async throws -> Void
) async throws {
    var serving = OriginConfiguration()
    serving.enable(testedHTTP)
    let origin = try LupineOrigin.Origin.start(configuration: serving)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.connectionProxyDictionary = [:]
    // On a slow or busy machine no time-out may expire except those that a test sets.
    configuration.timeoutIntervalForRequest = 3_600
    if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
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

/// Retries up to `times` times.
struct Retrying: RequestInterceptor {
    let times: Int

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount < times ? .retry : .doNotRetry)
    }
}
