// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The implementation of a WebSocket task: queues messages that wait for the connection or for a receiver, receivers that wait
/// for a message, and pings that wait for a pong (U-8.4 to U-8.11). A receiver is the handler of one `receive` call.
///
/// May be called on any thread. Calls every handler exactly once, in order, on the delegate queue: through `post`, which runs its
/// jobs serially. Messages that arrived before the end can still be received after it.
final class WebSocketCore: WebSocketOwner {
    typealias ReceiveHandler = @Sendable (Result<WebSocketMessage, any Error>) -> Void
    typealias SendHandler = @Sendable ((any Error)?) -> Void

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

    /// A command to the `WebSocketDriver`, performed on its loop.
    private enum Command: Sendable {
        case send(WebSocketMessage, number: Int)
        case ping
        case close(WebSocketCloseFrame)
        case setMessageLimit(Int)
        case resume
        case pause
    }

    private enum Phase: Sendable {
        case connecting
        case open(EventLoop, LoopBound<WebSocketDriver>)
        /// The error is the one for further calls.
        case ended(any Error)
    }

    private struct State: Sendable {
        var phase = Phase.connecting
        var commands = Queue<Command>()
        /// Whether the delegate was told that the connection is open: messages are delivered only after that.
        var isAnnounced = false
        /// Whether `drain` runs or is scheduled on the loop.
        var isDraining = false
        /// Whether this side has started the closing handshake.
        var isClosing = false
        /// Whether the task is suspended: then the commands wait.
        var isSuspended = false
        /// The close code and reason: of this side if it has started the closing handshake, otherwise of the peer.
        var closure = Closure()
        /// Received messages that wait for a receiver, and the sum of their lengths.
        var messages = Queue<WebSocketMessage>()
        var messageBytes = 0
        /// Whether the driver was told to stop reading, because many messages wait for a receiver.
        var isReadingPaused = false
        /// Whether receivers get no messages for now, see `setDeliveryHeld`.
        var isDeliveryHeld = false
        var receivers = Queue<ReceiveHandler>()
        /// Sent messages that are not yet written to the kernel; numbered from 1.
        var sends = Queue<(number: Int, handler: SendHandler)>()
        var lastSendNumber = 0
        /// The handlers of pings without a pong, in order.
        var pings = Queue<SendHandler>()
        var messageLimit = WebSocketCodec.defaultMessageLimit

        /// The error for further calls; nil while the WebSocket has not ended.
        var endError: (any Error)? {
            guard case .ended(let error) = phase else { return nil }
            return error
        }
    }

    typealias Poster = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A struct, because a closure stored directly in a lock gets one more reabstraction thunk at each access.
    private struct Callbacks: Sendable {
        var post: Poster?
        var onEnd: (@Sendable (Ending) -> Void)?
    }

    private let callbacks = Lock(Callbacks())
    private let state = Lock(State())

    /// Sets the closure that adds jobs to the delegate queue, in order. Call it before anything else.
    func setPoster(_ post: @escaping Poster) { callbacks.withLock { $0.post = post } }

    /// Sets the handler for the end. It is called once, on the delegate queue, unless `abort` ends the WebSocket.
    func setEndHandler(_ handler: @escaping @Sendable (Ending) -> Void) {
        callbacks.withLock { $0.onEnd = handler }
    }

    private func post(_ job: @escaping @Sendable () -> Void) { callbacks.withLock { $0.post }?(job) }

    // MARK: called by the task

    /// The size of the largest message that is received.
    var messageLimit: Int {
        get { state.withLock { $0.messageLimit } }
        set {
            enqueue(.setMessageLimit(newValue)) { $0.messageLimit = newValue }
        }
    }

    /// Sends a message; the handler is called when it is written.
    func send(_ message: WebSocketMessage, _ handler: @escaping SendHandler) {
        let failure = state.withLock { state -> (any Error)? in
            if let error = state.endError { return error }
            state.lastSendNumber += 1
            state.sends.append((state.lastSendNumber, handler))
            state.commands.append(.send(message, number: state.lastSendNumber))
            return nil
        }
        if let failure { return post { handler(failure) } }
        scheduleDrain()
    }

    /// Sends a ping; the handler is called when a pong is received.
    func ping(_ handler: @escaping SendHandler) {
        let failure = state.withLock { state -> (any Error)? in
            if let error = state.endError { return error }
            state.pings.append(handler)
            state.commands.append(.ping)
            return nil
        }
        if let failure { return post { handler(failure) } }
        scheduleDrain()
    }

    /// Receives the next message.
    func receive(_ handler: @escaping ReceiveHandler) {
        state.withLock { $0.receivers.append(handler) }
        post { self.deliver() }
    }

    /// Holds or releases the delivery of messages to receivers. While it is held, reading pauses once many messages wait. After
    /// the end, all messages that arrived before it are delivered, whether delivery is held or not.
    func setDeliveryHeld(_ isHeld: Bool) {
        let wasHeld = state.withLock { state in
            defer { state.isDeliveryHeld = isHeld }
            return state.isDeliveryHeld
        }
        if wasHeld, !isHeld { post { self.deliver() } }
    }

    /// The close code and reason.
    var closure: Closure { state.withLock { $0.closure } }

    /// Starts the closing handshake after the queued messages (RFC 6455 §7.1.2). Omits a code or reason that cannot be sent.
    ///
    /// - Returns: False if there is no open connection.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) -> Bool {
        let reason = reason.map { Self.validUTF8(Array($0)) } ?? []
        let frame =
            (try? WebSocketCloseFrame(WebSocketCloseCode(rawValue: UInt16(code.rawValue)), reason: reason))
            ?? .empty
        let isOpen = state.withLock { state -> Bool in
            if case .ended = state.phase { return false }
            if !state.isClosing {
                state.closure = Closure(code: code, reason: Self.nonEmptyData(frame.reason))
            }
            guard case .open = state.phase, !state.isClosing else { return state.isClosing }
            state.isClosing = true
            state.commands.append(.close(frame))
            // The driver has to read up to the peer's close frame, also while messages wait or the task is suspended.
            state.isReadingPaused = false
            state.isSuspended = false
            state.commands.append(.resume)
            return true
        }
        if isOpen { scheduleDrain() }
        return isOpen
    }

    /// The reason if it is valid UTF-8, otherwise nothing; `WebSocketCloseFrame` shortens it.
    private static func validUTF8(_ reason: [UInt8]) -> [UInt8] {
        var progress = UTF8Validator()
        return progress.validate(reason.span) == nil && progress.isBetweenCharacters ? reason : []
    }

    private static func nonEmptyData(_ reason: [UInt8]) -> Data? { reason.isEmpty ? nil : Data(reason) }

    /// Suspends or resumes the task: while it is suspended, nothing is sent, and nothing is read beyond what is in flight
    /// already.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.commands.append(isSuspended ? .pause : .resume)
            if !isSuspended { state.isSuspended = false }
        }
        // Scheduled before `isSuspended` is set, which would keep the command in the queue.
        scheduleDrain()
        if isSuspended { state.withLock { $0.isSuspended = true } }
    }

    /// Ends the WebSocket at once without a closing handshake: waiting handlers get `error`. Has no effect after the end.
    func abort(_ error: any Error) {
        // Not a command, because commands wait while the task is suspended.
        guard case .open(let loop, let driver) = end(error, nil) else { return }
        _ = loop.execute { driver.value.abort() }
    }

    // MARK: called on the loop

    /// Called on the loop when the handshake is complete.
    ///
    /// - Parameters:
    ///   - driver: The driver of the connection; aborted if the WebSocket has ended already.
    ///   - loop: The loop of the connection.
    ///   - announce: Tells the delegate that the connection is open. Called when the phase is `open`, so that the delegate can
    ///     close the connection, and before any queued message is written.
    func open(
        _ driver: WebSocketDriver, on loop: EventLoop, announcing announce: () -> Void
    ) {
        let isOpened = state.withLock { state -> Bool in
            guard case .connecting = state.phase else { return false }
            state.phase = .open(loop, LoopBound(driver, on: loop))
            state.isDraining = true
            return true
        }
        guard isOpened else { return driver.abort() }
        announce()
        // An earlier `receive` may have posted a delivery; `isAnnounced` keeps messages behind the delegate's call.
        post {
            self.state.withLock { $0.isAnnounced = true }
            self.deliver()
        }
        driver.setMessageLimit(messageLimit)
        drain(into: driver, on: loop)
    }

    func webSocketReceived(_ message: WebSocketMessage) -> Demand {
        let (demand, mayDeliver) = state.withLock { state -> (Demand, Bool) in
            if case .ended = state.phase { return (.more, false) }
            let isFull =
                state.messageBytes > max(state.messageLimit, Self.dropBytes)
                || state.messages.count >= Self.dropMessages
            // The closing handshake must not wait for a receiver, which may never be added: further messages are dropped.
            if state.isClosing, isFull { return (.enough, false) }
            state.messages.append(message)
            state.messageBytes += message.octets.count
            // Reading pauses even if a receiver waits, because the delegate queue may be busy for long.
            state.isReadingPaused =
                !state.isClosing
                && (state.messageBytes > Self.pauseBytes || state.messages.count >= Self.pauseMessages)
            let mayDeliver = !state.receivers.isEmpty && !state.isDeliveryHeld
            return (state.isReadingPaused ? .pause : .more, mayDeliver)
        }
        if mayDeliver { post { self.deliver() } }
        return demand
    }

    func webSocketReceivedPong() {
        let handler = state.withLock { $0.pings.popFirst() }
        if let handler { post { handler(nil) } }
    }

    func webSocketWrote(through number: Int) {
        let handlers = state.withLock { state -> [SendHandler] in
            var handlers: [SendHandler] = []
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
            let closure = Self.reportedClosure(closure)
            state.withLock { if !$0.isClosing { $0.closure = closure } }
            end(Self.connectionLost(nil), .closed(self.closure))
        case .failed(.messageTooBig):
            let error = NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EMSGSIZE.rawValue))
            end(error, .failed(error))
        case .failed(let fault):
            let error = URLError.loading(.badServerResponse, url: nil, underlying: fault)
            end(error, .failed(error))
        case .lost:
            let error = Self.connectionLost(error)
            end(error, .failed(error))
        }
    }

    // MARK: on the delegate queue

    /// Delivers messages to receivers, one at a time, because a receiver asks for the next message in its handler.
    private func deliver() {
        while let (receiver, result) = nextDelivery() {
            receiver(result)
        }
    }

    private func nextDelivery() -> (ReceiveHandler, Result<WebSocketMessage, any Error>)? {
        var resumesReading = false
        let delivery = state.withLock { state -> (ReceiveHandler, Result<WebSocketMessage, any Error>)? in
            guard let receiver = state.receivers.first else { return nil }
            if state.messages.isEmpty {
                guard case .ended(let error) = state.phase else { return nil }
                _ = state.receivers.popFirst()
                return (receiver, .failure(error))
            }
            guard state.isAnnounced, !state.isDeliveryHeld || state.endError != nil,
                let message = state.messages.popFirst()
            else { return nil }
            state.messageBytes -= message.octets.count
            if state.isReadingPaused, state.messageBytes <= Self.pauseBytes / 2,
                state.messages.count <= Self.pauseMessages / 2
            {
                state.isReadingPaused = false
                state.commands.append(.resume)
                resumesReading = true
            }
            _ = state.receivers.popFirst()
            return (receiver, .success(message))
        }
        if resumesReading { scheduleDrain() }
        return delivery
    }

    /// Moves to the phase `ended`, if that is not the phase already, and has the waiting handlers called with `error`.
    ///
    /// - Parameters:
    ///   - error: The error for waiting handlers and further calls.
    ///   - ending: The ending to report to the end handler; nil if the task itself ends the WebSocket.
    /// - Returns: The previous phase.
    @discardableResult
    private func end(_ error: any Error, _ ending: Ending?) -> Phase {
        let previous = state.withLock { state -> Phase in
            let previous = state.phase
            if case .ended = previous {} else { state.phase = .ended(error) }
            return previous
        }
        if case .ended = previous { return previous }
        post {
            self.deliver()
            let waiting = self.state.withLock { state -> [SendHandler] in
                state.sends.takeAll().map(\.handler) + state.pings.takeAll()
            }
            for handler in waiting { handler(error) }
            if let ending { self.callbacks.withLock { $0.onEnd }?(ending) }
        }
        return previous
    }

    /// The program's view of a close frame: a code without a name is `invalid` (U-8.8).
    private static func reportedClosure(_ frame: WebSocketCloseFrame) -> Closure {
        let code = frame.code.map {
            URLSessionWebSocketTask.CloseCode(rawValue: Int($0.rawValue)) ?? .invalid
        }
        return Closure(code: code ?? .noStatusReceived, reason: nonEmptyData(frame.reason))
    }

    // MARK: commands to the driver

    /// Changes the state and adds a command. Has no effect after the end.
    private func enqueue(_ command: Command, _ change: (inout State) -> Void) {
        let isEnqueued = state.withLock { state -> Bool in
            if case .ended = state.phase { return false }
            change(&state)
            state.commands.append(command)
            return true
        }
        if isEnqueued { scheduleDrain() }
    }

    /// Schedules `drain` on the loop, unless there is no connection, the task is suspended, or it is scheduled already.
    private func scheduleDrain() {
        let connection = state.withLock { state -> (EventLoop, LoopBound<WebSocketDriver>)? in
            guard case .open(let loop, let driver) = state.phase, !state.isDraining, !state.isSuspended
            else { return nil }
            state.isDraining = true
            return (loop, driver)
        }
        guard let (loop, driver) = connection else { return }
        _ = loop.execute { self.drain(into: driver.value, on: loop) }
    }

    /// Performs the queued commands, over several turns of the loop if they are many.
    private func drain(into driver: WebSocketDriver, on loop: EventLoop) {
        loop.repeatGivingWay { [self] in
            guard let command = nextCommand() else { return false }
            perform(command, on: driver)
            return true
        }
    }

    private func nextCommand() -> Command? {
        state.withLock { state in
            let command = state.commands.popFirst()
            if command == nil { state.isDraining = false }
            return command
        }
    }

    private func perform(_ command: Command, on driver: WebSocketDriver) {
        switch command {
        case .send(let message, let number):
            if !driver.send(message, number: number) { failSend(number) }
        // If the closing handshake has begun, no ping is sent; `end` fails its handler.
        case .ping: _ = driver.ping()
        case .close(let closure): driver.close(closure)
        case .setMessageLimit(let limit): driver.setMessageLimit(limit)
        case .resume: driver.resume()
        case .pause: driver.pause()
        }
    }

    /// Fails a message that was sent after the close frame.
    private func failSend(_ number: Int) {
        let handler = state.withLock { state in
            state.sends.removeFirst { $0.number == number }?.handler
        }
        if let handler { post { handler(Self.connectionLost(nil)) } }
    }

    private static func connectionLost(_ cause: TransportError?) -> URLError {
        URLError.loading(
            .networkConnectionLost, url: nil,
            reason: cause.map { "\($0)" } ?? "the web socket is closed", underlying: cause)
    }

    /// Reading pauses when more than `pauseBytes` bytes, or at least `pauseMessages` messages, wait for receivers. It resumes at
    /// half of both.
    private static let pauseBytes = 1 << 20
    private static let pauseMessages = 256
    /// During the closing handshake, messages are dropped when more bytes than this and than `messageLimit`, or at least
    /// `dropMessages` messages, wait for receivers.
    private static let dropBytes = 1 << 20
    private static let dropMessages = 1024
}
