// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTransport

/// The owner that a conversation reports to, on its loop. Implementations must not block.
protocol WebSocketOwner: AnyObject, Sendable {
    /// Receives a complete message. `.pause` stops reading until `resume()`; after `.enough` no more messages are delivered.
    func webSocketReceived(_ message: WebSocketMessage) -> Demand
    /// Receives a pong, solicited or not.
    func webSocketReceivedPong()
    /// Called when all messages up to this number have been written to the kernel.
    func webSocketWrote(through number: Int)
    /// Called once, when no more messages can be received or sent. The error tells why a connection was lost.
    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?)
}

/// A WebSocket after its handshake: the client's end of RFC 6455 §5 to §7 and RFC 7692, on the loop of its connection.
///
/// It answers pings, checks and decompresses messages, and completes the closing handshake, even when the owner is gone. The
/// owner numbers its messages, from 1.
final class WebSocketDriver: UpgradeHandler {
    private let wire: any WebSocketWire
    private let owner: any WebSocketOwner
    private var codec: WebSocketCodec
    private let compressor: MessageDeflater?
    private let decompressor: MessageInflater?
    /// A compressed message that takes longer than one turn of the loop; nothing after it is read.
    private var unfinished: Unfinished?
    /// Received bytes that wait for the owner, or for the unfinished message.
    private var held: [UInt8] = []
    private var isPaused = false
    /// Whether the owner wants no more messages: further input matters only for the closing handshake.
    private var dropsMessages = false
    /// The number of the last message that is not yet written to the kernel.
    private var unwritten: Int?
    private var hasOutput = false
    private var closesWhenDrained = false
    private var isClosed = false
    /// The last ping without an answer; only the last one needs an answer (§5.5.3).
    private var unanswered: [UInt8]?

    private struct Unfinished {
        let kind: WebSocketMessage.Kind
        var message: MessageInflater.Unfinished
    }

    /// Smaller messages are sent uncompressed: compressing them costs more than it saves.
    private static let worthCompressing = 64

    /// Creates a conversation on a connection whose handshake is complete.
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
            guard deflate.clientMaxWindowBits >= 9 else { return nil }
            return try? MessageDeflater(
                windowBits: deflate.clientMaxWindowBits, keepsContext: !deflate.clientNoContextTakeover)
        }
    }

    // MARK: the owner's side

    /// Sets the largest message that is accepted from now on.
    func setMessageLimit(_ limit: Int) { codec.messageLimit = max(0, limit) }

    /// Sends a message; returns false when the closing handshake has begun.
    func send(_ message: WebSocketMessage, number: Int) -> Bool {
        guard codec.maySend else { return false }
        var output: [UInt8] = []
        if let compressor, message.octets.count >= Self.worthCompressing {
            var compressed: [UInt8] = []
            compressor.deflate(message.octets.span, into: &compressed)
            output.reserveCapacity(compressed.count + 14)
            codec.send(message.kind, compressed.span, isCompressed: true, mask: .fresh(), into: &output)
        } else {
            output.reserveCapacity(message.octets.count + 14)
            codec.send(message.kind, message.octets.span, mask: .fresh(), into: &output)
        }
        unwritten = number
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
    func close(_ closure: WebSocketClosure) { move(.close(closure), nil) }

    /// Closes the connection without a closing handshake.
    func abort() {
        guard !isClosed else { return }
        isClosed = true
        wire.close()
    }

    /// Stops delivering messages to the owner.
    func hold() { isPaused = true }

    /// Resumes delivering messages to the owner.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        goOn()
    }

    /// Processes the held bytes, then resumes the connection.
    private func goOn() {
        guard !isPaused, unfinished == nil else { return }
        let bytes = held
        held = []
        if case .pause = read(bytes.span) { return }
        wire.resume()
    }

    // MARK: the connection's side

    func received(_ bytes: Span<UInt8>) -> Demand {
        guard !isPaused, unfinished == nil else {
            held.append(bytes, 0..<bytes.count)
            return .pause
        }
        return read(bytes)
    }

    func drained() {
        hasOutput = false
        wroteEverything()
        answerPing()
        if closesWhenDrained, !hasOutput { move(.ended, nil) }
    }

    func closed(_ error: TransportError?) {
        guard !isClosed else { return }
        move(.ended, error)
    }

    // MARK: reading

    /// Of several pings in one read only the last is answered: each answer costs a system call, and a record under TLS.
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
                    guard case .pause = try take(message) else { continue }
                    held.append(bytes, start..<bytes.count)
                    return .pause
                case .ping(let payload): unanswered = payload
                case .pong: owner.webSocketReceivedPong()
                case .close(let closure):
                    answerPing()
                    move(.received(closure), nil)
                }
            } catch {
                move(.failed(error), nil)
            }
        }
        return .more
    }

    /// Delivers a message to the owner, after decompression if it is compressed.
    private func take(_ message: WebSocketMessage) throws(WebSocketError) -> Demand {
        guard message.isCompressed, decompressor != nil else { return give(message) }
        unfinished = Unfinished(kind: message.kind, message: .init(message.octets))
        return try decompress()
    }

    private func give(_ message: WebSocketMessage) -> Demand {
        let demand = owner.webSocketReceived(message)
        switch demand {
        case .more: break
        case .pause: isPaused = true
        case .enough: dropsMessages = true
        }
        return demand
    }

    /// Decompresses the unfinished message and delivers it, with the checks that the codec makes on an uncompressed message.
    /// Continues in the loop's next turn if it takes long, which a peer can cause.
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
            if let octets { return give(try Self.checked(WebSocketMessage(current.kind, octets))) }
            guard wire.isLate else { continue }
            unfinished = current
            wire.later { [weak self] in self?.decompressFurther() }
            return .pause
        }
    }

    private func decompressFurther() {
        guard !isClosed else { return }
        do throws(WebSocketError) { _ = try decompress() } catch { return move(.failed(error), nil) }
        goOn()
    }

    private static func checked(_ message: WebSocketMessage) throws(WebSocketError) -> WebSocketMessage {
        guard message.kind == .text else { return message }
        var progress = UTF8Progress()
        if let offset = progress.validate(message.octets.span) { throw .invalidUTF8(offset: offset) }
        guard progress.isBetweenCharacters else { throw .invalidUTF8(offset: message.octets.count) }
        return message
    }

    private func answerPing() {
        guard !hasOutput, let payload = unanswered.take() else { return }
        var output: [UInt8] = []
        codec.sendPong(payload.span, mask: .fresh(), into: &output)
        if !output.isEmpty { write(output) }
    }

    // MARK: writing and closing

    private func write(_ output: [UInt8]) {
        guard !isClosed else { return }
        // A failed send means that the connection is about to end, so nothing waits for output.
        hasOutput = wire.send(output) != 0
        if !hasOutput { wroteEverything() }
    }

    private func wroteEverything() {
        if let number = unwritten.take() { owner.webSocketWrote(through: number) }
    }

    private func move(_ event: WebSocketClosing.Event, _ error: TransportError?) {
        var output: [UInt8] = []
        let actions = codec.close(event, mask: .fresh(), into: &output)
        if !output.isEmpty { write(output) }
        switch actions.timer {
        case .keep: break
        case .start: wire.startTimer { [weak self] in self?.move(.timedOut, nil) }
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

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        held = []
        wire.close()
    }
}

extension WebSocketMask {
    /// Returns an unpredictable mask (§10.3).
    static func fresh() -> WebSocketMask { WebSocketMask(key: UInt32.random(in: .min ... .max)) }
}
