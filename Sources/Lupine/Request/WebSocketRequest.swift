// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request that becomes a connection on which messages go both ways (RFC 6455).
///
/// Handlers that are slower than the server slow it down: while more than `StreamBacklog.highMark` waits for them, or in the
/// buffers of asynchronous sequences, its messages are not read.
///
/// Any thread may call. Handlers are added by the `stream…` methods; each of them hears of everything from then on: that the
/// connection was made, the messages, with what it was closed, and that the request has come to its end. Those who hear
/// nothing but the end of an attempt hear of the next one, if there is one.
public final class WebSocketRequest: Request, @unchecked Sendable {
    /// What handlers are told of a connection.
    enum Occurrence: Sendable {
        case connected(protocol: String?)
        case message(URLSessionWebSocketTask.Message)
        case disconnected(URLSessionWebSocketTask.CloseCode, reason: Data?)

        /// What it weighs while it waits for a handler: a message's bytes, and what keeping one costs.
        var weight: Int {
            switch self {
            case .connected, .disconnected: 0
            case .message(.data(let data)): data.count + 256
            case .message(.string(let text)): text.utf8.count + 256
            }
        }
    }

    /// Takes what has happened, on the root queue.
    struct Taker: Sendable {
        let take: @Sendable (WebSocketRequest, Occurrence) -> Void
    }

    /// What changes besides the state of any request.
    struct SocketState {
        var takers: [Taker] = []
        /// The latest attempt's.
        var task: URLSessionWebSocketTask?
        /// What waits for a task.
        var unsent: [OutgoingMessage] = []
        var pings = PingSchedule()
        /// Whether handlers are told of the end only: the request was cancelled.
        var isMuted = false
        /// Whether nothing can be sent any more.
        var isOver = false
        /// What waits for handlers, all of them together.
        fileprivate var backlog = StreamBacklog()
        /// The task whose messages are held.
        private var held: URLSessionWebSocketTask?
        /// What is to be done to tasks, outside of the lock and in that order.
        fileprivate var actions = OrderedActions<Action>()

        /// Holds the messages of the latest task, or lets them come, as handlers can bear. What it returns is to be given to
        /// `perform`.
        mutating func balance() -> Action? {
            if backlog.isFull {
                guard let task, task !== held else { return nil }
                held = task
                return actions.take(.hold(task, true))
            }
            return held.take().flatMap { actions.take(.hold($0, false)) }
        }
    }

    /// What is done to a task.
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

    /// Does it, and what was decided meanwhile; nil is somebody else's to perform.
    private func perform(_ action: Action?) {
        var action = action
        while let current = action {
            current.perform()
            action = socketState.write { $0.actions.next() }
        }
    }

    /// What the request is made of, on each attempt.
    public let convertible: any URLRequestConvertible
    /// What is agreed on with the server.
    public let configuration: Configuration
    let socketState = Protected(SocketState())
    /// Where messages are decoded, one after the other: on the serialization queue, which need not be serial.
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

    /// A request that never had a task has not sent its messages.
    deinit { refuseUnsent(.explicitlyCancelled) }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    /// A task that receives at once, and has been given what waited for it; unless it will never do anything.
    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task = session.webSocketTask(with: opening(request))
        if task.isOrphan { return task }
        task.maximumMessageSize = configuration.maximumMessageSize
        receive(from: task)
        // In the order of the actions, so that what is sent meanwhile comes behind.
        let (begun, _, _) = socketState.write { state in
            var begun: Action?
            for message in state.unsent {
                let taken = state.actions.take(.send(message, task))
                begun = begun ?? taken
            }
            let old = (state.task, state.unsent)
            (state.task, state.unsent) = (task, [])
            return (begun, old.0, old.1)
        }
        perform(begun)
        return task
    }

    /// The request as the task needs it: with a web socket's scheme, and with the protocol that is offered.
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

    // MARK: ending it

    /// Closes the connection: the server is told why, behind what was sent before, and may answer. The request is cancelled
    /// then, but has not failed. Without effect once it was cancelled or has finished.
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

    /// Cancels the request, without a word to the server: handlers hear of nothing but that it has ended, with
    /// `AFError.explicitlyCancelled` unless it had failed before. Without effect once it was cancelled or has finished.
    @discardableResult
    public override func cancel() -> Self {
        schedulePings(.stop)
        if cancel(with: .explicitlyCancelled) != .ignore { socketState.write { $0.isMuted = true } }
        return self
    }

    // MARK: what the task tells, on the root queue

    func didOpen(with name: String?) {
        tell(.connected(protocol: name))
        schedulePings(.connected)
    }

    func didClose(with code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        schedulePings(.stop)
        tell(.disconnected(code, reason: reason.flatMap { $0.isEmpty ? nil : $0 }))
    }

    /// Takes one message after the other, until there are none.
    private func receive(from task: URLSessionWebSocketTask) {
        task.receive { [weak self, weak task] result in
            guard let self, let task, case .success(let message) = result else { return }
            takeSteps()
            tell(.message(message))
            receive(from: task)
        }
    }

    private func tell(_ occurrence: Occurrence) {
        let (takers, begun) = socketState.write { state -> ([Taker], Action?) in
            guard occurrence.weight > 0 else { return (state.takers, nil) }
            for _ in state.takers { state.backlog.add(occurrence.weight) }
            return (state.takers, state.balance())
        }
        perform(begun)
        for taker in takers { taker.take(self, occurrence) }
    }

    /// So many bytes more, or fewer, wait for handlers.
    func weigh(_ bytes: Int) {
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
    ///   - queue: Where the handler is called.
    ///   - completionHandler: Called once: when the message was written, with why it cannot be, or, on a request that was
    ///     cancelled or has finished, with `AFError.explicitlyCancelled`.
    @preconcurrency
    public func send(
        _ message: URLSessionWebSocketTask.Message, queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        let message = OutgoingMessage(message: message, queue: queue, completionHandler: completionHandler)
        if isCancelled || isFinished { return message.refuse(.explicitlyCancelled) }
        // How the task stands is asked before, not under the lock; when there is another one by then, that is asked instead.
        var asked: URLSessionWebSocketTask?
        while true {
            let isLive = asked.map { $0.state != .completed } ?? false
            let (answer, task, begun) = socketState.write {
                state -> (isTaken: Bool?, URLSessionWebSocketTask?, Action?) in
                if state.isOver { return (false, nil, nil) }
                guard state.task === asked else { return (nil, state.task, nil) }
                if isLive, let asked { return (true, nil, state.actions.take(.send(message, asked))) }
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
    ///   - queue: Where `onResponse` is called.
    ///   - onResponse: Called once: with the pong, or with why there is none.
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

    /// Has the schedule of the pings that nobody asked for take that in, and does what it says.
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
