// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request that opens a WebSocket connection (RFC 6455).
///
/// Slow handlers exert back pressure: while more than `StreamBacklog.highWater` bytes wait for handlers or in the buffers of
/// asynchronous sequences, the task reads no messages from the connection. These waiting bytes are the backlog.
///
/// May be used from any thread. The `stream…` methods add handlers, each of which receives all later events: the opening, the
/// messages, the closing and the end of the request. If a failed attempt is retried, the handlers receive the events of the next
/// attempt.
public final class WebSocketRequest: Request, @unchecked Sendable {
    /// An event of a connection, with its message before the conversion to a value.
    enum ConnectionEvent: Sendable {
        case connected(protocol: String?)
        case message(URLSessionWebSocketTask.Message)
        case disconnected(URLSessionWebSocketTask.CloseCode, reason: Data?)

        /// An estimate of the bytes of memory that a waiting message uses in addition to its content.
        private static let messageOverhead = 256

        /// The number of bytes that the backlog counts for the event while it waits for a handler.
        var weight: Int {
            switch self {
            case .connected, .disconnected: 0
            case .message(.data(let data)): data.count + Self.messageOverhead
            case .message(.string(let text)): text.utf8.count + Self.messageOverhead
            }
        }
    }

    /// A closure that passes events to a handler. Called on the root queue.
    struct EventConsumer: Sendable {
        let consume: @Sendable (WebSocketRequest, ConnectionEvent) -> Void
    }

    /// The mutable state of a WebSocket request, in addition to that of `Request`.
    struct SocketState {
        /// The consumers of all handlers; empty after the request has ended.
        var consumers: [EventConsumer] = []
        /// The task of the latest attempt.
        var task: URLSessionWebSocketTask?
        /// Messages that wait until there is a task.
        var unsentMessages: [OutgoingMessage] = []
        /// The automatic pings of the latest task's connection.
        var pingSchedule = PingSchedule()
        /// Whether handlers receive no further event except the end of the request, because it was cancelled.
        var deliversOnlyCompletion = false
        /// Whether the request has ended, so that no message can be sent.
        var hasEnded = false
        /// The backlog of all handlers together.
        fileprivate var backlog = StreamBacklog()
        /// Which task is held, so that it reads no messages.
        private var hold = TaskHold<URLSessionWebSocketTask>()
        /// Messages that are sent through tasks outside of the lock, in this order.
        fileprivate var sendings = OrderedActions<Sending>()

        /// Decides to hold the latest task if the backlog is full, or else to release the held task. Returns the decision, which the
        /// caller applies outside of the lock; nil if nothing changes.
        mutating func holdOrRelease() -> HoldDecision? {
            hold.decide(isFull: backlog.isFull, task)
        }
    }

    typealias HoldDecision = TaskHold<URLSessionWebSocketTask>.Decision

    /// Applies a decision. Does nothing if `decision` is nil.
    private func apply(_ decision: HoldDecision?) {
        guard let decision else { return }
        decision.task.holdMessages(decision.isHeld, decision: decision.number)
    }

    /// A message that is sent through a task.
    struct Sending: Sendable {
        fileprivate let message: OutgoingMessage
        fileprivate let task: URLSessionWebSocketTask
    }

    /// Sends a message, then those that other threads have enqueued in the meantime. Does nothing for nil.
    private func perform(_ sending: Sending?) {
        var sending = sending
        while let current = sending {
            current.message.send(through: current.task)
            sending = socketState.write { $0.sendings.next() }
        }
    }

    /// The value that each attempt converts to a `URLRequest`.
    public let convertible: any URLRequestConvertible
    /// The configuration of the connection.
    public let configuration: Configuration
    let socketState = Protected(SocketState())
    /// A serial queue on which messages are decoded in order. Its target is the session's serialization queue, which may be
    /// concurrent.
    let decodingQueue: DispatchQueue
    private let timer: PingTimer

    init(
        convertible: any URLRequestConvertible, configuration: Configuration,
        underlyingQueue: DispatchQueue, serializationQueue: DispatchQueue,
        eventMonitor: CompositeEventMonitor?, interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?, delegate: any RequestDelegate, timer: PingTimer
    ) {
        self.convertible = convertible
        self.configuration = configuration
        self.timer = timer
        decodingQueue = DispatchQueue(
            label: "\(serializationQueue.label).webSocket", target: serializationQueue)
        super.init(
            underlyingQueue: underlyingQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: delegate)
    }

    /// Calls the completion handlers of unsent messages with an error.
    deinit { failUnsentMessages(with: .explicitlyCancelled) }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    /// Returns a new task. Starts receiving from it, and sends the messages that wait for a task. If the `URLSession` was
    /// invalidated and therefore does not admit the task, only returns the task.
    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task = session.webSocketTask(with: handshakeRequest(request))
        if task.isUnadmitted { return task }
        task.maximumMessageSize = configuration.maximumMessageSize
        receive(from: task)
        // The waiting messages are enqueued under the lock, so that messages of other threads follow them. The old task and the
        // old array are returned, so that they are released outside the lock.
        let (sending, _, _) = socketState.write { state in
            var firstSending: Sending?
            for message in state.unsentMessages {
                let sending = state.sendings.enqueue(Sending(message: message, task: task))
                // `enqueue` returns a message at most once: this thread sends it and then the others.
                firstSending = firstSending ?? sending
            }
            let (oldTask, messages) = (state.task, state.unsentMessages)
            (state.task, state.unsentMessages) = (task, [])
            return (firstSending, oldTask, messages)
        }
        perform(sending)
        return task
    }

    /// Returns the request of the opening handshake (RFC 6455 §4.1): `request` with a WebSocket scheme and the offered
    /// subprotocol.
    private func handshakeRequest(_ request: URLRequest) -> URLRequest {
        var request = request
        if let url = request.url, var components = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = Self.webSocketSchemes[components.scheme?.lowercased() ?? ""]
        {
            components.scheme = scheme
            request.url = components.url ?? url
        }
        if let name = configuration.protocol { request.headers.update(.websocketProtocol(name)) }
        return request
    }

    /// The WebSocket scheme for each scheme of HTTP. URLs with other schemes are not changed.
    private static let webSocketSchemes = ["http": "ws", "https": "wss"]

    /// Prepares the request for another attempt.
    override func reset() {
        super.reset()
        updatePingSchedule(.stopped)
    }

    /// Releases the handlers and fails unsent messages when the request has ended.
    override func cleanup() {
        updatePingSchedule(.stopped)
        // The consumers retain the program's handlers. They are returned, so that they are released outside the lock.
        _ = socketState.write { state in
            state.hasEnded = true
            defer { state.consumers = [] }
            return state.consumers
        }
        failUnsentMessages(with: error ?? .explicitlyCancelled)
        super.cleanup()
    }

    /// Calls the completion handlers of all unsent messages with an error.
    private func failUnsentMessages(with error: AFError) {
        let messages = socketState.write { state in
            defer { state.unsentMessages = [] }
            return state.unsentMessages
        }
        for message in messages { message.fail(with: error) }
    }

    // MARK: closing and cancelling

    /// Closes the connection. The close frame follows the messages that were sent before, and the server may answer it. The
    /// request is then cancelled, but has no error. Has no effect if the request was cancelled or has finished.
    @discardableResult
    public func close(
        sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil
    ) -> Self {
        updatePingSchedule(.stopped)
        control.cancel(with: nil) { task in
            (task as? URLSessionWebSocketTask)?.cancel(with: closeCode, reason: reason)
        }
        return self
    }

    /// Cancels the request without a close frame. Handlers receive only the end of the request (`completed`), with the error
    /// `AFError.explicitlyCancelled` unless the request had failed before. Has no effect if the request was cancelled or has
    /// finished.
    @discardableResult
    public override func cancel() -> Self {
        updatePingSchedule(.stopped)
        // `close` does not set `deliversOnlyCompletion`: after it, handlers still receive the messages and the close of the
        // server.
        let wasCancelledNow = control.cancel(with: .explicitlyCancelled) != .ignore
        if wasCancelledNow {
            socketState.write { $0.deliversOnlyCompletion = true }
        }
        return self
    }

    // MARK: task callbacks, on the root queue

    /// The handshake has succeeded: the connection is open.
    func didOpen(with subprotocol: String?) {
        deliver(.connected(protocol: subprotocol))
        updatePingSchedule(.connected)
    }

    /// The connection was closed with this code. An empty reason is delivered as nil.
    func didClose(with code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        updatePingSchedule(.stopped)
        deliver(.disconnected(code, reason: reason.flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// Receives one message after the other, until receiving fails. The failure is ignored here, because the task also reports it
    /// when it ends.
    private func receive(from task: URLSessionWebSocketTask) {
        task.receive { [weak self, weak task] result in
            guard let self, let task, case .success(let message) = result else { return }
            // Reports of the program's actions, such as `suspend()`, precede the events that follow the actions.
            deliverPendingReports()
            deliver(.message(message))
            receive(from: task)
        }
    }

    /// Passes an event to all consumers, and adds its weight to the backlog once for each of them.
    private func deliver(_ event: ConnectionEvent) {
        let (consumers, decision) = socketState.write { state -> ([EventConsumer], HoldDecision?) in
            guard event.weight > 0 else { return (state.consumers, nil) }
            for _ in state.consumers { state.backlog.add(event.weight) }
            return (state.consumers, state.holdOrRelease())
        }
        apply(decision)
        for consumer in consumers { consumer.consume(self, event) }
    }

    /// Adds bytes to the backlog, or removes them if `bytes` is negative.
    func changeBacklog(by bytes: Int) {
        let decision = socketState.write { state in
            if bytes > 0 { state.backlog.add(bytes) } else { state.backlog.remove(-bytes) }
            return state.holdOrRelease()
        }
        apply(decision)
    }

    // MARK: sending

    /// A decision whether a message can be sent.
    private enum SendDecision {
        /// Send the message; nil if it waits for a task or another thread sends it.
        case accept(Sending?)
        /// The request has ended.
        case refuse
        /// There is another task than the one that was examined: examine this task, then decide again.
        case repeatDecision(URLSessionWebSocketTask?)
    }

    /// Sends a message, or stores it until there is a task.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - queue: The queue on which the handler is called.
    ///   - completionHandler: Called once: with success when the message was written, with an error if it cannot be written, and
    ///     with `AFError.explicitlyCancelled` if the request was cancelled or has finished.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let outgoing = OutgoingMessage(message: message, queue: queue, completionHandler: completionHandler)
        if isCancelled || isFinished { return outgoing.fail(with: .explicitlyCancelled) }
        // The state of the task is read outside the lock, and the decision is made under the lock. If there is another task by
        // then, the loop reads its state and decides again. The first iteration examines no task: it stores the message if there
        // is no task, or else finds out which task there is.
        var examinedTask: URLSessionWebSocketTask?
        while true {
            let canSend = examinedTask.map { $0.state != .completed } ?? false
            let decision = socketState.write { state -> SendDecision in
                if state.hasEnded { return .refuse }
                guard state.task === examinedTask else { return .repeatDecision(state.task) }
                if canSend, let examinedTask {
                    return .accept(state.sendings.enqueue(Sending(message: outgoing, task: examinedTask)))
                }
                // There is no task, or it has completed: the message waits for the task of an attempt that follows.
                state.unsentMessages.append(outgoing)
                return .accept(nil)
            }
            switch decision {
            case .accept(let sending): return perform(sending)
            case .refuse: return outgoing.fail(with: .explicitlyCancelled)
            case .repeatDecision(let task): examinedTask = task
            }
        }
    }

    /// Sends a ping, if the request is resumed and has a task.
    ///
    /// - Parameters:
    ///   - queue: The queue on which `onResponse` is called.
    ///   - onResponse: Called once, with the pong or with the reason why there is none.
    @preconcurrency
    public func sendPing(
        respondingOn queue: DispatchQueue = .main,
        onResponse: @escaping @Sendable (PingResponse) -> Void
    ) {
        guard isResumed, let task = socketState.read({ $0.task }) else {
            return queue.async { onResponse(.unsent) }
        }
        // The dates tell the program when the ping was sent. The clock measures the latency, because the date may be changed.
        let (start, clock) = (Date(), ContinuousClock())
        let startInstant = clock.now
        task.sendPing { error in
            let latency = (clock.now - startInstant) / .seconds(1)
            let pong = PingResponse.Pong(start: start, end: Date(), latency: latency)
            let response = error.map { PingResponse.error($0) } ?? .pong(pong)
            queue.async { onResponse(response) }
        }
    }

    /// Passes an event to the schedule of automatic pings, and performs the action that it returns.
    private func updatePingSchedule(_ event: PingSchedule.Event) {
        guard let interval = configuration.pingInterval else { return }
        switch socketState.write({ $0.pingSchedule.receive(event) }) {
        case .none: break
        case .wait(let number):
            timer.after(interval, on: underlyingQueue) { [weak self] in
                self?.updatePingSchedule(.intervalElapsed(number: number))
            }
        case .sendPing(let number):
            sendPing(respondingOn: underlyingQueue) { [weak self] response in
                switch response {
                case .pong: self?.updatePingSchedule(.pongReceived(number: number))
                case .error, .unsent: self?.updatePingSchedule(.pingFailed(number: number))
                }
            }
        }
    }
}
