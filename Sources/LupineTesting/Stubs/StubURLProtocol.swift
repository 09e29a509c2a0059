// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineLoading
internal import LupineTransport

/// Answers the requests of a session without sockets. A configuration stores it as `lupine.protocolValue`, and
/// `StubURLProtocol` reads it as its `sessionValue`.
protocol StubResponder: Sendable {
    /// Whether the cookies of its responses have already been stored, so that the protocol does not store them.
    var hasStoredCookies: Bool { get }
    /// Returns the response; a thrown error fails the load. The protocol calls this method in a task, which it cancels when the
    /// load ends.
    ///
    /// - Parameters:
    ///   - request: The request with its whole body.
    ///   - original: The same request, as the session has created it.
    ///   - urlProtocol: The load to answer; it can forward challenges to the session.
    func answer(_ request: TestRequest, _ original: URLRequest, for urlProtocol: StubURLProtocol) async throws
        -> TestResponse
}

extension StubResponder {
    /// Makes this object answer all http and https requests of the configuration's sessions.
    func install(in configuration: URLSessionConfiguration) {
        configuration.protocolClasses = [StubURLProtocol.self]
        configuration.lupine.protocolValue = self
    }
}

/// Delivers responses to a session, including redirects and cookies.
///
/// The loading system starts and stops the protocol on a serial queue; the protocol calls its client from a task. It is
/// `@unchecked Sendable` because the base class cannot be checked: it stores only a lock, and its client may be called on any
/// thread.
final class StubURLProtocol: URLProtocol, @unchecked Sendable {
    /// The task that obtains and delivers the response; nil before the start and after the stop.
    private let deliveryTask = Lock<Task<Void, Never>?>(nil)

    override class func canInit(with request: URLRequest) -> Bool {
        ["http", "https"].contains(request.url?.scheme?.lowercased())
    }

    override func startLoading() {
        guard let responder = sessionValue as? any StubResponder, let url = request.url else {
            client?.urlProtocol(self, didFailWithError: URLError(.unsupportedURL))
            return
        }
        let original = request
        let testRequest = TestRequest(original, at: url, body: original.wholeBody())
        let newTask = Task {
            do {
                let response = try await responder.answer(testRequest, original, for: self)
                try await deliver(response, to: testRequest, original, responder)
            } catch {
                client?.urlProtocol(self, didFailWithError: error)
            }
        }
        deliveryTask.withLock { $0 = newTask }
    }

    override func stopLoading() { deliveryTask.withLock { $0.take() }?.cancel() }

    /// Passes a server's challenge to the session, whose rules and delegate decide about it. `reply` is called with the decision,
    /// but not after the load has ended.
    func forward(
        _ challenge: URLAuthenticationChallenge,
        _ reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        client?.urlProtocol(
            self,
            didReceive: URLAuthenticationChallenge(
                authenticationChallenge: challenge, sender: ReplyingSender(reply)))
    }

    /// Delivers a response to the client. Throws an error if the response simulates a failure.
    private func deliver(
        _ response: TestResponse, to testRequest: TestRequest, _ original: URLRequest,
        _ responder: any StubResponder
    ) async throws {
        try await response.awaitedSignal?.wait()
        // How the connection ends before the whole content has been sent; nil if all is sent.
        var earlyEnd: TestResponse.ConnectionEnd?
        switch response.delivery {
        case .whole: break
        // The number of octets is left to `sentPieces`.
        case .broken(_, let connectionEnd): earlyEnd = connectionEnd
        case .unanswered(let connectionEnd): return try finish(connectionEnd)
        case .garbage:
            throw URLError(.cannotParseResponse, stubbed: "the stub answers with garbage", testRequest.url)
        case .failed(let error): throw error
        }
        // The content is not decoded, so its expected length is that of the `Content-Length`.
        let head = try HTTPURLResponse(url: testRequest.url, head: response.head(), isDecoded: false)
        if !responder.hasStoredCookies { task?.storeCookies(of: head, to: original) }
        // The session counts the redirects, so the number here is 0.
        switch RedirectRule.verdict(
            on: head, to: original, task?.sessionOptions ?? URLSessionConfiguration.LupineOptions(),
            redirectCount: 0)
        {
        // There is no redirect to follow.
        case .none: break
        case .failure(let error): throw error
        // If the redirect is followed, the loading system ignores the following calls.
        case .proposal(let next):
            client?.urlProtocol(self, wasRedirectedTo: next.request, redirectResponse: head)
        }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        let sentPieces = testRequest.method == "HEAD" ? [] : response.sentPieces
        for piece in sentPieces {
            if case .wait(let signal) = piece { try await signal.wait() }
            if let octets = piece.octets { client?.urlProtocol(self, didLoad: octets) }
        }
        try finish(earlyEnd)
    }

    /// Ends the load: successfully for nil, or with an error for a closed or reset connection. For a stalled connection, the load
    /// does not end.
    private func finish(_ end: TestResponse.ConnectionEnd?) throws {
        switch end {
        case nil: client?.urlProtocolDidFinishLoading(self)
        case .closed:
            throw URLError(.networkConnectionLost, stubbed: "the stub closes the connection", request.url)
        case .reset:
            throw URLError(.networkConnectionLost, stubbed: "the stub resets the connection", request.url)
        case .stalled: break
        }
    }
}

/// Calls a closure with the answer to a challenge.
private final class ReplyingSender: NSObject, URLAuthenticationChallengeSender {
    private let reply: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(_ reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) {
        self.reply = reply
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        reply(.useCredential, credential)
    }
    // For URLSession, `useCredential` with a nil credential means to continue without one.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { reply(.useCredential, nil) }
    func cancel(_ challenge: URLAuthenticationChallenge) { reply(.cancelAuthenticationChallenge, nil) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        reply(.performDefaultHandling, nil)
    }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        reply(.rejectProtectionSpace, nil)
    }
}

extension TestResponse {
    /// Returns the head as a server sends it: with a `Content-Length`, and with status 500 in place of an invalid one. Throws for
    /// fields that cannot be sent.
    fileprivate func head() throws(HTTPError) -> ResponseHead {
        var fields = Fields()
        for field in headers.fields { try fields.append(try FieldName(field.name), field.value) }
        let length = pieces.compactMap(\.octets?.count).reduce(0, +)
        if !isStreamed, length > 0, !fields.contains(.contentLength) {
            try fields.append(.contentLength, "\(length)")
        }
        return ResponseHead(status: Status((100...999).contains(status) ? status : 500), fields: fields)
    }
}

extension URLRequest {
    /// Returns the body; a body stream is read to its end.
    fileprivate func wholeBody() -> Data {
        if let httpBody { return httpBody }
        guard let stream = httpBodyStream else { return Data() }
        stream.open()
        defer { stream.close() }
        var body = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe stream.read(&buffer, maxLength: buffer.count)
            // 0 is the end of the stream, and -1 an error: the body is what was read before.
            guard count > 0 else { return body }
            body += buffer[..<count]
        }
    }
}

extension URLError {
    /// Creates the error of a stub that simulates a bad connection, or of a session that a recorder cannot serve.
    init(_ code: Code, stubbed reason: String, _ url: URL?) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: reason]
        if let url { information[NSURLErrorFailingURLErrorKey] = url }
        self.init(code, userInfo: information)
    }
}
