// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// The implementation of a WebSocket task. Queues messages that wait for the connection or for a receiver, receivers that wait
/// for a message, and pings that wait for a pong (U-8.4 to U-8.11). A receiver is the handler of one `receive` call.
///
/// May be called on any thread. Calls every handler exactly once, in order, on the delegate queue: through `post`, which adds
/// jobs to that queue. Messages that arrived before the end can still be received after it.
final class WebSocketCore: WebSocketOwner {
    typealias ReceiveHandler = @Sendable (Result<WebSocketMessage, any Error>) -> Void
    /// The handler of a sent message or ping; its argument is nil if sending has succeeded.
    typealias SendHandler = @Sendable ((any Error)?) -> Void

    /// How the WebSocket ended.
    enum Ending: Sendable {
        /// A close frame of this side or of the peer has ended it.
        case closed(CloseStatus)
        case failed(any Error)
    }

    /// The content of a close frame, as the program sees it.
    struct CloseStatus: Hashable, Sendable {
        var code = URLSessionWebSocketTask.CloseCode.invalid
        var reason: Data?
    }

    /// A command to the `WebSocketDriver`, performed on the driver's event loop.
    private enum Command: Sendable {
        /// Sends a message. Messages are numbered from 1.
        case send(WebSocketMessage, number: Int)
        case ping
        /// Sends a close frame, which starts the closing handshake.
        case close(WebSocketCloseFrame)
        case setMessageLimit(Int)
        /// Delivers received messages again.
        case resume
        /// Stops delivering received messages, so that reading stops, too.
        case pause
    }

    private enum Phase: Sendable {
        case connecting
        case open(EventLoop, LoopBound<WebSocketDriver>)
        /// The WebSocket has ended; further calls fail with this error.
        case ended(any Error)
    }

    private struct State: Sendable {
        var phase = Phase.connecting
        /// The commands that the driver has not performed.
        var commands = Queue<Command>()
        /// Whether the delegate's `didOpenWithProtocol` was called. Messages are delivered only after that call.
        var isAnnounced = false
        /// Whether `drain` runs or is scheduled on the loop.
        var isDraining = false
        /// Whether this side has started the closing handshake.
        var isClosing = false
        /// Whether the task is suspended, so that the commands wait.
        var isSuspended = false
        /// The close code and reason: of this side if it has started the closing handshake, otherwise of the peer.
        var closeStatus = CloseStatus()
        /// Received messages that wait for a receiver.
        var messages = Queue<WebSocketMessage>()
        /// The total length in bytes of `messages`.
        var messageBytes = 0
        /// Whether this object has paused the driver's reading, because many messages wait for a receiver.
        var isReadingPaused = false
        /// Whether received messages wait, although there may be receivers, see `holdMessages`.
        var holdsMessages = false
        /// The number of the latest decision that `holdMessages` has followed.
        var holdNumber = 0
        /// The receivers that wait for a message.
        var receivers = Queue<ReceiveHandler>()
        /// The handlers of sent messages that are not yet written to the kernel, with the numbers of the messages.
        var sends = Queue<(number: Int, handler: SendHandler)>()
        var lastSendNumber = 0
        /// The handlers of pings without a pong, in order.
        var pings = Queue<SendHandler>()
        /// The maximum length in bytes of a received message.
        var messageLimit = WebSocketCodec.defaultMessageLimit

        /// The error for further calls; nil while the WebSocket has not ended.
        var endError: (any Error)? {
            guard case .ended(let error) = phase else { return nil }
            return error
        }
    }

    /// Adds a job to the delegate queue, which runs its jobs one after the other.
    typealias Poster = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

    /// A struct, because a closure stored directly in a lock gets one more reabstraction thunk at each access.
    private struct Callbacks: Sendable {
        var post: Poster?
        var onEnd: (@Sendable (Ending) -> Void)?
    }

    private let callbacks = Lock(Callbacks())
    private let state = Lock(State())

    /// Sets the closure that adds jobs to the delegate queue. Must be called before all other methods.
    func setPoster(_ post: @escaping Poster) { callbacks.withLock { $0.post = post } }

    /// Sets the handler for the end. It is called once, on the delegate queue. It is not called if `abort` ends the WebSocket.
    func setEndHandler(_ handler: @escaping @Sendable (Ending) -> Void) {
        callbacks.withLock { $0.onEnd = handler }
    }

    /// Adds a job to the delegate queue.
    private func post(_ job: @escaping @Sendable () -> Void) { callbacks.withLock { $0.post }?(job) }

    // MARK: called by the task

    /// The maximum length in bytes of a received message. A longer message ends the WebSocket with the error `EMSGSIZE`.
    var messageLimit: Int {
        get { state.withLock { $0.messageLimit } }
        set {
            enqueue(.setMessageLimit(newValue)) { $0.messageLimit = newValue }
        }
    }

    /// Sends a message. Calls the handler when the message is written to the kernel, or when sending has failed.
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

    /// Sends a ping. Calls the handler when a pong is received, or when the WebSocket has ended without one.
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

    /// Receives the next message. Calls the handler with the message, or with the error that has ended the WebSocket.
    func receive(_ handler: @escaping ReceiveHandler) {
        state.withLock { $0.receivers.append(handler) }
        post { self.deliver() }
    }

    /// Stops delivering messages to receivers (true), or delivers them again (false).
    ///
    /// While messages are held, reading pauses once many of them wait. After the end of the WebSocket, the messages that arrived
    /// before it are delivered even while they are held.
    func holdMessages(_ isHeld: Bool, decision number: Int) {
        let isReleased = state.withLock { state in
            guard number > state.holdNumber else { return false }
            state.holdNumber = number
            defer { state.holdsMessages = isHeld }
            return state.holdsMessages && !isHeld
        }
        if isReleased { post { self.deliver() } }
    }

    /// The close code and reason: of this side if it has started the closing handshake, otherwise of the peer.
    var closeStatus: CloseStatus { state.withLock { $0.closeStatus } }

    /// Starts the closing handshake after the queued messages (RFC 6455 §7.1.2). Has no effect if the handshake has begun.
    ///
    /// - Parameters:
    ///   - code: The close code. If it must not be sent, the close frame is empty.
    ///   - reason: The reason; omitted if it is not valid UTF-8.
    /// - Returns: False if there is no open connection.
    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) -> Bool {
        let reason = reason.map { Self.validUTF8(Array($0)) } ?? []
        // `WebSocketCloseFrame` throws for a code that must not be sent.
        let frame =
            (try? WebSocketCloseFrame(WebSocketCloseCode(rawValue: UInt16(code.rawValue)), reason: reason))
            ?? .empty
        let isOpen = state.withLock { state -> Bool in
            if case .ended = state.phase { return false }
            if !state.isClosing {
                state.closeStatus = CloseStatus(code: code, reason: Self.nonEmptyData(frame.reason))
            }
            // A second call returns true; a call before the connection is open returns false.
            guard case .open = state.phase, !state.isClosing else { return state.isClosing }
            state.isClosing = true
            state.commands.append(.close(frame))
            // The driver has to read up to the peer's close frame, even if reading was paused or the task is suspended.
            state.isReadingPaused = false
            state.isSuspended = false
            state.commands.append(.resume)
            return true
        }
        if isOpen { scheduleDrain() }
        return isOpen
    }

    /// Returns the reason if it is valid UTF-8, otherwise an empty one. `WebSocketCloseFrame` shortens a reason that is too long.
    private static func validUTF8(_ reason: [UInt8]) -> [UInt8] {
        var progress = UTF8Validator()
        // `validate` returns the index of the first invalid octet; nil if all are valid.
        return progress.validate(reason.span) == nil && progress.isBetweenCharacters ? reason : []
    }

    /// Converts a reason for the program, to which an absent reason is nil.
    private static func nonEmptyData(_ reason: [UInt8]) -> Data? { reason.isEmpty ? nil : Data(reason) }

    /// Suspends or resumes the task. While it is suspended, commands wait, so that nothing new is sent, and the driver delivers
    /// no messages.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { state in
            state.commands.append(isSuspended ? .pause : .resume)
            if !isSuspended { state.isSuspended = false }
        }
        // Called before `isSuspended` is set, because `scheduleDrain` does nothing while the task is suspended, so that the
        // driver would never perform `.pause`.
        scheduleDrain()
        if isSuspended { state.withLock { $0.isSuspended = true } }
    }

    /// Ends the WebSocket at once, without a closing handshake. Waiting handlers get `error`. Has no effect after the end.
    func abort(_ error: any Error) {
        // Does not add a command, because commands wait while the task is suspended.
        // `end` returns the phase before the end. If it was not `open`, there is no driver to abort.
        guard case .open(let loop, let driver) = end(error, reporting: nil) else { return }
        // The result is false if the loop has ended; then its connections are closed.
        _ = loop.execute { driver.value.abort() }
    }

    // MARK: called on the loop

    /// Begins to send and deliver messages. The load calls this on the loop when the opening handshake is complete.
    ///
    /// - Parameters:
    ///   - driver: The driver of the connection; aborted if the WebSocket has ended already.
    ///   - loop: The loop of the connection.
    ///   - announce: Has the delegate's `didOpenWithProtocol` called. This method calls it after the phase has changed to `open`,
    ///     so that the delegate can close the connection, and before a queued message is written.
    func open(
        _ driver: WebSocketDriver, on loop: EventLoop, announcing announce: () -> Void
    ) {
        let isOpened = state.withLock { state -> Bool in
            guard case .connecting = state.phase else { return false }
            state.phase = .open(loop, LoopBound(driver, on: loop))
            // Set here, because this method calls `drain` itself, at its end.
            state.isDraining = true
            return true
        }
        guard isOpened else { return driver.abort() }
        announce()
        // This job runs after the delegate's call. An earlier `receive` may have posted a job that runs before it; as long as
        // `isAnnounced` is false, that job delivers no message.
        post {
            self.state.withLock { $0.isAnnounced = true }
            self.deliver()
        }
        driver.setMessageLimit(messageLimit)
        drain(into: driver, on: loop)
    }

    /// The driver has received a message. Returns whether the driver is to deliver further messages.
    func webSocketReceived(_ message: WebSocketMessage) -> Demand {
        let (demand, canDeliver) = state.withLock { state -> (Demand, Bool) in
            // A message that arrives after the end is ignored.
            if case .ended = state.phase { return (.more, false) }
            let isQueueFull =
                state.messageBytes > max(state.messageLimit, Self.dropBytes)
                || state.messages.count >= Self.dropMessages
            // During the closing handshake reading continues up to the peer's close frame, even if the program adds no receiver.
            // So messages that do not fit are dropped.
            if state.isClosing, isQueueFull { return (.enough, false) }
            state.messages.append(message)
            state.messageBytes += message.octets.count
            // Reading pauses even if a receiver waits, because the delegate queue may be busy for a long time.
            state.isReadingPaused =
                !state.isClosing
                && (state.messageBytes > Self.pauseBytes || state.messages.count >= Self.pauseMessages)
            let canDeliver = !state.receivers.isEmpty && !state.holdsMessages
            return (state.isReadingPaused ? .pause : .more, canDeliver)
        }
        if canDeliver { post { self.deliver() } }
        return demand
    }

    /// The driver has received a pong, which answers the oldest ping.
    func webSocketReceivedPong() {
        let handler = state.withLock { $0.pings.popFirst() }
        if let handler { post { handler(nil) } }
    }

    /// The driver has written all messages up to this number to the kernel.
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

    /// The connection has ended.
    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?) {
        switch outcome {
        case .peerClosed(let frame), .locallyClosed(let frame, answer: _):
            // `frame` is the first close frame: that of the peer, or that of this side. If the program has closed the connection,
            // the status that it has passed stays.
            let frameStatus = Self.closeStatus(of: frame)
            let finalStatus = state.withLock { state in
                if !state.isClosing { state.closeStatus = frameStatus }
                return state.closeStatus
            }
            end(Self.connectionLost(nil), reporting: .closed(finalStatus))
        case .failed(.messageTooBig):
            let error = NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.EMSGSIZE.rawValue))
            end(error, reporting: .failed(error))
        case .failed(let fault):
            let error = URLError.loading(.badServerResponse, url: nil, underlying: fault)
            end(error, reporting: .failed(error))
        case .lost:
            let error = Self.connectionLost(error)
            end(error, reporting: .failed(error))
        }
    }

    // MARK: on the delegate queue

    /// Delivers messages to receivers, until no message or no receiver waits. Delivers one message at a time, because a receiver
    /// usually calls `receive` again, which adds the next receiver.
    private func deliver() {
        while let (receiver, result) = nextDelivery() {
            receiver(result)
        }
    }

    /// Removes and returns the first receiver, with the message for it or, if there are no more messages, with the error that has
    /// ended the WebSocket. Returns nil if nothing can be delivered now.
    private func nextDelivery() -> (ReceiveHandler, Result<WebSocketMessage, any Error>)? {
        var resumesReading = false
        let delivery = state.withLock { state -> (ReceiveHandler, Result<WebSocketMessage, any Error>)? in
            // The receiver stays in the queue if there is nothing to deliver to it.
            guard let receiver = state.receivers.first else { return nil }
            if state.messages.isEmpty {
                guard case .ended(let error) = state.phase else { return nil }
                _ = state.receivers.popFirst()
                return (receiver, .failure(error))
            }
            guard state.isAnnounced, !state.holdsMessages || state.endError != nil,
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

    /// Changes the phase to `ended` and calls the waiting handlers with `error`, on the delegate queue. Has no effect if the
    /// WebSocket has ended already.
    ///
    /// - Parameters:
    ///   - error: The error for waiting handlers and further calls.
    ///   - ending: The ending to report to the end handler; nil if the task itself ends the WebSocket.
    /// - Returns: The previous phase.
    @discardableResult
    private func end(_ error: any Error, reporting ending: Ending?) -> Phase {
        let previous = state.withLock { state -> Phase in
            let previous = state.phase
            if state.endError == nil { state.phase = .ended(error) }
            return previous
        }
        if case .ended = previous { return previous }
        post {
            // Delivers the messages that arrived before the end, then the error, to the receivers.
            self.deliver()
            let sendHandlers = self.state.withLock { state -> [SendHandler] in
                state.sends.takeAll().map(\.handler) + state.pings.takeAll()
            }
            for handler in sendHandlers { handler(error) }
            if let ending { self.callbacks.withLock { $0.onEnd }?(ending) }
        }
        return previous
    }

    /// Converts a close frame for the program. A code that has no case in `CloseCode` becomes `invalid` (U-8.8).
    private static func closeStatus(of frame: WebSocketCloseFrame) -> CloseStatus {
        let code = frame.code.map {
            URLSessionWebSocketTask.CloseCode(rawValue: Int($0.rawValue)) ?? .invalid
        }
        return CloseStatus(code: code ?? .noStatusReceived, reason: nonEmptyData(frame.reason))
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

    /// Schedules `drain` on the loop. Does nothing if there is no open connection, if the task is suspended, or if `drain` is
    /// scheduled already.
    private func scheduleDrain() {
        let connection = state.withLock { state -> (EventLoop, LoopBound<WebSocketDriver>)? in
            guard case .open(let loop, let driver) = state.phase, !state.isDraining, !state.isSuspended
            else { return nil }
            state.isDraining = true
            return (loop, driver)
        }
        guard let (loop, driver) = connection else { return }
        // The result is false if the loop has ended; then there is no connection to send to.
        _ = loop.execute { self.drain(into: driver.value, on: loop) }
    }

    /// Performs the queued commands. Spreads them over several turns of the loop if they are many.
    private func drain(into driver: WebSocketDriver, on loop: EventLoop) {
        // The closure returns false to end the repetition.
        loop.repeatAcrossTurns { [self] in
            guard let command = nextCommand() else { return false }
            perform(command, on: driver)
            return true
        }
    }

    /// Removes and returns the next command. If there is none, ends draining, so that the next command schedules `drain` again.
    private func nextCommand() -> Command? {
        state.withLock { state in
            let command = state.commands.popFirst()
            if command == nil { state.isDraining = false }
            return command
        }
    }

    /// Performs a command. Must be called on the loop.
    private func perform(_ command: Command, on driver: WebSocketDriver) {
        switch command {
        case .send(let message, let number):
            if !driver.send(message, number: number) { failSend(number) }
        // The result is false if the closing handshake has begun, so that no ping is sent. Then `end` calls the handler.
        case .ping: _ = driver.ping()
        case .close(let frame): driver.close(frame)
        case .setMessageLimit(let limit): driver.setMessageLimit(limit)
        case .resume: driver.resume()
        case .pause: driver.pause()
        }
    }

    /// Calls the handler of a message with an error, because the close frame was sent before the message.
    private func failSend(_ number: Int) {
        let handler = state.withLock { state in
            state.sends.removeFirst { $0.number == number }?.handler
        }
        if let handler { post { handler(Self.connectionLost(nil)) } }
    }

    /// Returns the error for a connection that is closed, or that was lost for this reason.
    private static func connectionLost(_ cause: TransportError?) -> URLError {
        URLError.loading(
            .networkConnectionLost, url: nil,
            reason: cause.map { "\($0)" } ?? "the web socket is closed", underlying: cause)
    }

    /// Reading pauses when messages of more than this many bytes wait for receivers (1 MiB). It resumes when at most half of the
    /// bytes, and half of `pauseMessages`, wait.
    private static let pauseBytes = 1 << 20
    /// Reading pauses when at least this many messages wait for receivers.
    private static let pauseMessages = 256
    /// During the closing handshake, messages are dropped when messages of more than this many bytes (1 MiB), and of more than
    /// `messageLimit` bytes, wait for receivers.
    private static let dropBytes = 1 << 20
    /// During the closing handshake, messages are dropped when at least this many messages wait for receivers.
    private static let dropMessages = 1024
}
