// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// The load of a WebSocket task, which is its network work.
///
/// A task driver performs the opening handshake, with redirects, challenges and cookies as for any request. Afterwards a
/// `WebSocketDriver` exchanges messages until one side closes the WebSocket. The task driver reports its progress to this type,
/// which forwards most reports to the task. So the task does not end with the handshake but with the WebSocket.
///
/// May be used on any thread.
final class WebSocketLoad: TaskLoad, TaskDriverClient {
    /// The comments name the possible next phases.
    private enum Phase: Sendable {
        /// The task driver performs the opening handshake.
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
    /// The task, to which the task driver's reports are forwarded.
    private let client: TaskCore
    /// The task driver; nil once it has ended.
    private let driver = Lock<(any TaskLoad)?>(nil)
    private let phase = Lock(Phase.handshake)
    private let url: URL?
    private let offersCompression: Bool
    /// How long each step of the closing handshake may take.
    private static let closeTimeout = Duration.seconds(5)
    /// The handshake of the last request. A redirect or a challenge leads to a new request, with a new `Sec-WebSocket-Key`.
    private let handshake = Lock<WebSocketClientHandshake?>(nil)

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
        // The phase changes before the abort, so that another thread does not open the WebSocket meanwhile. Of the result, the
        // outer nil means that no WebSocket is open, the inner nil that the task driver has not ended.
        let metrics = phase.withLock { phase -> URLSessionTaskMetrics?? in
            switch phase {
            case .handshake, .refused: phase = .cancelled(error)
            case .cancelled, .ended: break
            case .open(let metrics):
                phase = .ended
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

    /// Does nothing: the program's calls of `receive` decide when messages are read.
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
    // The handshake has no body.
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) { reply(nil) }
    func driverSent(total: Int64, expected: Int64) {}
    func driverReceivedInterimResponse(_ response: HTTPURLResponse) {
        client.driverReceivedInterimResponse(response)
    }
    // The content of a refused handshake is not delivered, and no response is cached.
    func driverReceivedContent(_ data: Data) -> Demand { .enough }
    func driverSpliced(_ count: Int) -> Demand { .enough }
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(nil) }

    /// Called if the server has answered without switching protocols (U-8.3). The task gets the response, so that a retry can
    /// depend on it.
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan {
        refuse(.notSwitched(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        // The result, what to do with the content, is not used: the content is always skipped.
        _ = client.driverReceivedResponse(response)
        return .skip
    }

    /// Makes the task fail with this fault when the task driver has ended.
    private func refuse(_ fault: WebSocketError) {
        phase.withLock { if case .handshake = $0 { $0 = .refused(fault) } }
    }

    /// Adds the handshake fields to a request. Replaces the program's `Sec-WebSocket-Extensions` (U-8.1), because this type
    /// negotiates the extensions.
    private func addHandshakeFields(to request: inout URLRequest) {
        let key = WebSocketKey(UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        var handshake = WebSocketClientHandshake(key, deflate: offersCompression ? DeflateOffer() : nil)
        var fields = Fields()
        // Nil removes the field.
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

    /// Called if the server has switched protocols. Opens the WebSocket, unless the handshake is invalid or the task was
    /// cancelled.
    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler {
        let agreement: WebSocketAgreement
        do throws(WebSocketError) {
            // Nil if no handshake fields were added to a request.
            guard let handshake = handshake.withLock({ $0 }) else { throw .notAnUpgradeRequest }
            agreement = try handshake.agreement(response.receivedHead)
        } catch {
            // The result is not used: the content of a refused handshake is always skipped.
            _ = client.driverReceivedResponse(response)
            refuse(error)
            connection.close()
            return ClosedUpgradeHandler()
        }
        let isOpened = phase.withLock { phase -> Bool in
            guard case .handshake = phase else { return false }
            phase = .open(nil)
            return true
        }
        guard isOpened else {
            // The task was cancelled meanwhile.
            connection.close()
            return ClosedUpgradeHandler()
        }
        // The result is not used, because a switched connection has no content.
        _ = client.driverReceivedResponse(response)
        let webSocket = WebSocketDriver(
            over: UpgradedWire(connection, closeTimeout: Self.closeTimeout), agreement,
            messageLimit: socket.messageLimit, owner: socket)
        // The closure is called at once, unless the WebSocket has ended already.
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
        // The locked block returns the task driver, so that it is released outside of the lock.
        _ = driver.withLock { $0.take() }
        let failure = phase.withLock { phase -> URLError? in
            switch phase {
            case .open:
                phase = .open(metrics)
                return nil
            case .ended: return nil
            case .cancelled(let error):
                phase = .ended
                return error
            case .refused(let fault):
                phase = .ended
                return .loading(.badServerResponse, url: url, underlying: fault)
            case .handshake:
                phase = .ended
                // A server that closes the connection instead of answering refuses the handshake too.
                guard let urlError = error as? URLError, urlError.code != .networkConnectionLost else {
                    return .loading(
                        .badServerResponse, url: url,
                        reason: error.map { "the web socket was not opened: \($0.localizedDescription)" }
                            ?? "the web socket was not opened: the server ended the connection",
                        underlying: error)
                }
                return urlError
            }
        }
        guard let failure else { return }
        socket.abort(failure)
        client.driverEnded(failure, metrics)
    }

    /// Called on the delegate queue when the WebSocket has ended.
    private func ended(_ ending: WebSocketCore.Ending) {
        // The outer nil means that no WebSocket is open, the inner nil that the task driver has not ended.
        let openMetrics = phase.withLock { phase -> URLSessionTaskMetrics?? in
            guard case .open(let metrics) = phase else { return nil }
            phase = .ended
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

    /// Completes the task. `metrics` are those of the handshake; nil if the task driver has not ended. The metrics of the task
    /// last until now.
    private func finish(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics?) {
        let taskMetrics =
            metrics?.extended(until: Date())
            ?? URLSessionTaskMetrics(hops: [], redirectCount: 0, created: client.created, completed: Date())
        client.driverEnded(error, taskMetrics)
    }
}

/// The sink of a WebSocket task. A sink receives the response and the content of a task; this sink receives no content, because
/// `WebSocketCore` delivers the messages.
final class WebSocketSink: TaskSink {
    private let socket: WebSocketCore

    init(_ socket: WebSocketCore) { self.socket = socket }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .skip }
    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { .enough }

    /// Fails the handlers that wait. The load does that too, but a task that was never started has no load.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        if let error { socket.abort(error) }
        return error
    }

    /// Fails the handlers that wait here too, because `ended` is not called for a task of an invalid session.
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
