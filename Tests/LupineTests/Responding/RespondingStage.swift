// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import LupineTransport

@testable import Lupine

/// A session, and the origin whose responses the test determines.
struct RespondingStage {
    let session: Session
    let origin: LupineOrigin.Origin
    /// The folder of downloads without a destination; removed after the test.
    let folder: URL

    /// Returns a URL of the origin.
    func url(_ path: String) -> String { "http://127.0.0.1:\(origin.port)\(path)" }

    /// Sets the origin's response to GET and HEAD at a new URL, and returns a request for it.
    func request(
        _ status: Int = 200, type: String? = nil, body: String = "", method: HTTPMethod = .get,
        accept: String? = nil, interceptor: (any RequestInterceptor)? = nil, resumes: Bool? = nil
    ) -> DataRequest {
        session.request(
            address(status, type: type, body: body), method: method,
            headers: accept.map { ["Accept": $0] }, interceptor: interceptor,
            shouldAutomaticallyResume: resumes)
    }

    /// Does the same for a download.
    func download(
        _ status: Int = 200, type: String? = nil, body: String = "",
        destination: DownloadRequest.Destination? = nil
    ) throws -> DownloadRequest {
        let request = try URLRequest(url: address(status, type: type, body: body), method: .get)
        return DownloadRequest(
            downloadable: .request(request), underlyingQueue: session.rootQueue,
            serializationQueue: session.serializationQueue, eventMonitor: session.eventMonitor,
            interceptor: nil, shouldAutomaticallyResume: nil, delegate: session,
            destination: destination ?? { [folder] temporary, _ in
                (folder.appendingPathComponent(temporary.lastPathComponent), .createIntermediateDirectories)
            })
    }

    /// Returns a stream request for a URL.
    func stream(
        _ address: String, cancelsOnError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
        resumes: Bool? = nil
    ) throws -> DataStreamRequest {
        DataStreamRequest(
            convertible: try URLRequest(url: address, method: .get),
            automaticallyCancelOnStreamError: cancelsOnError, underlyingQueue: session.rootQueue,
            serializationQueue: session.serializationQueue, eventMonitor: session.eventMonitor,
            interceptor: interceptor, shouldAutomaticallyResume: resumes, delegate: session)
    }

    /// Returns a new URL at which the origin sends this response.
    func address(_ status: Int = 200, type: String? = nil, body: String = "") -> String {
        let path = "/scripted/\(UUID().uuidString)"
        let content = type.map { "Content-Type: \($0)\r\n" } ?? ""
        let hasLength = status != 204 && status != 304
        let length = hasLength ? "Content-Length: \(body.utf8.count)\r\n" : ""
        for method in ["GET", "HEAD"] {
            let sent = method == "HEAD" ? "" : body
            origin.answer(
                method, path,
                ScriptPlan(
                    .send("HTTP/1.1 \(status) Answer\r\n\(content)\(length)Connection: close\r\n\r\n\(sent)"),
                    .close))
        }
        return url(path)
    }
}

/// Runs `body` with an origin and a session that uses it, and ends both.
func withResponding(
    monitors: [any EventMonitor] = [], headers: [String: String] = [:], over testedHTTP: TestedHTTP = .http1,
    _ body: (RespondingStage) async throws -> Void
) async throws {
    var serving = OriginConfiguration()
    serving.enable(testedHTTP)
    let origin = try LupineOrigin.Origin.start(configuration: serving)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.connectionProxyDictionary = [:]
    configuration.httpAdditionalHeaders = headers
    if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
    let session = Session(configuration: configuration, eventMonitors: monitors)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "responding-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let result: Result<Void, any Error>
    let stage = RespondingStage(session: session, origin: origin, folder: folder)
    do { result = .success(try await body(stage)) } catch {
        result = .failure(error)
    }
    session.session.invalidateAndCancel()
    await origin.shutdown()
    try result.get()
}
