// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineHTTP

/// A task that speaks the WebSocket protocol (RFC 6455): messages in both directions until one side closes the connection.
///
/// May be called on any thread; handlers are called on the session's delegate queue, in order. Messages sent before the
/// connection is open wait for it. Messages received before the end can still be read after it.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    /// A message.
    public enum Message: Sendable {
        /// Binary data.
        case data(Data)
        /// Text.
        case string(String)
    }

    /// Why a connection was closed (RFC 6455 §7.4.1).
    public enum CloseCode: Int, Sendable {
        /// The connection is not closed, or its close code has no case in this enumeration.
        case invalid = 0
        /// The purpose of the connection is fulfilled.
        case normalClosure = 1000
        /// An endpoint goes away: the server shuts down, or the program no longer needs the connection.
        case goingAway = 1001
        /// An endpoint has violated the protocol.
        case protocolError = 1002
        /// A type of data was received that cannot be accepted.
        case unsupportedData = 1003
        /// The close frame had no code. Never sent.
        case noStatusReceived = 1005
        /// There was no close frame. Never sent.
        case abnormalClosure = 1006
        /// A message does not match its type, for example text that is not UTF-8.
        case invalidFramePayloadData = 1007
        /// A message violates a policy.
        case policyViolation = 1008
        /// A message was too large.
        case messageTooBig = 1009
        /// The server did not negotiate a required extension.
        case mandatoryExtensionMissing = 1010
        /// The server cannot fulfill the request.
        case internalServerError = 1011
        /// TLS failed. Never sent.
        case tlsHandshakeFailure = 1015
    }

    /// The implementation of the task's own methods.
    let socket: WebSocketCore

    init(_ core: TaskCore, _ socket: WebSocketCore) {
        self.socket = socket
        super.init(core)
    }

    /// The maximum length in bytes of a received message; 1 MiB by default. A longer message ends the task with `EMSGSIZE`.
    open var maximumMessageSize: Int {
        get { socket.messageLimit }
        set { socket.messageLimit = max(0, newValue) }
    }

    /// The close code: the argument of `cancel(with:reason:)` if the program has closed the connection, otherwise that of the
    /// server; `invalid` as long as neither side has closed the connection.
    open var closeCode: CloseCode { socket.closeStatus.code }

    /// The reason that was sent with the close code; nil if there was none.
    open var closeReason: Data? { socket.closeStatus.reason }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: Text or data.
    ///   - completionHandler: Called on the delegate queue: with nil once the message is written to the kernel, or with the error
    ///     if sending failed.
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        socket.send(WebSocketMessage(message), completionHandler)
    }

    /// Sends a message and returns once it is written.
    ///
    /// Throws the `URLError` that ended the connection.
    open func send(_ message: Message) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            send(message) { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Receives a message. If several calls wait, messages go to them in the order of the calls.
    ///
    /// - Parameter completionHandler: Called on the delegate queue with a complete message, or with the error that ended the
    ///   task.
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        socket.receive { completionHandler($0.map { Message($0) }) }
    }

    /// Returns the next message.
    ///
    /// Throws the `URLError` that ended the connection; a message over `maximumMessageSize` throws `EMSGSIZE`.
    open func receive() async throws -> Message {
        try await withCheckedThrowingContinuation { continuation in
            receive { continuation.resume(with: $0) }
        }
    }

    /// Stops delivering messages to `receive` (true), or delivers them again (false). While messages are held, reading pauses
    /// once many of them wait. When the connection has ended, all messages that arrived are delivered.
    ///
    /// The caller numbers its decisions, from 1: a call has no effect after one with a greater number, so that threads need not
    /// call in the order in which they have decided.
    package func holdMessages(_ isHeld: Bool, decision number: Int) {
        socket.holdMessages(isHeld, decision: number)
    }

    /// Sends a ping. Pings from the server are answered automatically.
    ///
    /// - Parameter pongReceiveHandler: Called on the delegate queue: with nil when the pong is received, or with the error that
    ///   ended the connection.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        socket.ping(pongReceiveHandler)
    }

    /// Sends a ping and returns when the pong is received.
    ///
    /// Throws the `URLError` that ended the connection.
    open func sendPing() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            sendPing { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    /// Closes the connection: sends the waiting messages, then a close frame, and waits up to five seconds for the server's close
    /// frame. The task then completes without an error. A task that is not connected is cancelled.
    ///
    /// - Parameters:
    ///   - closeCode: The close code. If it is one that must not be sent, the close frame has neither code nor reason.
    ///   - reason: The reason in UTF-8; cut off after 123 bytes. Omitted if it is not valid UTF-8.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        if !socket.close(closeCode, reason: reason) { cancel() }
    }
}

extension WebSocketMessage {
    /// Converts a message of the program for the codec.
    init(_ message: URLSessionWebSocketTask.Message) {
        switch message {
        case .data(let data): self.init(.binary, Array(data))
        case .string(let text): self.init(.text, Array(text.utf8))
        }
    }
}

extension URLSessionWebSocketTask.Message {
    /// Converts a received message. The codec has already checked that text is UTF-8.
    init(_ message: WebSocketMessage) {
        switch message.kind {
        case .binary: self = .data(Data(message.octets))
        case .text: self = .string(String(decoding: message.octets, as: UTF8.self))
        }
    }
}
