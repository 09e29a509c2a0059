// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTransport

/// Receives the events of a `WebSocketDriver`, on its loop. Implementations must not block.
protocol WebSocketOwner: AnyObject, Sendable {
    /// Receives a complete message. After the result `.pause` the driver stops reading until `resume()` is called; after
    /// `.enough` it delivers no more messages.
    func webSocketReceived(_ message: WebSocketMessage) -> Demand
    /// Called when a pong was received, whether or not it answers a ping.
    func webSocketReceivedPong()
    /// Called when the kernel has accepted all messages up to this number.
    func webSocketWrote(through number: Int)
    /// Called once, when no more messages can be received or sent. If the connection was lost, `error` gives the reason.
    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?)
}

/// A WebSocket after its opening handshake, on the event loop of its connection. Implements the client of RFC 6455, sections 5 to
/// 7, and of RFC 7692 (compression).
///
/// The driver answers pings, checks and decompresses messages, and completes the closing handshake, even when the owner wants no
/// more messages. The owner numbers the messages that it sends, from 1.
final class WebSocketDriver: UpgradeHandler {
    private let wire: any WebSocketWire
    private let owner: any WebSocketOwner
    private var codec: WebSocketCodec
    private let compressor: MessageDeflater?
    private let decompressor: MessageInflater?
    /// A compressed message whose decompression takes more than one turn of the loop. The bytes after the message wait in
    /// `unreadBytes`.
    private var unfinishedMessage: UnfinishedMessage?
    /// Received bytes that are read when the owner resumes, or when the unfinished message is decompressed.
    private var unreadBytes: [UInt8] = []
    /// Whether the owner wants no message until it calls `resume()`.
    private var isPaused = false
    /// Whether the owner wants no more messages: further input matters only for the closing handshake.
    private var dropsMessages = false
    /// The number of the last message that is not yet written to the kernel.
    private var unwrittenMessage: Int?
    /// Whether the wire has buffered bytes that the kernel has not accepted.
    private var hasBufferedOutput = false
    /// Whether the connection is closed as soon as the kernel has accepted all bytes.
    private var closesWhenDrained = false
    private var isClosed = false
    /// The payload of the last ping that was not answered yet. Of several pings only the last needs a pong (RFC 6455 §5.5.3).
    private var unansweredPing: [UInt8]?

    /// A message whose decompression has begun.
    private struct UnfinishedMessage {
        let kind: WebSocketMessage.Kind
        /// The compressed octets, and what the decompressor has produced of them.
        var message: MessageInflater.Unfinished
    }

    /// Messages with fewer octets are sent uncompressed: compressing them costs more than it saves.
    private static let minimumCompressedLength = 64
    /// The length of the longest frame header (RFC 6455 §5.2) in octets: 2, then 8 of a length and 4 of the mask.
    private static let maxHeaderLength = 14

    /// Creates a driver for a connection whose opening handshake is complete.
    init(
        over wire: any WebSocketWire, _ agreement: WebSocketAgreement, messageLimit: Int,
        owner: any WebSocketOwner
    ) {
        self.wire = wire
        self.owner = owner
        codec = WebSocketCodec(
            .client, messageLimit: messageLimit, allowsCompression: agreement.deflate != nil)
        decompressor = agreement.deflate.map { MessageInflater(keepsContext: !$0.serverNoContextTakeover) }
        compressor = agreement.deflate.flatMap { deflate in
            // zlib cannot compress with a window of 8 bits. Without a compressor, messages are sent uncompressed.
            guard deflate.clientMaxWindowBits >= 9 else { return nil }
            return try? MessageDeflater(
                windowBits: deflate.clientMaxWindowBits, keepsContext: !deflate.clientNoContextTakeover)
        }
    }

    // MARK: called by the owner

    /// Sets the largest size, in octets, of a message that is accepted.
    func setMessageLimit(_ limit: Int) { codec.messageLimit = max(0, limit) }

    /// Sends a message. Returns false, and sends nothing, when the closing handshake has begun.
    func send(_ message: WebSocketMessage, number: Int) -> Bool {
        guard codec.maySend else { return false }
        var output: [UInt8] = []
        if let compressor, message.octets.count >= Self.minimumCompressedLength {
            var compressed: [UInt8] = []
            compressor.deflate(message.octets.span, into: &compressed)
            output.reserveCapacity(compressed.count + Self.maxHeaderLength)
            codec.send(message.kind, compressed.span, isCompressed: true, mask: .random(), into: &output)
        } else {
            output.reserveCapacity(message.octets.count + Self.maxHeaderLength)
            codec.send(message.kind, message.octets.span, mask: .random(), into: &output)
        }
        unwrittenMessage = number
        write(output)
        return true
    }

    /// Sends a ping. Returns false, and sends nothing, when the closing handshake has begun.
    func ping() -> Bool {
        guard codec.maySend else { return false }
        var output: [UInt8] = []
        let emptyPayload: [UInt8] = []
        codec.sendPing(emptyPayload.span, mask: .random(), into: &output)
        write(output)
        return true
    }

    /// Starts the closing handshake.
    func close(_ closure: WebSocketCloseFrame) { handle(.close(closure)) }

    /// Closes the connection without a closing handshake.
    func abort() {
        guard !isClosed else { return }
        isClosed = true
        wire.close()
    }

    /// Stops delivering messages to the owner until `resume()`.
    func pause() { isPaused = true }

    /// Resumes delivering messages to the owner.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        readUnreadBytes()
    }

    /// Reads the bytes that have waited, then resumes the connection. Does nothing while reading must wait.
    private func readUnreadBytes() {
        guard !isPaused, unfinishedMessage == nil else { return }
        let bytes = unreadBytes
        unreadBytes = []
        if case .pause = read(bytes.span) { return }
        wire.resume()
    }

    // MARK: called by the connection

    func received(_ bytes: Span<UInt8>) -> Demand {
        guard !isPaused, unfinishedMessage == nil else {
            unreadBytes.append(bytes, 0..<bytes.count)
            return .pause
        }
        return read(bytes)
    }

    func drained() {
        hasBufferedOutput = false
        reportWritten()
        answerPing()
        if closesWhenDrained, !hasBufferedOutput { handle(.ended) }
    }

    func closed(_ error: TransportError?) {
        guard !isClosed else { return }
        handle(.ended, lossReason: error)
    }

    // MARK: reading

    /// Decodes bytes and handles their frames. Answers only the last of several pings, because each pong costs a system call and
    /// a TLS record.
    private func read(_ bytes: Span<UInt8>) -> Demand {
        defer { answerPing() }
        var start = 0
        while !isClosed {
            do throws(WebSocketError) {
                let (event, consumed) = try codec.next(bytes.extracting(start...))
                start += consumed
                switch event {
                case .needMore: return .more
                case .message(let message):
                    if dropsMessages { continue }
                    guard case .pause = try decompressAndDeliver(message) else { continue }
                    unreadBytes.append(bytes, start..<bytes.count)
                    return .pause
                case .ping(let payload): unansweredPing = payload
                case .pong: owner.webSocketReceivedPong()
                case .close(let closure):
                    // The pong must precede the close frame of the answer, after which nothing may be sent.
                    answerPing()
                    handle(.received(closure))
                }
            } catch {
                handle(.failed(error))
            }
        }
        return .more
    }

    /// Decompresses a message if it is compressed, and delivers it to the owner.
    private func decompressAndDeliver(_ message: WebSocketMessage) throws(WebSocketError) -> Demand {
        guard message.isCompressed, decompressor != nil else { return deliver(message) }
        unfinishedMessage = UnfinishedMessage(kind: message.kind, message: .init(message.octets))
        return try decompress()
    }

    /// Passes a message to the owner, and records what the owner demands.
    private func deliver(_ message: WebSocketMessage) -> Demand {
        let demand = owner.webSocketReceived(message)
        switch demand {
        case .more: break
        case .pause: isPaused = true
        case .enough: dropsMessages = true
        }
        return demand
    }

    /// Decompresses the unfinished message, validates it as the codec validates an uncompressed message, and delivers it. If that
    /// takes long, continues in the loop's next turn, because a peer can send a short message that expands to a very long one.
    private func decompress() throws(WebSocketError) -> Demand {
        guard let decompressor, var current = unfinishedMessage.take() else { return .more }
        while true {
            // Nil means that more of the message is to be decompressed.
            let octets: [UInt8]?
            do throws(CodingError) {
                octets = try decompressor.resume(&current.message, limit: codec.messageLimit)
            } catch {
                if case .outputLimit = error { throw .messageTooBig(limit: codec.messageLimit) }
                throw .invalidCompression
            }
            if let octets { return deliver(try Self.validated(WebSocketMessage(current.kind, octets))) }
            guard wire.isLate else { continue }
            unfinishedMessage = current
            wire.runInNextTurn { [weak self] in self?.continueDecompressing() }
            return .pause
        }
    }

    /// Continues `decompress` in the loop's next turn.
    private func continueDecompressing() {
        guard !isClosed else { return }
        do throws(WebSocketError) { _ = try decompress() } catch { return handle(.failed(error)) }
        // This does nothing if the owner has demanded a pause, or if the message is still unfinished.
        readUnreadBytes()
    }

    /// Returns the message; throws if it is text but not valid UTF-8 (RFC 6455 §8.1).
    private static func validated(_ message: WebSocketMessage) throws(WebSocketError) -> WebSocketMessage {
        guard message.kind == .text else { return message }
        var progress = UTF8Validator()
        if let offset = progress.validate(message.octets.span) { throw .invalidUTF8(offset: offset) }
        guard progress.isBetweenCharacters else { throw .invalidUTF8(offset: message.octets.count) }
        return message
    }

    /// Sends the pong for the last ping, unless output is buffered; then `drained` calls this again.
    private func answerPing() {
        guard !hasBufferedOutput, let payload = unansweredPing.take() else { return }
        var output: [UInt8] = []
        codec.sendPong(payload.span, mask: .random(), into: &output)
        if !output.isEmpty { write(output) }
    }

    // MARK: writing and closing

    /// Sends bytes, and reports the written messages if the kernel has accepted all bytes.
    private func write(_ output: [UInt8]) {
        guard !isClosed else { return }
        // After a failed send, whose result is nil, the output counts as buffered. That does not matter, because the connection
        // ends.
        hasBufferedOutput = wire.send(output) != 0
        if !hasBufferedOutput { reportWritten() }
    }

    /// Reports to the owner that the kernel has accepted all sent messages.
    private func reportWritten() {
        if let number = unwrittenMessage.take() { owner.webSocketWrote(through: number) }
    }

    /// Passes an event of the closing handshake to the codec, and performs the actions that the codec returns. If the connection
    /// was lost, `lossReason` is its error; otherwise nil.
    private func handle(_ event: WebSocketClosing.Event, lossReason: TransportError? = nil) {
        var output: [UInt8] = []
        let actions = codec.close(event, mask: .random(), into: &output)
        if !output.isEmpty { write(output) }
        switch actions.timer {
        case .keep: break
        case .start: wire.startTimer { [weak self] in self?.handle(.timedOut) }
        case .cancel: wire.cancelTimer()
        }
        switch actions.connection {
        case .keep: break
        case .closeWhenSent:
            if hasBufferedOutput { closesWhenDrained = true } else { end() }
        case .close: end()
        }
        if let outcome = actions.outcome { owner.webSocketEnded(outcome, lossReason) }
    }

    /// Closes the connection, and discards the unread bytes.
    private func end() {
        guard !isClosed else { return }
        isClosed = true
        unreadBytes = []
        wire.close()
    }
}

extension WebSocketMask {
    /// Returns an unpredictable mask (RFC 6455 §10.3).
    static func random() -> WebSocketMask { WebSocketMask(key: UInt32.random(in: .min ... .max)) }
}
