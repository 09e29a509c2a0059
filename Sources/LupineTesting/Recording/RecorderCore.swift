// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTransport

/// The implementation of `Recorder`: sends requests to the server and writes the exchanges. It has no reference to the
/// sessions that it serves. Can be used on any thread.
final class RecorderCore: Sendable {
    private struct State {
        /// The number of exchanges that have begun.
        var count = 0
        /// The first error of writing an exchange.
        var failure: RecordingError?
    }

    /// The clock of all sessions; nil for the system clock.
    let clock: ManualClock?
    private let folder: RecordingFolder
    private let redaction: RecordingRedaction
    /// The connections to the servers.
    private let upstream: Upstream
    /// The configuration of the recorded sessions, without this object installed.
    private let template: URLSessionConfiguration
    private let state = Lock(State())

    init(
        _ folder: RecordingFolder, _ configuration: URLSessionConfiguration, _ redaction: RecordingRedaction,
        clock: ManualClock?
    ) throws(RecordingError) {
        self.clock = clock
        self.folder = folder
        self.redaction = redaction
        try folder.requireEmpty()
        template = Self.copy(configuration)
        // The header fields of the configuration replace Alamofire's defaults of the same name.
        var headers = HTTPHeaders.default
        for header in configuration.headers { headers.update(header) }
        template.headers = headers
        let upstreamConfiguration = Self.copy(configuration)
        upstreamConfiguration.lupine.collectedBodyLimit = folder.limits.fileBytes
        clock?.govern(upstreamConfiguration)
        upstream = Upstream(upstreamConfiguration)
    }

    /// Returns a copy of a configuration, which is a class.
    private static func copy(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        // `copy` returns `Any`, but always a configuration, so the cast does not fail.
        configuration.copy() as? URLSessionConfiguration ?? configuration
    }

    /// The number of exchanges that have begun.
    var count: Int { state.withLock { $0.count } }
    /// The first error of writing an exchange; nil if there was none.
    var failure: RecordingError? { state.withLock { $0.failure } }

    /// Returns a new configuration whose sessions are recorded.
    func configuration() -> URLSessionConfiguration {
        let configuration = Self.copy(template)
        configuration.urlCache = nil
        install(in: configuration)
        clock?.govern(configuration)
        return configuration
    }

    /// Writes an exchange. Stores the first error, for `verify`.
    private func write(_ request: TestRequest, _ outcome: RecordedExchange.Outcome, number: Int) {
        let redactedRequest = RecordedExchange.Request(request, redaction)
        do throws(RecordingError) {
            try folder.write(RecordedExchange(redactedRequest, outcome), number: number)
        } catch {
            state.withLock { if $0.failure == nil { $0.failure = error } }
        }
    }
}

extension RecorderCore: StubResponder {
    /// True: the loads of `upstream` store the cookies, because only they know the connection on which a cookie was received.
    var hasStoredCookies: Bool { true }

    func answer(_ request: TestRequest, _ original: URLRequest, for urlProtocol: StubURLProtocol) async throws
        -> TestResponse
    {
        // Throws if the program's session and the recorder have different TLS options.
        try upstream.requireEqualSecurity(original, of: urlProtocol)
        let number = state.withLock { state -> Int in
            state.count += 1
            return state.count
        }
        // The body stream has already been read to its end.
        var outgoingRequest = original
        outgoingRequest.httpBodyStream = nil
        outgoingRequest.httpBody = request.body.isEmpty ? nil : request.body
        do {
            let (body, head) = try await upstream.load(outgoingRequest, for: urlProtocol)
            guard let head = head as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            // These fields do not apply to the decoded content.
            let droppedFields: Set = [
                "content-encoding", "content-length", "transfer-encoding", "connection",
            ]
            let headers = TestHeaders(
                head.lupine.fields.filter { !droppedFields.contains($0.name.lowercased()) }
                    .map { TestHeaders.Field($0.name, $0.value) })
            write(
                request,
                .response(
                    status: head.statusCode, headers: redaction.headers(headers),
                    body: redaction.body(body, type: headers["Content-Type"])), number: number)
            var response = TestResponse.data(body, status: head.statusCode)
            response.headers = headers
            return response
        } catch  where error is CancellationError || (error as? URLError)?.code == .cancelled {
            // The program has cancelled the request: the exchange is not recorded.
            throw error
        } catch {
            let nsError = error as NSError
            write(
                request,
                .failure(
                    domain: nsError.domain, code: nsError.code,
                    text: redaction.text(error.localizedDescription)),
                number: number)
            throw error
        }
    }
}

extension RecordedExchange.Request {
    /// Creates a redacted request.
    init(_ request: TestRequest, _ redaction: RecordingRedaction) {
        self.init(
            method: request.method, url: redaction.url(request.url),
            headers: redaction.headers(request.headers),
            body: redaction.body(request.body, type: request.headers["Content-Type"]))
    }
}
