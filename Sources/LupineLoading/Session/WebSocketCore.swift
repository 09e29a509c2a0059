// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The implementation of a WebSocket task: queues messages that wait for the connection or for a receiver, receivers that wait
/// for a message, and pings that wait for a pong (U-8.4 to U-8.11).
///
/// May be called on any thread. Every handler is called exactly once, on the delegate queue, in order: through `post`, which runs
/// its jobs serially. Messages received before the end can still be read after it.
final class WebSocketCore: WebSocketOwner {
    typealias Receiver = @Sendable (Result<WebSocketMessage, any Error>) -> Void
    typealias Sender = @Sendable ((any Error)?) -> Void

    /// How the WebSocket ended.
    enum Ending: Sendable {
        /// By a close frame of either side.
        case closed(Closure)
        case failed(any Error)
    }

    /// The content of a close frame, as the program sees it.
    struct Closure: Hashable, Sendable {
        var code = URLSessionWebSocketTask.CloseCode.invalid
        var reason: Data?
    }

    /// A command for the conversation, carried out on the loop.
    private enum Order: Sendable {
        case send(WebSocketMessage, Int)
        case ping
        case close(WebSocketClosure)
        case limit(Int)
        case resume
        case hold
    }

    private enum Phase: Sendable {
        case connecting
        case open(EventLoop, LoopBound<WebSocketDriver>)
        case ended(any Error)
    }

    private struct State: Sendable {
        var phase = Phase.connecting
        var orders = Queue<Order>()
        /// Whether the delegate was told that the connection is open: messages are delivered only after that.
        var isAnnounced = false
        var hasTurn = false
        var isClosing = false
        var isHeld = false
        var closure = Closure()
        var messages = Queue<WebSocketMessage>()
        var messageBytes = 0
        var isPaused = false
        /// Whether receivers get no messages for now.
        var isWithheld = false
        var receivers = Queue<Receiver>()
        var sends = Queue<(number: Int, handler: Sender)>()
        var lastSend = 0
        var pings = Queue<Sender>()
        var limit = WebSocketCodec.defaultMessageLimit

        /// The error for further calls; nil while the WebSocket has not ended.
        var closedError: (any Error)? {
            guard case .ended(let error) = phase else { return nil }
            return error
        }
    }

    typealias Poster = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A struct, because a closure stored directly in a lock gets one more reabstraction thunk at each access.
    private struct Links: Sendable {
        var post: Poster?
        var onEnd: (@Sendable (Ending) -> Void)?
    }

    private let links = Lock(Links())
    private let state = Lock(State())

    /// Sets how jobs are run on the delegate queue, after those posted before. Call it before anything else.
    func attach(_ post: @escaping Poster) { links.withLock { $0.post = post } }

    /// Sets the handler for the end. It is called once, on the delegate queue, unless `abort` ends the WebSocket.
    func attach(onEnd: @escaping @Sendable (Ending) -> Void) { links.withLock { $0.onEnd = onEnd } }

    private func post(_ job: @escaping @Sendable () -> Void) { links.withLock { $0.post }?(job) }

    // MARK: the task's side

    /// The size of the largest message that is received.
    var messageLimit: Int {
        get { state.withLock { $0.limit } }
        set {
            order(.limit(newValue)) { $0.limit = newValue }
        }
    }

    /// Sends a message; the handler is called when it is written.
    func send(_ message: WebSocketMessage, _ handler: @escaping Sender) {
        let failure = state.withLock { state -> (any Error)? in
            if let error = state.closedError { return error }
            state.lastSend += 1
            state.sends.append((state.lastSend, handler))
            state.orders.append(.send(message, state.lastSend))
            return nil
        }
        if let failure { return post { handler(failure) } }
        turn()
    }

    /// Sends a ping; the handler is called when a pong is received.
    func ping(_ handler: @escaping Sender) {
        let failure = state.withLock { state -> (any Error)? in
            if let error = state.closedError { return error }
            state.pings.append(handler)
            state.orders.append(.ping)
            return nil
        }
        if let failure { return post { handler(failure) } }
        turn()
    }

    /// Receives the next message.
    func receive(_ handler: @escaping Receiver) {
        state.withLock { $0.receivers.append(handler) }
        post { self.deliver() }
    }

    /// While messages are withheld, receivers get none, and only a few are read from the connection. After the end, all messages
    /// that arrived before it are delivered regardless.
    func withhold(_ isWithheld: Bool) {
        let wasWithheld = state.withLock { state in
            defer { state.isWithheld = isWithheld }
            return state.isWithheld
        }
        if wasWithheld, !isWithheld { post { self.deliver() } }
    }

    /// The close code and reason.
    var closure: Closure { state.withLock { $0.closure } }

    /// Starts the closing handshake after the queued messages; returns false when there is no open connection. A code or reason
    /// that cannot be sent is omitted.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) -> Bool {
        let reason = reason.map { Self.sendable(Array($0)) } ?? []
        let frame =
            (try? WebSocketClosure(WebSocketCloseCode(rawValue: UInt16(code.rawValue)), reason: reason))
            ?? .empty
        let isOpen = state.withLock { state -> Bool in
            if case .ended = state.phase { return false }
            if !state.isClosing { state.closure = Closure(code: code, reason: Self.shown(frame.reason)) }
            guard case .open = state.phase, !state.isClosing else { return state.isClosing }
            state.isClosing = true
            state.orders.append(.close(frame))
            // The peer's close frame may follow messages that are no longer received, and closing also ends a suspension.
            state.isPaused = false
            state.isHeld = false
            state.orders.append(.resume)
            return true
        }
        if isOpen { turn() }
        return isOpen
    }

    /// The reason if it is valid UTF-8, otherwise nothing; `WebSocketClosure` shortens it.
    private static func sendable(_ reason: [UInt8]) -> [UInt8] {
        var progress = UTF8Progress()
        return progress.validate(reason.span) == nil && progress.isBetweenCharacters ? reason : []
    }

    private static func shown(_ reason: [UInt8]) -> Data? { reason.isEmpty ? nil : Data(reason) }

    /// While held, nothing is sent, and nothing is read beyond what is in flight already.
    func setHeld(_ isHeld: Bool) {
        state.withLock { state in
            state.orders.append(isHeld ? .hold : .resume)
            if !isHeld { state.isHeld = false }
        }
        turn()
        if isHeld { state.withLock { $0.isHeld = true } }
    }

    /// Ends immediately: waiting handlers get `error`. Has no effect after the end.
    func abort(_ error: any Error) {
        // Bypasses the queue of orders, which may be held and would then never be processed.
        guard case .open(let loop, let conversation) = end(error, nil) else { return }
        _ = loop.execute { conversation.value.abort() }
    }

    // MARK: the loop's side

    /// Called on the loop when the handshake is complete.
    ///
    /// - Parameter announce: Tells the delegate that the connection is open. Called once it is, so that the delegate can close
    ///   it, and before any queued message is written.
    func open(
        _ conversation: WebSocketDriver, on loop: EventLoop, announcing announce: () -> Void
    ) {
        let isWanted = state.withLock { state -> Bool in
            guard case .connecting = state.phase else { return false }
            state.phase = .open(loop, LoopBound(conversation, on: loop))
            state.hasTurn = true
            return true
        }
        guard isWanted else { return conversation.abort() }
        announce()
        // An earlier `receive` may have posted a delivery; `isAnnounced` keeps messages behind the delegate's call.
        post {
            self.state.withLock { $0.isAnnounced = true }
            self.deliver()
        }
        conversation.setMessageLimit(messageLimit)
        work(conversation, on: loop)
    }

    func webSocketReceived(_ message: WebSocketMessage) -> Demand {
        let (demand, wakes) = state.withLock { state -> (Demand, Bool) in
            if case .ended = state.phase { return (.more, false) }
            let isFull = state.messageBytes > max(state.limit, 1 << 20) || state.messages.count >= 1024
            // While closing, the closing handshake must not wait for a receiver that may never come.
            if state.isClosing, isFull { return (.enough, false) }
            state.messages.append(message)
            state.messageBytes += message.octets.count
            // Applies even if a receiver waits: the delegate queue may be busy for long.
            state.isPaused =
                !state.isClosing
                && (state.messageBytes > Self.manyBytes || state.messages.count >= Self.manyMessages)
            return (state.isPaused ? .pause : .more, !state.receivers.isEmpty && !state.isWithheld)
        }
        if wakes { post { self.deliver() } }
        return demand
    }

    func webSocketReceivedPong() {
        let handler = state.withLock { $0.pings.popFirst() }
        if let handler { post { handler(nil) } }
    }

    func webSocketWrote(through number: Int) {
        let handlers = state.withLock { state -> [Sender] in
            var handlers: [Sender] = []
            while let send = state.sends.first, send.number <= number {
                handlers.append(send.handler)
                _ = state.sends.popFirst()
            }
            return handlers
        }
        if !handlers.isEmpty { post { for handler in handlers { handler(nil) } } }
    }

    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?) {
        switch outcome {
        case .peerClosed(let closure), .locallyClosed(let closure, answer: _):
            let closure = Self.closure(closure)
            state.withLock { if !$0.isClosing { $0.closure = closure } }
            end(Self.lost(nil), .closed(self.closure))
        case .failed(.messageTooBig):
            let error = NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EMSGSIZE.rawValue))
            end(error, .failed(error))
        case .failed(let fault):
            let error = URLError.loading(.badServerResponse, url: nil, underlying: fault)
            end(error, .failed(error))
        case .lost:
            let error = Self.lost(error)
            end(error, .failed(error))
        }
    }

    // MARK: on the delegate queue

    /// Delivers messages to receivers, one at a time, because a receiver asks for the next message in its handler.
    private func deliver() {
        while let (receiver, result) = nextPair() {
            receiver(result)
        }
    }

    private func nextPair() -> (Receiver, Result<WebSocketMessage, any Error>)? {
        var resumes = false
        let pair = state.withLock { state -> (Receiver, Result<WebSocketMessage, any Error>)? in
            guard let receiver = state.receivers.first else { return nil }
            if state.messages.isEmpty {
                guard case .ended(let error) = state.phase else { return nil }
                _ = state.receivers.popFirst()
                return (receiver, .failure(error))
            }
            guard state.isAnnounced, !state.isWithheld || state.closedError != nil,
                let message = state.messages.popFirst()
            else { return nil }
            state.messageBytes -= message.octets.count
            if state.isPaused, state.messageBytes <= Self.manyBytes / 2,
                state.messages.count <= Self.manyMessages / 2
            {
                state.isPaused = false
                state.orders.append(.resume)
                resumes = true
            }
            _ = state.receivers.popFirst()
            return (receiver, .success(message))
        }
        if resumes { turn() }
        return pair
    }

    /// - Parameter ending: The ending to report to the task; nil when it knows.
    /// - Returns: The phase before.
    @discardableResult
    private func end(_ error: any Error, _ ending: Ending?) -> Phase {
        let phase = state.withLock { state -> Phase in
            let phase = state.phase
            if case .ended = phase {} else { state.phase = .ended(error) }
            return phase
        }
        if case .ended = phase { return phase }
        post {
            self.deliver()
            let waiting = self.state.withLock { state -> [Sender] in
                state.sends.takeAll().map(\.handler) + state.pings.takeAll()
            }
            for handler in waiting { handler(error) }
            if let ending { self.links.withLock { $0.onEnd }?(ending) }
        }
        return phase
    }

    /// The program's view of a close frame: a code without a name is `invalid` (U-8.8).
    private static func closure(_ frame: WebSocketClosure) -> Closure {
        let code = frame.code.map {
            URLSessionWebSocketTask.CloseCode(rawValue: Int($0.rawValue)) ?? .invalid
        }
        return Closure(code: code ?? .noStatusReceived, reason: shown(frame.reason))
    }

    // MARK: crossing to the loop

    private func order(_ order: Order, _ change: (inout State) -> Void) {
        let isWanted = state.withLock { state -> Bool in
            if case .ended = state.phase { return false }
            change(&state)
            state.orders.append(order)
            return true
        }
        if isWanted { turn() }
    }

    /// Schedules the processing of the orders on the loop.
    private func turn() {
        let place = state.withLock { state -> (EventLoop, LoopBound<WebSocketDriver>)? in
            guard case .open(let loop, let conversation) = state.phase, !state.hasTurn, !state.isHeld else {
                return nil
            }
            state.hasTurn = true
            return (loop, conversation)
        }
        guard let (loop, conversation) = place else { return }
        _ = loop.execute { self.work(conversation.value, on: loop) }
    }

    private func work(_ conversation: WebSocketDriver, on loop: EventLoop) {
        loop.repeatGivingWay { [self] in
            guard let order = nextOrder() else { return false }
            carryOut(order, conversation)
            return true
        }
    }

    private func nextOrder() -> Order? {
        state.withLock { state in
            let order = state.orders.popFirst()
            if order == nil { state.hasTurn = false }
            return order
        }
    }

    private func carryOut(_ order: Order, _ conversation: WebSocketDriver) {
        switch order {
        case .send(let message, let number):
            if !conversation.send(message, number: number) { refuse(number) }
        case .ping: _ = conversation.ping()
        case .close(let closure): conversation.close(closure)
        case .limit(let limit): conversation.setMessageLimit(limit)
        case .resume: conversation.resume()
        case .hold: conversation.pause()
        }
    }

    /// Fails a message that was sent after the close frame.
    private func refuse(_ number: Int) {
        let handler = state.withLock { state in
            state.sends.removeFirst { $0.number == number }?.handler
        }
        if let handler { post { handler(Self.lost(nil)) } }
    }

    private static func lost(_ cause: TransportError?) -> URLError {
        URLError.loading(
            .networkConnectionLost, url: nil,
            reason: cause.map { "\($0)" } ?? "the web socket is closed", underlying: cause)
    }

    /// The amount that may wait for receivers before reading pauses.
    private static let manyBytes = 1 << 20
    private static let manyMessages = 256
}
