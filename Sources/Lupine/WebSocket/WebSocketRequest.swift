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

        /// The weight in the backlog while it waits for a handler: the bytes of a message, plus the cost of keeping it.
        var weight: Int {
            switch self {
            case .connected, .disconnected: 0
            case .message(.data(let data)): data.count + 256
            case .message(.string(let text)): text.utf8.count + 256
            }
        }
    }

    /// A consumer of events, called on the root queue.
    struct EventConsumer: Sendable {
        let take: @Sendable (WebSocketRequest, ConnectionEvent) -> Void
    }

    /// The mutable state in addition to that of `Request`.
    struct SocketState {
        var takers: [EventConsumer] = []
        /// The task of the latest attempt.
        var task: URLSessionWebSocketTask?
        /// Messages that wait for a task.
        var unsent: [OutgoingMessage] = []
        var pings = PingSchedule()
        /// Whether handlers receive no more messages and no close, because the request was cancelled.
        var isMuted = false
        /// Whether nothing can be sent any more.
        var isOver = false
        /// The backlog of all handlers together.
        fileprivate var backlog = StreamBacklog()
        /// The task whose messages are held.
        private var held: URLSessionWebSocketTask?
        /// Actions to be performed on tasks, outside of the lock and in this order.
        fileprivate var actions = OrderedActions<Action>()

        /// Holds the messages of the latest task if the handlers are too slow, otherwise releases the held task. The caller
        /// passes the result to `perform`.
        mutating func balance() -> Action? {
            if backlog.isFull {
                guard let task, task !== held else { return nil }
                held = task
                return actions.enqueue(.hold(task, true))
            }
            return held.take().flatMap { actions.enqueue(.hold($0, false)) }
        }
    }

    /// An action on a task.
    enum Action: Sendable {
        case hold(URLSessionWebSocketTask, Bool)
        case send(OutgoingMessage, URLSessionWebSocketTask)

        fileprivate func perform() {
            switch self {
            case .hold(let task, let isHeld): task.holdMessages(isHeld)
            case .send(let message, let task): message.send(through: task)
            }
        }
    }

    /// Performs the action, and those decided meanwhile. Nil means that there is none, or that another thread performs it.
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

    /// Messages that never got a task are refused.
    deinit { refuseUnsent(.explicitlyCancelled) }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    /// Returns a task that receives at once and has been given the waiting messages, unless the `URLSession` no longer accepts
    /// it.
    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task = session.webSocketTask(with: opening(request))
        if task.isOrphan { return task }
        task.maximumMessageSize = configuration.maximumMessageSize
        receive(from: task)
        // Queued as actions, so that messages sent meanwhile follow them.
        let (begun, _, _) = socketState.write { state in
            var begun: Action?
            for message in state.unsent {
                let taken = state.actions.enqueue(.send(message, task))
                begun = begun ?? taken
            }
            let old = (state.task, state.unsent)
            (state.task, state.unsent) = (task, [])
            return (begun, old.0, old.1)
        }
        perform(begun)
        return task
    }

    /// Returns the request with a WebSocket scheme and the offered subprotocol.
    private func opening(_ request: URLRequest) -> URLRequest {
        var request = request
        if let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = Self.schemes[parts.scheme?.lowercased() ?? ""]
        {
            parts.scheme = scheme
            request.url = parts.url ?? url
        }
        if let name = configuration.protocol { request.headers.update(.websocketProtocol(name)) }
        return request
    }

    private static let schemes = ["http": "ws", "https": "wss"]

    override func reset() {
        super.reset()
        schedulePings(.stop)
    }

    override func cleanup() {
        schedulePings(.stop)
        _ = socketState.write { state in
            state.isOver = true
            defer { state.takers = [] }
            return state.takers
        }
        refuseUnsent(error ?? .explicitlyCancelled)
        super.cleanup()
    }

    private func refuseUnsent(_ error: AFError) {
        let messages = socketState.write { state in
            defer { state.unsent = [] }
            return state.unsent
        }
        for message in messages { message.refuse(error) }
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
        if cancel(with: .explicitlyCancelled) != .ignore { socketState.write { $0.isMuted = true } }
        return self
    }

    // MARK: task callbacks, on the root queue

    func didOpen(with name: String?) {
        tell(.connected(protocol: name))
        schedulePings(.connected)
    }

    func didClose(with code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        schedulePings(.stop)
        tell(.disconnected(code, reason: reason.flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// Receives one message after the other, until receiving fails.
    private func receive(from task: URLSessionWebSocketTask) {
        task.receive { [weak self, weak task] result in
            guard let self, let task, case .success(let message) = result else { return }
            deliverPendingReports()
            tell(.message(message))
            receive(from: task)
        }
    }

    private func tell(_ occurrence: ConnectionEvent) {
        let (takers, begun) = socketState.write { state -> ([EventConsumer], Action?) in
            guard occurrence.weight > 0 else { return (state.takers, nil) }
            for _ in state.takers { state.backlog.add(occurrence.weight) }
            return (state.takers, state.balance())
        }
        perform(begun)
        for taker in takers { taker.take(self, occurrence) }
    }

    /// Adds bytes to the backlog, or removes them if `bytes` is negative.
    func changeBacklog(by bytes: Int) {
        let begun = socketState.write { state in
            if bytes > 0 { state.backlog.add(bytes) } else { state.backlog.remove(-bytes) }
            return state.balance()
        }
        perform(begun)
    }

    // MARK: sending

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
        if isCancelled || isFinished { return message.refuse(.explicitlyCancelled) }
        // The task's state is read outside of the lock; if there is a newer task by then, this is repeated with that one.
        var asked: URLSessionWebSocketTask?
        while true {
            let isLive = asked.map { $0.state != .completed } ?? false
            let (answer, task, begun) = socketState.write {
                state -> (isTaken: Bool?, URLSessionWebSocketTask?, Action?) in
                if state.isOver { return (false, nil, nil) }
                guard state.task === asked else { return (nil, state.task, nil) }
                if isLive, let asked { return (true, nil, state.actions.enqueue(.send(message, asked))) }
                state.unsent.append(message)
                return (true, nil, nil)
            }
            perform(begun)
            guard let isTaken = answer else {
                asked = task
                continue
            }
            if !isTaken { message.refuse(.explicitlyCancelled) }
            return
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
