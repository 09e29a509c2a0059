// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// The load of a stream task, which is its network work. It opens the connection, forwards the challenges of TLS to the
/// delegates, and ends the task when the stream has ended.
///
/// May be used on any thread.
final class StreamLoad: TaskLoad, StreamOwner {
    /// The comments name the possible next phases.
    private enum Phase: Sendable {
        case unstarted  // → running, ended
        case running(EventLoop, LoopBound<StreamDriver>)  // → ended
        case ended
    }

    private let stream: StreamCore
    private let host: String
    private let port: Int
    private let task: TaskCore
    private let context: SessionContext
    private let phase = Lock(Phase.unstarted)
    /// Passes the challenges of TLS to the delegates; nil before the start, and without a delegate that answers challenges.
    private let trust = Lock<TaskPeerVerifier?>(nil)

    /// - Parameters:
    ///   - stream: The task's stream.
    ///   - host: A name or an address.
    ///   - port: The port of the server.
    ///   - task: The task.
    ///   - context: The session's context, which the load keeps alive as long as the stream.
    init(_ stream: StreamCore, host: String, port: Int, task: TaskCore, context: SessionContext) {
        self.stream = stream
        self.host = host
        self.port = port
        self.task = task
        self.context = context
    }

    // MARK: called by the task

    func start() {
        // `profiles` is nil if the session's components cannot be created. Then `streamRoute` below throws. Without a delegate
        // that answers challenges, `trust` is nil, and the session's own evaluation decides.
        let profiles = context.engine.streamTLSProfiles
        let trust = task.challengedTask.flatMap { challenger in profiles?.verifier(asking: challenger) }
        self.trust.withLock { $0 = trust }
        let route: SessionEngine.StreamRoute
        do throws(TransportError) {
            route = try context.engine.streamRoute(host: host, port: port, for: trust)
        } catch {
            finish(URLError(error, url: nil))
            return
        }
        let loop = route.loop
        // `LoopBound` permits access to the driver only on the loop.
        let driver = LoopBound(sending: StreamDriver(on: loop, for: self), to: loop)
        let isStarted = phase.withLock { phase -> Bool in
            guard case .unstarted = phase else { return false }
            phase = .running(loop, driver)
            return true
        }
        // The task was cancelled meanwhile.
        guard isStarted else { return }
        stream.begin(driver, on: loop)
        let isAccepted = loop.execute {
            let dial = RawDial(
                to: route.origin, configuration: route.dialing, resolver: route.resolver, on: loop)
            driver.value.dial(dial) { connection in
                ConnectionWire(
                    connection,
                    .init(
                        profile: route.profile, verifier: trust, timeout: route.dialing.tlsHandshakeTimeout))
            }
        }
        if !isAccepted { finish(URLError(.shutDown, url: nil)) }
    }

    func cancel(_ error: URLError) {
        // Before the start, this ends the task. Afterwards the driver fails the stream, and then ends the task.
        if finish(error, onlyIfUnstarted: true) { return }
        onLoop { $0.fail(.taskEnded(StreamEnding(error: error))) }
    }

    /// Does nothing: the program's reads decide when bytes are read.
    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) { onLoop { $0.setSuspended(isSuspended) } }
    /// Does nothing: a stream has no priority.
    func setPriority(_ priority: Float) {}

    /// Runs a job with the driver on its loop. Does nothing before the start and after the end.
    private func onLoop(_ job: @escaping @Sendable (StreamDriver) -> Void) {
        guard case .running(let loop, let driver) = phase.withLock({ $0 }) else { return }
        // A loop that shuts down ends its connections, but not a connection that is still being dialed.
        if !loop.execute({ job(driver.value) }) { finish(URLError(.shutDown, url: nil)) }
    }

    // MARK: called by the stream's driver

    func post(_ job: @escaping @Sendable () -> Void) { stream.post(job) }

    func streamTransferred(received: Int, sent: Int) {
        task.state.withLock { $0.transfer.streamed(received: received, sent: sent) }
    }

    func streamClosed(_ half: StreamMachine.Half) {
        task.call { callback in
            guard let task = callback.task as? URLSessionStreamTask else { return }
            switch half {
            case .reading: callback.delegates.stream?.urlSession(callback.session, readClosedFor: task)
            case .writing: callback.delegates.stream?.urlSession(callback.session, writeClosedFor: task)
            }
        }
    }

    func streamCaptured(_ streams: CapturedStreams) {
        streams.passToDelegate(of: task)
        // The task completes without an error. The connection remains open for the streams.
        finish(nil)
    }

    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool) {
        finish(fault.map { error(for: $0) }, isReadToEnd: isReadToEnd)
    }

    /// The session's context, whose loops and TLS settings the connection uses.
    var retainedByCapturedStreams: (any Sendable)? { context }

    func error(for fault: StreamFault) -> any Error {
        guard case .connectionFailed(let cause) = fault, let profiles = context.engine.streamTLSProfiles
        else {
            return fault.error
        }
        // If the server was not trusted, the error contains the trust that was refused.
        return URLError(cause, url: nil).adding(profiles.userInfo(for: cause, of: trust.withLock { $0 }))
    }

    /// Ends the task. Only the first call has an effect; with `onlyIfUnstarted`, only before the start.
    ///
    /// - Returns: Whether this call has ended the task.
    @discardableResult
    private func finish(
        _ error: (any Error)?, isReadToEnd: Bool = false, onlyIfUnstarted: Bool = false
    ) -> Bool {
        let isFirst = phase.withLock { phase -> Bool in
            switch phase {
            case .ended: return false
            case .running where onlyIfUnstarted: return false
            case .running, .unstarted: break
            }
            phase = .ended
            return true
        }
        guard isFirst else { return false }
        // Later challenges of the connection are cancelled, because the task has ended.
        trust.withLock { $0 }?.end()
        stream.end(error ?? StreamFault.closed.error, isReadToEnd: isReadToEnd)
        // A stream task has no requests, so its metrics have no hops.
        task.driverEnded(
            error,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: task.created, completed: Date()))
        return true
    }
}

/// The sink of a stream task. A sink receives the response and the content of a task; this sink receives none, because
/// `StreamDriver` passes the bytes to the handlers of the reads.
final class StreamSink: TaskSink {
    private let stream: StreamCore

    init(_ stream: StreamCore) { self.stream = stream }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .skip }
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { .enough }

    /// Fails the queued operations. The load does that too, but a task that was never started has no load.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        stream.end(error ?? StreamFault.closed.error)
        return error
    }

    /// Fails the queued operations here too, because `ended` is not called for a task of an invalid session.
    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        stream.end(error ?? StreamFault.closed.error)
        context.delegates.task?.urlSession(context.session, task: context.task, didCompleteWithError: error)
    }
}
