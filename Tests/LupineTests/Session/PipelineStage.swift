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
    var spoken = Spoken.http1
    var startsImmediately = true
    var setUp = Session.RequestSetup.lazy
    var interceptor: (any RequestInterceptor)?
    var trust: ServerTrustManager?
    var redirects: (any RedirectHandler)?
    var caching: (any CachedResponseHandler)?
    var root = DispatchQueue(label: "test.root")
    var requestQueue: DispatchQueue?
    var serializationQueue: DispatchQueue?
    /// The certificate of an origin that uses TLS.
    var leaf: String?
    /// Further configuration of such an origin.
    var secure: (inout TLSServerConfiguration) -> Void = { _ in }
    /// The size of the kernel's buffers of the origin's connections. Small ones are for tests of how much a stalled peer can
    /// send: the receiver's own buffers grow with the data that arrives at once, to 16 MiB where `tcp_rmem` allows 32.
    var socketBuffers: Int32?
    /// The test's own delegate.
    var delegate: SessionDelegate?
    /// Further event monitors.
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
        if spoken == .http2 { configuration.lupine.httpVersions = .http2 }
        configure(configuration)
        return Session(
            configuration: configuration, delegate: delegate ?? SessionDelegate(), rootQueue: root,
            startRequestsImmediately: startsImmediately,
            requestSetup: setUp, requestQueue: requestQueue, serializationQueue: serializationQueue,
            interceptor: interceptor, serverTrustManager: trust, redirectHandler: redirects,
            cachedResponseHandler: caching, eventMonitors: [recorder] + monitors)
    }

    func makeOrigin() throws -> LupineOrigin.Origin {
        var serving = OriginConfiguration()
        serving.speak(spoken)
        serving.recordedBytes = 1 << 16
        serving.socketBuffers = socketBuffers
        if let leaf {
            var tls = TLSServerConfiguration(
                identities: [
                    TLSServerIdentity(
                        try TLSIdentity(
                            pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
                ])
            tls.speak(spoken)
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

    /// Returns a request whose response the origin holds: it opens the gate `asked` when the request arrives, and responds when
    /// `go` is opened.
    func held(
        _ answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        origin.answer(
            "GET", "/held", ScriptPlan(.signal("asked"), .waitForSignal("go"), .send(answer), .close))
        return get("/held", interceptor: interceptor)
    }

    func wasAsked() async { await origin.gate("asked").wait() }

    func letGo() { origin.gate("go").open() }

    /// Returns an iterator that exists before any content of its request arrives: earlier content would be buffered (C-45).
    func iterating<Element>(_ stream: () -> StreamOf<Element>) -> StreamOf<Element>.Iterator {
        session.rootQueue.suspend()
        defer { session.rootQueue.resume() }
        return stream().makeAsyncIterator()
    }

    /// Returns when the current work on the session's queues is done and the monitors have received its events.
    func settle() async { await session.settle(recorder) }

    /// The session's events so far.
    var events: String { recorder.text }
}

extension Session {
    /// Returns when the work on the queues has run, and the work that it added, several times over.
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
    /// Returns when the work that is on the queue now has run.
    func flush() async {
        await withCheckedContinuation { continuation in async(flags: .barrier) { continuation.resume() } }
    }
}

extension DataRequest {
    /// Adds a handler without a serializer and waits for its call.
    func answered(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDataResponse<Data?> {
        await called { answer in response(queue: queue) { answer($0) } }
    }

    /// Adds a handler with a serializer and waits for its call.
    func parsed(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDataResponse<Data> {
        await called { answer in responseData(queue: queue) { answer($0) } }
    }
}

/// Runs `body` with an origin and a session that uses it, and ends both.
func withPipeline(
    _ setUp: PipelineSetUp = PipelineSetUp(), over spoken: Spoken = .http1,
    _ body: (PipelineStage) async throws -> Void
) async throws {
    var setUp = setUp
    setUp.spoken = spoken
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
