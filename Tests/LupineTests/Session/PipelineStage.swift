// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

@testable import Lupine

/// The parameters of a test's session and origin.
struct PipelineSetUp {
    /// The HTTP version between the session and the origin.
    var testedHTTP = TestedHTTP.http1
    var startsImmediately = true
    var requestSetup = Session.RequestSetup.lazy
    var interceptor: (any RequestInterceptor)?
    var trust: ServerTrustManager?
    var redirects: (any RedirectHandler)?
    var caching: (any CachedResponseHandler)?
    var root = DispatchQueue(label: "test.root")
    var requestQueue: DispatchQueue?
    var serializationQueue: DispatchQueue?
    /// The name of the origin's certificate among the fixtures; nil for an origin without TLS.
    var leaf: String?
    /// Further configuration of an origin with TLS.
    var secure: (inout TLSServerConfiguration) -> Void = { _ in }
    /// The size of the kernel's buffers of the origin's connections. Tests of how much data a peer can send to a stalled receiver
    /// set a small size: the kernel lets the receiver's buffers grow, to 16 MiB if `tcp_rmem` allows 32.
    var socketBuffers: Int32?
    /// The delegate; nil for a `SessionDelegate`.
    var delegate: SessionDelegate?
    /// The event monitors besides `recorder`.
    var monitors: [any EventMonitor] = []
    /// The monitor that records the events.
    var recorder = EventRecorder()
    var configure: (URLSessionConfiguration) -> Void = { _ in }

    /// Returns a session that resolves every name to the origin.
    func session(of origin: LupineOrigin.Origin) throws -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        // On a slow or busy machine no time-out may expire except those that the test sets.
        configuration.timeoutIntervalForRequest = 3_600
        configuration.lupine.tls.handshakeTimeout = .seconds(3_600)
        configuration.lupine.addressOverrides = [.init(host: "*", port: origin.port): [origin.address]]
        if leaf != nil {
            configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        }
        if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
        configure(configuration)
        return Session(
            configuration: configuration, delegate: delegate ?? SessionDelegate(), rootQueue: root,
            startRequestsImmediately: startsImmediately,
            requestSetup: requestSetup, requestQueue: requestQueue, serializationQueue: serializationQueue,
            interceptor: interceptor, serverTrustManager: trust, redirectHandler: redirects,
            cachedResponseHandler: caching, eventMonitors: [recorder] + monitors)
    }

    func makeOrigin() throws -> LupineOrigin.Origin {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        serving.recordedBytes = 1 << 16
        serving.socketBufferSize = socketBuffers
        if let leaf {
            var tls = TLSServerConfiguration(
                identities: [
                    TLSServerIdentity(
                        try TLSIdentity(
                            pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
                ])
            tls.enable(testedHTTP)
            secure(&tls)
            serving.tls = tls
        }
        return try LupineOrigin.Origin.start(configuration: serving)
    }
}

extension PipelineSetUp {
    /// A set-up whose origin has small buffers for data that the peer does not read.
    static var narrow: PipelineSetUp { PipelineSetUp(socketBuffers: 1 << 16) }
}

/// A session whose events are recorded, and the origin that it uses.
struct PipelineStage {
    let session: Session
    let origin: LupineOrigin.Origin
    let recorder: EventRecorder
    let scheme: String

    /// Returns a URL of the origin.
    func url(_ path: String = "/get", host: String = "origin.test") -> String {
        "\(scheme)://\(host):\(origin.port)\(path)"
    }

    /// Returns a request that the origin answers.
    func get(
        _ path: String = "/get", interceptor: (any RequestInterceptor)? = nil, resumes: Bool? = nil
    ) -> DataRequest {
        session.request(url(path), interceptor: interceptor, shouldAutomaticallyResume: resumes)
    }

    /// Returns a request whose response the origin delays until `sendResponse()` is called.
    func held(
        _ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        origin.answer(
            "GET", "/held", ScriptPlan(.signal("asked"), .waitForSignal("go"), .send(answer), .close))
        return get("/held", interceptor: interceptor)
    }

    /// Waits until the origin has received the request of `held`.
    func waitForRequest() async { await origin.gate("asked").wait() }

    /// Lets the origin send the response of `held`.
    func sendResponse() { origin.gate("go").open() }

    /// Returns an iterator of a request's stream. The root queue is suspended until the iterator exists: content that arrives
    /// earlier would be buffered (C-45).
    func iterating<Element>(_ stream: () -> StreamOf<Element>) -> StreamOf<Element>.Iterator {
        session.rootQueue.suspend()
        defer { session.rootQueue.resume() }
        return stream().makeAsyncIterator()
    }

    /// Waits until the present work on the session's queues is done and the recorder has received its events.
    func settle() async { await session.settle(recorder) }

    /// The session's events so far.
    var events: String { recorder.text }
}

extension Session {
    /// Waits until the present work on the session's queues is done, then the work that it has enqueued, and so on four times.
    func settle(_ recorder: EventRecorder? = nil) async {
        for _ in 0..<4 {
            await requestQueue.flush()
            await serializationQueue.flush()
            await rootQueue.flush()
        }
        await recorder?.queue.flush()
    }
}

extension DispatchQueue {
    /// Waits until all blocks that are on the queue now have run.
    func flush() async {
        await withCheckedContinuation { continuation in async(flags: .barrier) { continuation.resume() } }
    }
}

extension DataRequest {
    /// Adds a response handler without a serializer, and returns the response that it receives.
    func answered(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDataResponse<Data?> {
        await called { answer in response(queue: queue) { answer($0) } }
    }

    /// Adds a response handler with a serializer, and returns the response that it receives.
    func parsed(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDataResponse<Data> {
        await called { answer in responseData(queue: queue) { answer($0) } }
    }
}

/// Runs `body` with an origin and a session that uses it, and ends both.
func withPipeline(
    _ setUp: PipelineSetUp = PipelineSetUp(), over testedHTTP: TestedHTTP = .http1,
    _ body: (PipelineStage) async throws -> Void
) async throws {
    var setUp = setUp
    setUp.testedHTTP = testedHTTP
    let origin = try setUp.makeOrigin()
    let session = try setUp.session(of: origin)
    let stage = PipelineStage(
        session: session, origin: origin, recorder: setUp.recorder,
        scheme: setUp.leaf == nil ? "http" : "https")
    let result: Result<Void, any Error>
    do { result = .success(try await body(stage)) } catch { result = .failure(error) }
    session.session.invalidateAndCancel()
    await origin.shutdown()
    (setUp.interceptor as? ScriptedInterceptor)?.releaseRecords()
    try result.get()
}
