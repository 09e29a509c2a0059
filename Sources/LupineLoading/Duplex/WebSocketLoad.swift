// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The load of a WebSocket task: a task driver performs the opening handshake, with redirects, challenges and cookies as for any
/// request; afterwards a `WebSocketDriver` exchanges messages until one side closes the WebSocket. This type is the client of the
/// task driver, so that the task does not end with the handshake but with the WebSocket.
///
/// May be used on any thread.
final class WebSocketLoad: TaskLoad, TaskDriverClient {
    private enum Stage: Sendable {
        case handshake  // → refused, cancelled, open, ended
        /// The status of the response is not 101 (over HTTP/2: not 2xx), or its handshake fields are invalid.
        case refused(WebSocketError)  // → cancelled, ended
        /// The task was cancelled: it ends with this error when the task driver has ended, and no WebSocket is opened.
        case cancelled(URLError)  // → ended
        /// The WebSocket is open. The metrics are those of the handshake, once the task driver has ended.
        case open(URLSessionTaskMetrics?)  // → ended
        case ended
    }

    private let socket: WebSocketCore
    private let client: TaskCore
    /// The task driver; nil once it has ended.
    private let driver = Lock<(any TaskLoad)?>(nil)
    private let stage = Lock(Stage.handshake)
    private let url: URL?
    private let offersCompression: Bool
    /// The handshake of the last request; each request has its own `Sec-WebSocket-Key`.
    private let handshake = Lock<WebSocketHandshake?>(nil)

    /// - Parameters:
    ///   - socket: The task's WebSocket.
    ///   - task: The task.
    ///   - offersCompression: Whether permessage-deflate is offered.
    ///   - makeDriver: Creates the task driver for a client. The second argument is a closure that adds the handshake fields to a
    ///     request; the driver calls it for each request.
    init(
        _ socket: WebSocketCore, _ task: TaskCore, offersCompression: Bool,
        makeDriver: (any TaskDriverClient, @escaping @Sendable (inout URLRequest) -> Void) -> any TaskLoad
    ) {
        self.offersCompression = offersCompression
        self.socket = socket
        client = task
        url = task.originalRequest?.url
        socket.setEndHandler { [weak self] ending in self?.ended(ending) }
        let taskDriver = makeDriver(self) { [weak self] request in self?.addHandshakeFields(to: &request) }
        driver.withLock { $0 = taskDriver }
    }

    // MARK: called by the task

    func start() { driver.withLock { $0 }?.start() }

    func cancel(_ error: URLError) {
        // The stage changes before the abort, because the connection may be opening on another thread. The outer nil means that
        // no WebSocket is open, the inner one that the task driver has not ended.
        let metrics = stage.withLock { stage -> URLSessionTaskMetrics?? in
            switch stage {
            case .handshake, .refused: stage = .cancelled(error)
            case .cancelled, .ended: break
            case .open(let metrics):
                stage = .ended
                return .some(metrics)
            }
            return nil
        }
        socket.abort(error)
        switch metrics {
        case .some(let metrics): finish(error, metrics)
        case nil: driver.withLock { $0 }?.cancel(error)
        }
    }

    func resumeReading() {}
    func setSuspended(_ isSuspended: Bool) {
        driver.withLock { $0 }?.setSuspended(isSuspended)
        socket.setSuspended(isSuspended)
    }
    func setPriority(_ priority: Float) { driver.withLock { $0 }?.setPriority(priority) }
    func prefer(_ loop: EventLoop) { driver.withLock { $0 }?.prefer(loop) }

    // MARK: called by the task driver

    var driverTask: URLSessionTask { client.driverTask }
    var driverIdentifier: Int? { client.driverIdentifier }
    var challengedTask: (any ServerTrustChallenger)? { client.challengedTask }
    var driverJudges: [ObjectToken] { client.driverJudges }
    var driverCredential: URLCredential? { client.driverCredential }
    func driverWillSend(_ request: URLRequest, authorization: String?) {
        client.driverWillSend(request, authorization: authorization)
    }
    func driverWaitsForConnectivity() { client.driverWaitsForConnectivity() }
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void
    ) { client.driverWillRedirect(response, to: request, reply: reply) }
    func driverFollowsRedirect(_ request: URLRequest) { client.driverFollowsRedirect(request) }
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { client.driverChallenged(challenge, reply: reply) }
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) { reply(nil) }
    func driverSent(total: Int64, expected: Int64) {}
    func driverReceivedInterimResponse(_ response: HTTPURLResponse) {
        client.driverReceivedInterimResponse(response)
    }
    func driverReceivedContent(_ data: Data) -> Demand { .enough }
    func driverSpliced(_ count: Int) -> Demand { .enough }
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(nil) }

    /// Called if the server did not switch protocols (U-8.3). The task gets the response, so that a retry can depend on it.
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan {
        refuse(.notSwitched(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        // The plan is not used: the content is skipped in any case.
        _ = client.driverReceivedResponse(response)
        return .skip
    }

    /// Makes the task fail with this fault when the task driver has ended.
    private func refuse(_ fault: WebSocketError) {
        stage.withLock { if case .handshake = $0 { $0 = .refused(fault) } }
    }

    /// Adds the handshake fields to a request. A caller's `Sec-WebSocket-Extensions` is replaced (U-8.1).
    private func addHandshakeFields(to request: inout URLRequest) {
        let key = WebSocketKey(UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        var handshake = WebSocketHandshake(key, deflate: offersCompression ? DeflateOffer() : nil)
        var fields = Fields()
        request.headerList.set("Sec-WebSocket-Extensions", nil)
        do throws(HTTPError) {
            if let offered = request.headerList["Sec-WebSocket-Protocol"] {
                try fields.append(.secWebSocketProtocol, offered)
            }
            try handshake.prepare(&fields)
        } catch {
            // The program's field is invalid; the task driver reports that when it sends the request.
        }
        for index in 0..<fields.count {
            request.headerList.set(fields.fieldName(at: index).description, fields.value(at: index))
        }
        self.handshake.withLock { $0 = handshake }
    }

    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler {
        let agreement: WebSocketAgreement
        do throws(WebSocketError) {
            guard let handshake = handshake.withLock({ $0 }) else { throw .notAnUpgradeRequest }
            agreement = try handshake.agreement(response.receivedHead)
        } catch {
            _ = client.driverReceivedResponse(response)
            refuse(error)
            connection.close()
            return ClosedUpgradeHandler()
        }
        let isOpened = stage.withLock { stage -> Bool in
            guard case .handshake = stage else { return false }
            stage = .open(nil)
            return true
        }
        guard isOpened else {
            connection.close()
            return ClosedUpgradeHandler()
        }
        _ = client.driverReceivedResponse(response)
        let webSocket = WebSocketDriver(
            over: UpgradedWire(connection, closeTimeout: .seconds(5)), agreement,
            messageLimit: socket.messageLimit, owner: socket)
        socket.open(webSocket, on: connection.loop) {
            client.call { context in
                guard let task = context.task as? URLSessionWebSocketTask else { return }
                context.delegates.webSocket?.urlSession(
                    context.session, webSocketTask: task, didOpenWithProtocol: agreement.subprotocol)
            }
        }
        return webSocket
    }

    /// Called when the task driver has ended. The task continues if the WebSocket is open.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        // The task driver is released outside of the lock.
        _ = driver.withLock { $0.take() }
        let failure = stage.withLock { stage -> URLError? in
            switch stage {
            case .open:
                stage = .open(metrics)
                return nil
            case .ended: return nil
            case .cancelled(let error):
                stage = .ended
                return error
            case .refused(let fault):
                stage = .ended
                return .loading(.badServerResponse, url: url, underlying: fault)
            case .handshake:
                stage = .ended
                // Also if the server has ended the connection instead of answering.
                guard let loading = error as? URLError, loading.code != .networkConnectionLost else {
                    return .loading(
                        .badServerResponse, url: url,
                        reason: error.map { "the web socket was not opened: \($0.localizedDescription)" }
                            ?? "the web socket was not opened: the server ended the connection",
                        underlying: error)
                }
                return loading
            }
        }
        guard let failure else { return }
        socket.abort(failure)
        client.driverEnded(failure, metrics)
    }

    /// Called on the delegate queue when the WebSocket has ended.
    private func ended(_ ending: WebSocketCore.Ending) {
        // The outer nil means that no WebSocket is open, the inner one that the task driver has not ended.
        let openMetrics = stage.withLock { stage -> URLSessionTaskMetrics?? in
            guard case .open(let metrics) = stage else { return nil }
            stage = .ended
            return .some(metrics)
        }
        guard case .some(let metrics) = openMetrics else { return }
        switch ending {
        case .closed(let closeStatus):
            client.call { context in
                guard let task = context.task as? URLSessionWebSocketTask else { return }
                context.delegates.webSocket?.urlSession(
                    context.session, webSocketTask: task, didCloseWith: closeStatus.code,
                    reason: closeStatus.reason)
            }
            finish(nil, metrics)
        case .failed(let error):
            finish(error, metrics)
        }
    }

    /// Completes the task. `metrics` are those of the handshake; nil if the task driver has not ended.
    private func finish(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics?) {
        let metrics =
            metrics?.lasting(until: Date())
            ?? URLSessionTaskMetrics(hops: [], redirectCount: 0, created: client.created, completed: Date())
        client.driverEnded(error, metrics)
    }
}

/// The sink of a WebSocket task. It receives no content: `WebSocketCore` delivers the messages.
final class WebSocketSink: TaskSink {
    private let socket: WebSocketCore

    init(_ socket: WebSocketCore) { self.socket = socket }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .skip }
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { .enough }

    /// Fails the waiting handlers here too, because a task that was never started has no load that does it.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        if let error { socket.abort(error) }
        return error
    }

    /// Fails the waiting handlers here, too: `ended` is not called for a task of an invalid session.
    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        if let error { socket.abort(error) }
        context.delegates.task?.urlSession(context.session, task: context.task, didCompleteWithError: error)
    }
}

/// The handler of a connection that was closed at once, because the handshake was invalid or the task had been cancelled.
private final class ClosedUpgradeHandler: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
