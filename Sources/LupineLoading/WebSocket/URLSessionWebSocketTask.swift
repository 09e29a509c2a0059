// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP

/// A task that speaks the WebSocket protocol (RFC 6455): messages both ways until one side closes.
///
/// Any thread may call; handlers come on the session's delegate queue, in order. What is sent before the connection is
/// open waits for it. Messages that came before the end can still be received after it.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// A message.
    public enum Message: Sendable {
        /// Octets.
        case data(Data)
        /// Text.
        case string(String)
    }

    /// Why a connection was closed (RFC 6455 §7.4.1).
    public enum CloseCode: Int, Sendable {
        /// None of the others, or not closed.
        case invalid = 0
        /// What the connection was for is done.
        case normalClosure = 1000
        /// One side leaves.
        case goingAway = 1001
        /// The protocol was broken.
        case protocolError = 1002
        /// A kind of data came that cannot be taken.
        case unsupportedData = 1003
        /// The close frame had no code. Never sent.
        case noStatusReceived = 1005
        /// There was no close frame. Never sent.
        case abnormalClosure = 1006
        /// Data came that is not what its kind says.
        case invalidFramePayloadData = 1007
        /// A message was refused.
        case policyViolation = 1008
        /// A message was too large.
        case messageTooBig = 1009
        /// The server did not agree to an extension that is needed.
        case mandatoryExtensionMissing = 1010
        /// The server cannot go on.
        case internalServerError = 1011
        /// TLS failed. Never sent.
        case tlsHandshakeFailure = 1015
    }

    let socket: WebSocketCore

    init(_ core: TaskCore, _ socket: WebSocketCore) {
        self.socket = socket
        super.init(core)
    }

    /// The largest message that is received, 1 MiB at first. A larger one ends the task with `EMSGSIZE`.
    open var maximumMessageSize: Int {
        get { socket.messageLimit }
        set { socket.messageLimit = max(0, newValue) }
    }

    /// What the connection was closed with: what the server said, or what `cancel(with:reason:)` was given.
    open var closeCode: CloseCode { socket.closure.code }

    /// The reason that went with the code.
    open var closeReason: Data? { socket.closure.reason }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: Text or data.
    ///   - completionHandler: Called on the delegate queue: without an error once the message was written, with the reason
    ///     when it cannot be.
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        socket.send(WebSocketMessage(message), completionHandler)
    }

    /// Sends a message and returns once it was written.
    ///
    /// Throws the `URLError` that ended the connection.
    open func send(_ message: Message) async throws {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
            send(message) { error in waiting.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Waits for a message. Several calls are served one after the other.
    ///
    /// - Parameter completionHandler: Called on the delegate queue with one whole message, or with why there will be none.
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        socket.receive { completionHandler($0.map { Message($0) }) }
    }

    /// The next message.
    ///
    /// Throws the `URLError` that ended the connection; a message over `maximumMessageSize` throws `EMSGSIZE`.
    open func receive() async throws -> Message {
        try await withCheckedThrowingContinuation { waiting in
            receive { waiting.resume(with: $0) }
        }
    }

    /// Holds messages back from whoever waits for them, or lets them go on. They stay in the connection, whose server is not
    /// read from meanwhile; at the end all that came are received.
    package func holdMessages(_ isHeld: Bool) { socket.withhold(isHeld) }

    /// Sends a ping. Pings of the server's are answered without the program's doing.
    ///
    /// - Parameter pongReceiveHandler: Called on the delegate queue when the pong came, or with why it will not.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        socket.ping(pongReceiveHandler)
    }

    /// Sends a ping and returns when the pong came.
    ///
    /// Throws the `URLError` that ended the connection.
    open func sendPing() async throws {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
            sendPing { error in waiting.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Closes the connection: what was sent before goes out, then a close frame, and the server has five seconds to answer.
    /// The task then completes without an error. One that is not connected is cancelled.
    ///
    /// - Parameters:
    ///   - closeCode: The code. One that cannot be sent closes without a code.
    ///   - reason: UTF-8; what is longer than 123 bytes is cut off.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        if !socket.close(closeCode, reason: reason) { cancel() }
    }
}

extension WebSocketMessage {
    /// A message of the program's.
    init(_ message: URLSessionWebSocketTask.Message) {
        switch message {
        case .data(let data): self.init(.binary, Array(data))
        case .string(let text): self.init(.text, Array(text.utf8))
        }
    }
}

extension URLSessionWebSocketTask.Message {
    /// A message as the program gets it; the codec has checked that text is UTF-8.
    init(_ message: WebSocketMessage) {
        switch message.kind {
        case .binary: self = .data(Data(message.octets))
        case .text: self = .string(String(decoding: message.octets, as: UTF8.self))
        }
    }
}
