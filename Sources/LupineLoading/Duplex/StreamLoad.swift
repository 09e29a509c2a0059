// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Carries out a stream task: opens the connection, forwards the questions of TLS, and ends the task when the stream has ended.
///
/// May be used on any thread.
final class StreamLoad: TaskLoad, StreamOwner {
    private enum Stage: Sendable {
        case fresh  // → running, ended
        case running(EventLoop, LoopBound<StreamDriver>)  // → ended
        case ended
    }

    private let stream: StreamCore
    private let host: String
    private let port: Int
    private let client: TaskCore
    private let context: SessionContext
    private let stage = Lock(Stage.fresh)
    private let trust = Lock<TaskTrust?>(nil)

    /// - Parameters:
    ///   - stream: The task's stream.
    ///   - host: A name or an address.
    ///   - context: The session's context; kept alive as long as the stream.
    init(_ stream: StreamCore, host: String, port: Int, task: TaskCore, context: SessionContext) {
        self.stream = stream
        self.host = host
        self.port = port
        client = task
        self.context = context
    }

    // MARK: the task's side

    func start() {
        let bridge = context.engine.streamTrust
        let trust = client.challengedTask.flatMap { verifier in bridge?.trust(asking: verifier) }
        self.trust.withLock { $0 = trust }
        let route: SessionEngine.StreamRoute
        do throws(TransportError) {
            route = try context.engine.streamRoute(host: host, port: port, for: trust)
        } catch {
            finish(URLError(error, url: nil))
            return
        }
        let loop = route.loop
        let conversation = LoopBound(sending: StreamDriver(on: loop, for: self), to: loop)
        let isWanted = stage.withLock { stage -> Bool in
            guard case .fresh = stage else { return false }
            stage = .running(loop, conversation)
            return true
        }
        guard isWanted else { return }
        stream.begin(conversation, on: loop)
        let isAccepted = loop.execute {
            let dial = RawDial(
                to: route.origin, configuration: route.dialing, resolver: route.resolver, on: loop)
            conversation.value.dial(dial) { connection in
                ConnectionWire(
                    connection,
                    .init(
                        profile: route.profile, verifier: trust, timeout: route.dialing.tlsHandshakeTimeout))
            }
        }
        if !isAccepted { finish(URLError(.shutDown, url: nil)) }
    }

    func cancel(_ error: URLError) {
        if finish(error, onlyIfFresh: true) { return }
        onLoop { $0.fail(.ended(StreamEnding(error: error))) }
    }

    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) { onLoop { $0.setSuspended(isSuspended) } }
    func setPriority(_ priority: Float) {}

    /// Runs a job on the conversation, if there is one.
    private func onLoop(_ job: @escaping @Sendable (StreamDriver) -> Void) {
        guard case .running(let loop, let conversation) = stage.withLock({ $0 }) else { return }
        // A loop that shuts down ends its connections, but not one that is still being dialed.
        if !loop.execute({ job(conversation.value) }) { finish(URLError(.shutDown, url: nil)) }
    }

    // MARK: the stream's side

    func post(_ job: @escaping @Sendable () -> Void) { stream.post(job) }

    func streamTransferred(received: Int, sent: Int) {
        client.state.withLock { state in
            state.counts.received += Int64(received)
            state.counts.sent += Int64(sent)
        }
    }

    func streamClosed(_ half: StreamMachine.Half) {
        client.call { stage in
            guard let task = stage.task as? URLSessionStreamTask else { return }
            switch half {
            case .reading: stage.delegates.stream?.urlSession(stage.session, readClosedFor: task)
            case .writing: stage.delegates.stream?.urlSession(stage.session, writeClosedFor: task)
            }
        }
    }

    func streamCaptured(_ streams: CapturedStreams) {
        streams.tell(client)
        finish(nil)
    }

    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool) {
        finish(fault.map { error(for: $0) }, isReadToEnd: isReadToEnd)
    }

    var streamKeeper: (any Sendable)? { context }

    func error(for fault: StreamFault) -> any Error {
        guard case .lost(let cause) = fault, let bridge = context.engine.streamTrust else {
            return fault.error
        }
        return URLError(cause, url: nil).adding(bridge.userInfo(for: cause, of: trust.withLock { $0 }))
    }

    /// Ends the task, once.
    ///
    /// - Returns: Whether this call ended it.
    @discardableResult
    private func finish(_ error: (any Error)?, isReadToEnd: Bool = false, onlyIfFresh: Bool = false) -> Bool {
        let isFirst = stage.withLock { stage -> Bool in
            switch stage {
            case .ended: return false
            case .running where onlyIfFresh: return false
            case .running, .fresh: break
            }
            stage = .ended
            return true
        }
        guard isFirst else { return false }
        trust.withLock { $0 }?.end()
        stream.end(error ?? StreamFault.closed.error, isReadToEnd: isReadToEnd)
        client.driverEnded(
            error,
            URLSessionTaskMetrics(hops: [], redirectCount: 0, created: client.created, completed: Date()))
        return true
    }
}

/// The sink of a stream task, whose bytes do not pass through it.
final class StreamSink: TaskSink {
    private let stream: StreamCore

    init(_ stream: StreamCore) { self.stream = stream }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .skip }
    func received(_ task: TaskCore, _ data: Data) -> Demand { .enough }

    /// A task that was never started has no load, so the waiting handlers are called here.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        stream.end(error ?? StreamFault.closed.error)
        return error
    }

    func completed(_ stage: CallbackContext, _ error: (any Error)?) {
        stream.end(error ?? StreamFault.closed.error)
        stage.delegates.task?.urlSession(stage.session, task: stage.task, didCompleteWithError: error)
    }
}
