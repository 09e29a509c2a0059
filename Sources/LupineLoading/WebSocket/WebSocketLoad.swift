// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport

/// Carries a web socket task out: the handshake is a driver's, with redirects, challenges and cookies as for any request;
/// behind it the socket lives until one side closes. It stands between the driver and the task, whose end is the socket's.
///
/// Any thread.
final class WebSocketLoad: TaskLoad, TaskDriverClient {
    private enum Stage: Sendable {
        case handshake  // → refused, cancelled, open, ended
        /// Answered with another status than 101 (over HTTP/2: than 2xx), or with one that does not fit.
        case refused(WebSocketError)  // → cancelled, ended
        /// The task is to end with this when the driver has ended; nothing is opened any more.
        case cancelled(URLError)  // → ended
        case open(URLSessionTaskMetrics?)  // → ended
        case ended
    }

    private let socket: WebSocketCore
    private let client: TaskCore
    private let driver = Lock<(any TaskLoad)?>(nil)
    private let stage = Lock(Stage.handshake)
    private let url: URL?
    private let offersCompression: Bool
    /// The handshake of the hop that was sent last: keys are used once.
    private let handshake = Lock<WebSocketHandshake?>(nil)

    /// - Parameters:
    ///   - socket: The task's socket.
    ///   - task: The task.
    ///   - offersCompression: Whether permessage-deflate is offered.
    ///   - makeDriver: Makes what does the handshake, for a client, with what each hop's request is to be given.
    init(
        _ socket: WebSocketCore, _ task: TaskCore, offersCompression: Bool,
        makeDriver: (any TaskDriverClient, @escaping @Sendable (inout URLRequest) -> Void) -> any TaskLoad
    ) {
        self.offersCompression = offersCompression
        self.socket = socket
        client = task
        url = task.originalRequest?.url
        socket.attach(onEnd: { [weak self] ending in self?.ended(ending) })
        let made = makeDriver(self) { [weak self] request in self?.dress(&request) }
        driver.withLock { $0 = made }
    }

    // MARK: the task's side

    func start() { driver.withLock { $0 }?.start() }

    func cancel(_ error: URLError) {
        // Before anything else is told: the connection may be opening just now.
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
        socket.setHeld(isSuspended)
    }
    func setPriority(_ priority: Float) { driver.withLock { $0 }?.setPriority(priority) }
    func prefer(_ loop: EventLoop) { driver.withLock { $0 }?.prefer(loop) }

    // MARK: the driver's side

    var driverTask: URLSessionTask { client.driverTask }
    var driverIdentifier: Int? { client.driverIdentifier }
    var driverAsker: (any ServerTrustAsker)? { client.driverAsker }
    var driverJudges: [ObjectToken] { client.driverJudges }
    var driverCredential: URLCredential? { client.driverCredential }
    func driverSends(_ request: URLRequest, authorization: String?) {
        client.driverSends(request, authorization: authorization)
    }
    func driverWaitsForConnectivity() { client.driverWaitsForConnectivity() }
    func driverRedirects(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void
    ) { client.driverRedirects(response, to: request, reply: reply) }
    func driverFollows(_ request: URLRequest) { client.driverFollows(request) }
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { client.driverChallenged(challenge, reply: reply) }
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void) { reply(nil) }
    func driverSent(total: Int64, expected: Int64) {}
    func driverInterim(_ response: HTTPURLResponse) { client.driverInterim(response) }
    func driverReceived(_ data: Data) -> Demand { .enough }
    func driverSpliced(_ count: Int) -> Demand { .enough }
    func driverCaches(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void
    ) { reply(nil) }

    /// No web socket (U-8.3): the response tells why, for whoever decides on another attempt.
    func driverResponse(_ response: URLResponse) -> HopPlan {
        refuse(.notSwitched(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        _ = client.driverResponse(response)
        return .skip
    }

    private func refuse(_ fault: WebSocketError) {
        stage.withLock { if case .handshake = $0 { $0 = .refused(fault) } }
    }

    /// Gives a request what makes it a handshake. Of the extensions only what is ours stays (U-8.1).
    private func dress(_ request: inout URLRequest) {
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
            // A field that cannot be sent: the load says so when it sends the request.
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
            _ = client.driverResponse(response)
            refuse(error)
            connection.close()
            return RefusedConversation()
        }
        let opens = stage.withLock { stage -> Bool in
            guard case .handshake = stage else { return false }
            stage = .open(nil)
            return true
        }
        guard opens else {
            connection.close()
            return RefusedConversation()
        }
        _ = client.driverResponse(response)
        let conversation = WebSocketConversation(
            over: UpgradedWire(connection, patience: .seconds(5)), agreement,
            messageLimit: socket.messageLimit, owner: socket)
        socket.open(conversation, on: connection.loop) {
            client.call { stage in
                guard let task = stage.task as? URLSessionWebSocketTask else { return }
                stage.delegates.webSocket?.urlSession(
                    stage.session, webSocketTask: task, didOpenWithProtocol: agreement.subprotocol)
            }
        }
        return conversation
    }

    /// The handshake is over. With a socket that is open the task goes on.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
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

    /// The socket is over, on the delegate queue.
    private func ended(_ ending: WebSocketCore.Ending) {
        let found = stage.withLock { stage -> URLSessionTaskMetrics?? in
            guard case .open(let metrics) = stage else { return nil }
            stage = .ended
            return .some(metrics)
        }
        guard case .some(let metrics) = found else { return }
        switch ending {
        case .closed(let closure):
            client.call { stage in
                guard let task = stage.task as? URLSessionWebSocketTask else { return }
                stage.delegates.webSocket?.urlSession(
                    stage.session, webSocketTask: task, didCloseWith: closure.code,
                    reason: closure.reason)
            }
            finish(nil, metrics)
        case .failed(let error):
            finish(error, metrics)
        }
    }

    private func finish(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics?) {
        let metrics =
            metrics?.lasting(until: Date())
            ?? URLSessionTaskMetrics(hops: [], redirectCount: 0, created: client.created, completed: Date())
        client.driverEnded(error, metrics)
    }
}

/// A web socket task's content goes another way.
final class WebSocketSink: TaskSink {
    private let socket: WebSocketCore

    init(_ socket: WebSocketCore) { self.socket = socket }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan { .skip }
    func received(_ task: TaskCore, _ data: Data) -> Demand { .enough }

    /// Of a task that was never started nobody has answered what was asked for.
    func ended(_ task: TaskCore, _ error: (any Error)?) -> (any Error)? {
        if let error { socket.abort(error) }
        return error
    }

    func completed(_ stage: TaskStage, _ error: (any Error)?) {
        if let error { socket.abort(error) }
        stage.delegates.task?.urlSession(stage.session, task: stage.task, didCompleteWithError: error)
    }
}

/// Nobody listens: the server's answer was none that a web socket can begin with, or it came too late.
private final class RefusedConversation: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
