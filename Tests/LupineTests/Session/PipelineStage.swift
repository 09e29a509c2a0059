// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

@testable import Lupine

/// What a session of a test is made with.
struct PipelineSetUp {
    /// What the session and the origin speak with each other.
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
    /// The certificate of an origin that speaks TLS.
    var leaf: String?
    /// What else such an origin is to do.
    var secure: (inout TLSServerConfiguration) -> Void = { _ in }
    /// The kernel's buffers of the origin's connections: small ones where a test says how much a peer that is held up may send,
    /// for the receiver's own grow with what comes at once, to 16 MiB where `tcp_rmem` allows 32.
    var socketBuffers: Int32?
    /// A delegate of the test's own.
    var delegate: SessionDelegate?
    /// Who hears of events besides.
    var monitors: [any EventMonitor] = []
    /// What the events are noted by.
    var recorder = EventRecorder()
    var configure: (URLSessionConfiguration) -> Void = { _ in }

    /// A session that finds the origin under every name.
    func session(of origin: LupineOrigin.Origin) throws -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        // No time-out strikes on a machine that is slow or busy, but for those that the test sets.
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
    /// With an origin that has little room for what nobody reads.
    static var narrow: PipelineSetUp { PipelineSetUp(socketBuffers: 1 << 16) }
}

/// A pipeline's session whose events are noted, and the origin that it talks to.
struct PipelineStage {
    let session: Session
    let origin: LupineOrigin.Origin
    let recorder: EventRecorder
    let scheme: String

    /// An address of the origin's.
    func url(_ path: String = "/get", host: String = "origin.test") -> String {
        "\(scheme)://\(host):\(origin.port)\(path)"
    }

    /// A request that the origin answers.
    func get(
        _ path: String = "/get", interceptor: (any RequestInterceptor)? = nil, resumes: Bool? = nil
    ) -> DataRequest {
        session.request(url(path), interceptor: interceptor, shouldAutomaticallyResume: resumes)
    }

    /// A request whose answer the origin holds: `asked` is opened when it has come, and it is answered when `go` is.
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

    /// An iteration that has begun before any content of its request comes: what comes earlier is gathered (C-45).
    func iterating<Element>(_ stream: () -> StreamOf<Element>) -> StreamOf<Element>.Iterator {
        session.rootQueue.suspend()
        defer { session.rootQueue.resume() }
        return stream().makeAsyncIterator()
    }

    /// Returns when everything that is under way on the session's queues has been done, and the monitors have heard of it.
    func settle() async { await session.settle(recorder) }

    /// The session's events so far.
    var events: String { recorder.text }
}

extension Session {
    /// Returns when what is on the queues now has run, with what that put there, a few times over.
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
    /// Returns when what is on the queue now has run.
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

/// Runs `body` with an origin and a session that talks to it, and ends both.
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
    (setUp.interceptor as? ScriptedInterceptor)?.forget()
    try result.get()
}
