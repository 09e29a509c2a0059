// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTransport

/// Receives the events of a `WebSocketDriver`, on its loop. Implementations must not block.
protocol WebSocketOwner: AnyObject, Sendable {
    /// Receives a complete message. After `.pause` the driver stops reading until `resume()`; after `.enough` it delivers no more
    /// messages.
    func webSocketReceived(_ message: WebSocketMessage) -> Demand
    /// Called when a pong was received, whether or not it answers a ping.
    func webSocketReceivedPong()
    /// Called when all messages up to this number have been written to the kernel.
    func webSocketWrote(through number: Int)
    /// Called once, when no more messages can be received or sent. `error` says why the connection was lost, if it was.
    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?)
}

/// A WebSocket after its handshake: the client's end of RFC 6455 §5 to §7 and RFC 7692, on the loop of its connection.
///
/// The driver answers pings, checks and decompresses messages, and completes the closing handshake, even when the owner wants no
/// more messages. The owner numbers the messages that it sends, from 1.
final class WebSocketDriver: UpgradeHandler {
    private let wire: any WebSocketWire
    private let owner: any WebSocketOwner
    private var codec: WebSocketCodec
    private let compressor: MessageDeflater?
    private let decompressor: MessageInflater?
    /// A compressed message whose decompression takes more than one turn of the loop; the bytes after it wait in `heldBytes`.
    private var unfinished: Unfinished?
    /// Received bytes that are read when the owner resumes, or when the unfinished message is decompressed.
    private var heldBytes: [UInt8] = []
    private var isPaused = false
    /// Whether the owner wants no more messages: further input matters only for the closing handshake.
    private var dropsMessages = false
    /// The number of the last message that is not yet written to the kernel.
    private var unwrittenMessage: Int?
    /// Whether the wire has buffered bytes that the kernel has not accepted.
    private var hasOutput = false
    private var closesWhenDrained = false
    private var isClosed = false
    /// The payload of the last ping without a pong; of several pings only the last needs one (RFC 6455 §5.5.3).
    private var unansweredPing: [UInt8]?

    private struct Unfinished {
        let kind: WebSocketMessage.Kind
        var message: MessageInflater.Unfinished
    }

    /// Messages with fewer octets are sent uncompressed: compressing them costs more than it saves.
    private static let minimumCompressedLength = 64
    /// The length of the longest frame header (RFC 6455 §5.2): 2 octets, 8 of a length and 4 of the mask.
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
            // zlib cannot compress with a window of 8 bits; messages are then sent uncompressed.
            guard deflate.clientMaxWindowBits >= 9 else { return nil }
            return try? MessageDeflater(
                windowBits: deflate.clientMaxWindowBits, keepsContext: !deflate.clientNoContextTakeover)
        }
    }

    // MARK: called by the owner

    /// Sets the size of the largest message that is accepted.
    func setMessageLimit(_ limit: Int) { codec.messageLimit = max(0, limit) }

    /// Sends a message; returns false when the closing handshake has begun.
    func send(_ message: WebSocketMessage, number: Int) -> Bool {
        guard codec.maySend else { return false }
        var output: [UInt8] = []
        if let compressor, message.octets.count >= Self.minimumCompressedLength {
            var compressed: [UInt8] = []
            compressor.deflate(message.octets.span, into: &compressed)
            output.reserveCapacity(compressed.count + Self.maxHeaderLength)
            codec.send(message.kind, compressed.span, isCompressed: true, mask: .fresh(), into: &output)
        } else {
            output.reserveCapacity(message.octets.count + Self.maxHeaderLength)
            codec.send(message.kind, message.octets.span, mask: .fresh(), into: &output)
        }
        unwrittenMessage = number
        write(output)
        return true
    }

    /// Sends a ping; returns false when the closing handshake has begun.
    func ping() -> Bool {
        guard codec.maySend else { return false }
        var output: [UInt8] = []
        let nothing: [UInt8] = []
        codec.sendPing(nothing.span, mask: .fresh(), into: &output)
        write(output)
        return true
    }

    /// Starts the closing handshake.
    func close(_ closure: WebSocketClosure) { handle(.close(closure), nil) }

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
        processHeldBytes()
    }

    /// Reads the held bytes, then resumes the connection.
    private func processHeldBytes() {
        guard !isPaused, unfinished == nil else { return }
        let bytes = heldBytes
        heldBytes = []
        if case .pause = read(bytes.span) { return }
        wire.resume()
    }

    // MARK: called by the connection

    func received(_ bytes: Span<UInt8>) -> Demand {
        guard !isPaused, unfinished == nil else {
            heldBytes.append(bytes, 0..<bytes.count)
            return .pause
        }
        return read(bytes)
    }

    func drained() {
        hasOutput = false
        reportWritten()
        answerPing()
        if closesWhenDrained, !hasOutput { handle(.ended, nil) }
    }

    func closed(_ error: TransportError?) {
        guard !isClosed else { return }
        handle(.ended, error)
    }

    // MARK: reading

    /// Decodes bytes and handles their events. Answers only the last of several pings, because each pong costs a system call, and
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
                    heldBytes.append(bytes, start..<bytes.count)
                    return .pause
                case .ping(let payload): unansweredPing = payload
                case .pong: owner.webSocketReceivedPong()
                case .close(let closure):
                    answerPing()
                    handle(.received(closure), nil)
                }
            } catch {
                handle(.failed(error), nil)
            }
        }
        return .more
    }

    /// Decompresses a message if it is compressed, and delivers it to the owner.
    private func decompressAndDeliver(_ message: WebSocketMessage) throws(WebSocketError) -> Demand {
        guard message.isCompressed, decompressor != nil else { return deliver(message) }
        unfinished = Unfinished(kind: message.kind, message: .init(message.octets))
        return try decompress()
    }

    private func deliver(_ message: WebSocketMessage) -> Demand {
        let demand = owner.webSocketReceived(message)
        switch demand {
        case .more: break
        case .pause: isPaused = true
        case .enough: dropsMessages = true
        }
        return demand
    }

    /// Decompresses the unfinished message, checks it as the codec checks an uncompressed message, and delivers it. Continues in
    /// the loop's next turn if that takes long: a peer can send a message that expands enormously.
    private func decompress() throws(WebSocketError) -> Demand {
        guard let decompressor, var current = unfinished.take() else { return .more }
        while true {
            let octets: [UInt8]?
            do throws(CodingError) {
                octets = try decompressor.resume(&current.message, limit: codec.messageLimit)
            } catch {
                if case .outputLimit = error { throw .messageTooBig(limit: codec.messageLimit) }
                throw .invalidCompression
            }
            if let octets { return deliver(try Self.checked(WebSocketMessage(current.kind, octets))) }
            guard wire.isLate else { continue }
            unfinished = current
            wire.later { [weak self] in self?.continueDecompressing() }
            return .pause
        }
    }

    private func continueDecompressing() {
        guard !isClosed else { return }
        do throws(WebSocketError) { _ = try decompress() } catch { return handle(.failed(error), nil) }
        // Does nothing if the owner has demanded a pause, or if the message is still unfinished.
        processHeldBytes()
    }

    /// Returns the message; throws if it is text but not valid UTF-8 (RFC 6455 §8.1).
    private static func checked(_ message: WebSocketMessage) throws(WebSocketError) -> WebSocketMessage {
        guard message.kind == .text else { return message }
        var progress = UTF8Progress()
        if let offset = progress.validate(message.octets.span) { throw .invalidUTF8(offset: offset) }
        guard progress.isBetweenCharacters else { throw .invalidUTF8(offset: message.octets.count) }
        return message
    }

    /// Sends the pong for the last ping, unless output is buffered; then `drained` calls this again.
    private func answerPing() {
        guard !hasOutput, let payload = unansweredPing.take() else { return }
        var output: [UInt8] = []
        codec.sendPong(payload.span, mask: .fresh(), into: &output)
        if !output.isEmpty { write(output) }
    }

    // MARK: writing and closing

    private func write(_ output: [UInt8]) {
        guard !isClosed else { return }
        // After a failed send (nil) the output counts as buffered for ever, because the connection is about to end.
        hasOutput = wire.send(output) != 0
        if !hasOutput { reportWritten() }
    }

    /// Tells the owner which messages the kernel has accepted.
    private func reportWritten() {
        if let number = unwrittenMessage.take() { owner.webSocketWrote(through: number) }
    }

    /// Passes an event of the closing handshake to the codec, and performs the actions that it returns. `error` says why the
    /// connection was lost, if it was.
    private func handle(_ event: WebSocketClosing.Event, _ error: TransportError?) {
        var output: [UInt8] = []
        let actions = codec.close(event, mask: .fresh(), into: &output)
        if !output.isEmpty { write(output) }
        switch actions.timer {
        case .keep: break
        case .start: wire.startTimer { [weak self] in self?.handle(.timedOut, nil) }
        case .cancel: wire.cancelTimer()
        }
        switch actions.wire {
        case .keep: break
        case .closeWhenSent:
            if hasOutput { closesWhenDrained = true } else { end() }
        case .close: end()
        }
        if let outcome = actions.outcome { owner.webSocketEnded(outcome, error) }
    }

    /// Closes the connection, and discards the held bytes.
    private func end() {
        guard !isClosed else { return }
        isClosed = true
        heldBytes = []
        wire.close()
    }
}

extension WebSocketMask {
    /// Returns an unpredictable mask (RFC 6455 §10.3).
    static func fresh() -> WebSocketMask { WebSocketMask(key: UInt32.random(in: .min ... .max)) }
}
