// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request that opens a WebSocket connection (RFC 6455).
///
/// Slow handlers exert back pressure: while more than `StreamBacklog.highWater` bytes wait for them or in the buffers of
/// asynchronous sequences, the connection's messages are not read.
///
/// May be used from any thread. The `stream…` methods add handlers, each of which receives all later events: the opening, the
/// messages, the closing and the end of the request. If a failed attempt is retried, the handlers receive the events of the next
/// attempt.
public final class WebSocketRequest: Request, @unchecked Sendable {
    /// An event of a connection.
    enum ConnectionEvent: Sendable {
        case connected(protocol: String?)
        case message(URLSessionWebSocketTask.Message)
        case disconnected(URLSessionWebSocketTask.CloseCode, reason: Data?)

        /// An estimate of the bytes that it takes to keep a message, in addition to its content.
        private static let messageOverhead = 256

        /// The number of bytes for which the event counts in the backlog while it waits for a handler.
        var weight: Int {
            switch self {
            case .connected, .disconnected: 0
            case .message(.data(let data)): data.count + Self.messageOverhead
            case .message(.string(let text)): text.utf8.count + Self.messageOverhead
            }
        }
    }

    /// A consumer of events, called on the root queue.
    struct EventConsumer: Sendable {
        let consume: @Sendable (WebSocketRequest, ConnectionEvent) -> Void
    }

    /// The mutable state in addition to that of `Request`.
    struct SocketState {
        /// The consumers of all handlers; emptied when the request has ended.
        var consumers: [EventConsumer] = []
        /// The task of the latest attempt.
        var task: URLSessionWebSocketTask?
        /// Messages that wait for a task.
        var unsent: [OutgoingMessage] = []
        var pings = PingSchedule()
        /// Whether handlers receive no more messages and no close, because the request was cancelled.
        var isMuted = false
        /// Whether the request has ended: nothing can be sent any more.
        var hasEnded = false
        /// The backlog of all handlers together.
        fileprivate var backlog = StreamBacklog()
        /// The task whose messages are not read at present.
        private var heldTask: URLSessionWebSocketTask?
        /// Actions to be performed on tasks, outside of the lock and in this order.
        fileprivate var actions = OrderedActions<Action>()

        /// Decides to hold the messages of the latest task if the backlog is full, otherwise to release the held task. Returns
        /// the action for `perform(_:)`; nil if there is none or if another thread performs it.
        mutating func holdOrRelease() -> Action? {
            if backlog.isFull {
                guard let task, task !== heldTask else { return nil }
                heldTask = task
                return actions.enqueue(.hold(task))
            }
            guard let released = heldTask.take() else { return nil }
            return actions.enqueue(.release(released))
        }
    }

    /// An action on a task.
    enum Action: Sendable {
        /// Stops reading the task's messages.
        case hold(URLSessionWebSocketTask)
        /// Reads the task's messages again.
        case release(URLSessionWebSocketTask)
        case send(OutgoingMessage, through: URLSessionWebSocketTask)

        fileprivate func perform() {
            switch self {
            case .hold(let task): task.holdMessages(true)
            case .release(let task): task.holdMessages(false)
            case .send(let message, let task): message.send(through: task)
            }
        }
    }

    /// Performs an action, then the actions that are decided meanwhile. Does nothing for nil.
    private func perform(_ action: Action?) {
        var action = action
        while let current = action {
            current.perform()
            action = socketState.write { $0.actions.next() }
        }
    }

    /// The value that each attempt converts to a `URLRequest`.
    public let convertible: any URLRequestConvertible
    /// The configuration of the connection.
    public let configuration: Configuration
    let socketState = Protected(SocketState())
    /// A serial queue on which messages are decoded. It targets the serialization queue, which need not be serial.
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

    /// Completes the messages that no task has sent with an error.
    deinit { failUnsentMessages(with: .explicitlyCancelled) }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    /// Returns a new task, which receives messages at once and sends those that wait for a task. It does neither if the
    /// `URLSession` no longer accepts tasks.
    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task = session.webSocketTask(with: handshakeRequest(request))
        if task.isUnadmitted { return task }
        task.maximumMessageSize = configuration.maximumMessageSize
        receive(from: task)
        // The messages become actions, so that messages sent meanwhile follow them. The replaced values are returned, so that
        // they are released outside the lock.
        let (action, _, _) = socketState.write { state in
            var firstAction: Action?
            for message in state.unsent {
                let action = state.actions.enqueue(.send(message, through: task))
                firstAction = firstAction ?? action
            }
            let (oldTask, messages) = (state.task, state.unsent)
            (state.task, state.unsent) = (task, [])
            return (firstAction, oldTask, messages)
        }
        perform(action)
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

    private static let webSocketSchemes = ["http": "ws", "https": "wss"]

    override func reset() {
        super.reset()
        schedulePings(.stop)
    }

    override func cleanup() {
        schedulePings(.stop)
        // The consumers retain the program's handlers: they are returned, so that they are released outside the lock.
        _ = socketState.write { state in
            state.hasEnded = true
            defer { state.consumers = [] }
            return state.consumers
        }
        failUnsentMessages(with: error ?? .explicitlyCancelled)
        super.cleanup()
    }

    private func failUnsentMessages(with error: AFError) {
        let messages = socketState.write { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        for message in messages { message.fail(with: error) }
    }

    // MARK: closing and cancelling

    /// Closes the connection. The close frame follows the messages sent before, and the server may answer it. The request is then
    /// cancelled, but has not failed. Has no effect once the request was cancelled or has finished.
    @discardableResult
    public func close(
        sending closeCode: URLSessionWebSocketTask.CloseCode, reason: Data? = nil
    ) -> Self {
        schedulePings(.stop)
        cancel(with: nil) { task in
            (task as? URLSessionWebSocketTask)?.cancel(with: closeCode, reason: reason)
        }
        return self
    }

    /// Cancels the request without notifying the server: handlers receive no more messages and no close, only the end, with
    /// `AFError.explicitlyCancelled` unless the request had failed before. Has no effect once it was cancelled or has finished.
    @discardableResult
    public override func cancel() -> Self {
        schedulePings(.stop)
        // `close` does not mute the handlers: they still receive the messages and the close that the server sends.
        if cancel(with: .explicitlyCancelled) != .ignore { socketState.write { $0.isMuted = true } }
        return self
    }

    // MARK: task callbacks, on the root queue

    func didOpen(with subprotocol: String?) {
        deliver(.connected(protocol: subprotocol))
        schedulePings(.connected)
    }

    func didClose(with code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        schedulePings(.stop)
        deliver(.disconnected(code, reason: reason.flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// Receives one message after the other, until receiving fails. The task reports the failure itself, as its end.
    private func receive(from task: URLSessionWebSocketTask) {
        task.receive { [weak self, weak task] result in
            guard let self, let task, case .success(let message) = result else { return }
            deliverPendingReports()
            deliver(.message(message))
            receive(from: task)
        }
    }

    /// Passes an event to all consumers and adds it to the backlog, once per consumer.
    private func deliver(_ event: ConnectionEvent) {
        let (consumers, action) = socketState.write { state -> ([EventConsumer], Action?) in
            guard event.weight > 0 else { return (state.consumers, nil) }
            for _ in state.consumers { state.backlog.add(event.weight) }
            return (state.consumers, state.holdOrRelease())
        }
        perform(action)
        for consumer in consumers { consumer.consume(self, event) }
    }

    /// Adds bytes to the backlog, or removes them if `bytes` is negative.
    func changeBacklog(by bytes: Int) {
        let action = socketState.write { state in
            if bytes > 0 { state.backlog.add(bytes) } else { state.backlog.remove(-bytes) }
            return state.holdOrRelease()
        }
        perform(action)
    }

    // MARK: sending

    /// The decision about a message that is to be sent.
    private enum SendDecision {
        /// The message waits for a task, or is sent by performing the action.
        case accept(Action?)
        /// The request has ended.
        case refuse
        /// There is a newer task, whose state has to be read before the decision is made.
        case repeatDecision(URLSessionWebSocketTask?)
    }

    /// Sends a message, or keeps it until there is a task.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - queue: The queue on which the handler is called.
    ///   - completionHandler: Called once: when the message was written, with the error if it cannot be, or with
    ///     `AFError.explicitlyCancelled` if the request was cancelled or has finished.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let message = OutgoingMessage(message: message, queue: queue, completionHandler: completionHandler)
        if isCancelled || isFinished { return message.fail(with: .explicitlyCancelled) }
        // A task's state is read outside the lock, and the decision is made under it. If there is a newer task by then, both are
        // repeated.
        var examinedTask: URLSessionWebSocketTask?
        while true {
            let canSend = examinedTask.map { $0.state != .completed } ?? false
            let decision = socketState.write { state -> SendDecision in
                if state.hasEnded { return .refuse }
                guard state.task === examinedTask else { return .repeatDecision(state.task) }
                if canSend, let examinedTask {
                    return .accept(state.actions.enqueue(.send(message, through: examinedTask)))
                }
                state.unsent.append(message)
                return .accept(nil)
            }
            switch decision {
            case .accept(let action): return perform(action)
            case .refuse: return message.fail(with: .explicitlyCancelled)
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
        let (start, clock) = (Date(), ContinuousClock())
        let instant = clock.now
        task.sendPing { error in
            let latency = (clock.now - instant) / .seconds(1)
            let pong = PingResponse.Pong(start: start, end: Date(), latency: latency)
            let response = error.map { PingResponse.error($0) } ?? .pong(pong)
            queue.async { onResponse(response) }
        }
    }

    /// Passes an event to the schedule of automatic pings, and performs its action.
    private func schedulePings(_ event: PingSchedule.Event) {
        guard let interval = configuration.pingInterval else { return }
        switch socketState.write({ $0.pings.receive(event) }) {
        case .none: break
        case .wait(let number):
            timer.after(interval, on: underlyingQueue) { [weak self] in self?.schedulePings(.due(number)) }
        case .ping(let number):
            sendPing(respondingOn: underlyingQueue) { [weak self] response in
                switch response {
                case .pong: self?.schedulePings(.answered(number))
                case .error, .unsent: self?.schedulePings(.failed(number))
                }
            }
        }
    }
}
