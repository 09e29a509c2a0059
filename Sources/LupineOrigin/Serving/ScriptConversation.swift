// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Runs a script on one connection. Used on its loop only.
final class ScriptConversation: Conversation {
    private enum State {
        case running
        /// Waits until the connection resumes it.
        case waiting
        /// Pauses between slow reads; `allowance` is refilled afterwards.
        case readingPaused
        case over
    }

    /// The octets that end a head.
    private static let headEnd: [UInt8] = [13, 10, 13, 10]

    private let script: Script
    private var position = 0
    private var state = State.running
    /// Progress inside the current step: bytes consumed, bytes sent, or matched octets of `headEnd`.
    private var progress = 0
    private var frames = FrameScan()
    private var pace: (bytes: Int, pause: Duration)?
    private var allowance = 0

    /// Creates a conversation that starts with the script's first step.
    init(_ script: Script) { self.script = script }

    var wantsInput: Bool {
        guard case .running = state, position < script.steps.count else { return false }
        switch script.steps[position] {
        case .expectHead, .expectBytes, .expectExactly, .expectFrame, .expectEnd: return true
        case .send, .sendByteByByte, .pause, .waitForSignal, .waitForGate, .signal, .slowRead, .reset,
            .halfClose,
            .close, .stall, .speakHTTP, .startTLS, .closeWithoutNotify, .sendCloseNotify, .sendBeneathTLS,
            .cutWire,
            .requestRenegotiation, .updateKeys:
            return false
        }
    }

    /// Always false, so that no idle timeout applies: a script may stall for as long as it likes.
    var awaitsClient: Bool { false }

    func resume(_ connection: ServerConnection) {
        switch state {
        case .waiting:
            state = .running
            next()
        case .readingPaused:
            state = .running
            allowance = pace?.bytes ?? 0
        case .running, .over: break
        }
    }

    func advance(_ connection: ServerConnection) -> Bool {
        guard case .running = state else { return false }
        guard position < script.steps.count else { return end(connection) }
        switch script.steps[position] {
        case .expectHead: return expect(connection) { self.takeHead($0) }
        case .expectBytes(let count): return expect(connection) { self.take($0, of: count) }
        case .expectExactly(let bytes):
            var isOther = false
            let moved = expect(connection) { self.take($0, expecting: bytes, isOther: &isOther) }
            guard !isOther else {
                state = .over
                connection.reset()
                return true
            }
            return moved
        case .expectFrame(let type, let stream):
            return expect(connection) { self.takeFrame($0, type, stream) }
        case .expectEnd: return expectEnd(connection)
        case .send(let bytes):
            guard connection.hasRoom else { return false }
            connection.output += bytes
            next()
        case .sendByteByByte(let bytes):
            guard connection.isFlushed else { return false }
            guard progress < bytes.count else {
                next()
                return true
            }
            connection.output.append(bytes[progress])
            progress += 1
        case .pause(let duration):
            guard connection.isFlushed else { return false }
            state = .waiting
            connection.wait(for: duration)
        case .waitForSignal(let name):
            guard connection.isFlushed else { return false }
            state = .waiting
            connection.wait(for: connection.service.gate(name))
        case .waitForGate(let gate):
            guard connection.isFlushed else { return false }
            state = .waiting
            connection.wait(for: gate)
        case .signal(let name):
            guard connection.isFlushed else { return false }
            connection.service.gate(name).open()
            next()
        case .slowRead(let bytes, let pause):
            pace = (max(1, bytes), pause)
            allowance = max(1, bytes)
            next()
        case .reset:
            guard connection.isFlushed else { return false }
            state = .over
            connection.reset()
        case .halfClose:
            guard connection.isFlushed else { return false }
            connection.closeOurHalf()
            next()
        case .close: return end(connection)
        case .stall: state = .over
        case .speakHTTP:
            guard connection.isFlushed else { return false }
            state = .over
            let configuration = connection.service.configuration
            connection.replaceConversation(
                with: configuration.http2.map { ProtocolChoice($0) }
                    ?? HTTPConversation(limits: configuration.limits))
        case .startTLS(let cut):
            guard connection.isFlushed else { return false }
            next()
            if !connection.startTLS(cutting: cut) { return end(connection) }
        case .closeWithoutNotify: return end(connection, .abandoned)
        case .sendCloseNotify: return onTLS(connection) { _ = $0.endContent() }
        case .sendBeneathTLS(let bytes):
            return onTLS(connection) { channel throws(Errno) in try channel.sendBeneath(bytes) }
        case .cutWire(let cut): return onTLS(connection) { $0.cut(cut) }
        case .requestRenegotiation:
            return onTLS(connection) { channel throws(Errno) in try channel.requestRenegotiation() }
        case .updateKeys(let both):
            return onTLS(connection) { channel throws(Errno) in try channel.updateKeys(both: both) }
        }
        return true
    }

    /// Performs a step that needs TLS, once all earlier output has been sent.
    private func onTLS(
        _ connection: ServerConnection, _ body: (TLSChannel) throws(Errno) -> Void
    ) -> Bool {
        guard connection.isFlushed else { return false }
        next()
        return connection.onTLS(body) || end(connection)
    }

    private func next() {
        position += 1
        progress = 0
    }

    private func end(
        _ connection: ServerConnection, _ ending: ServerConnection.Ending = .orderly(lingering: false)
    ) -> Bool {
        state = .over
        connection.finish(ending)
        return true
    }

    /// Calls `take` with the input that may be read now. It returns the number of bytes it consumed and whether its step has
    /// ended.
    private func expect(
        _ connection: ServerConnection, _ take: (Span<UInt8>) -> (taken: Int, isOver: Bool)
    ) -> Bool {
        if pace != nil, allowance == 0 { return pauseReading(connection) }
        let most = pace == nil ? connection.inputCount : min(allowance, connection.inputCount)
        let (taken, isOver) = connection.withInput { take($0.extracting(0..<most)) }
        connection.consume(taken)
        if pace != nil { allowance -= taken }
        if isOver {
            next()
            return true
        }
        if taken == 0, connection.peerEnded, connection.inputCount == 0 { return end(connection) }
        return taken > 0
    }

    private func pauseReading(_ connection: ServerConnection) -> Bool {
        guard let pace else { return false }
        state = .readingPaused
        connection.wait(for: pace.pause)
        return true
    }

    private func takeHead(_ bytes: Span<UInt8>) -> (taken: Int, isOver: Bool) {
        for index in 0..<bytes.count {
            let octet = bytes[index]
            progress = octet == Self.headEnd[progress] ? progress + 1 : octet == 13 ? 1 : 0
            if progress == Self.headEnd.count { return (index + 1, true) }
        }
        return (bytes.count, false)
    }

    private func take(_ bytes: Span<UInt8>, of count: Int) -> (taken: Int, isOver: Bool) {
        let taken = min(bytes.count, count - progress)
        progress += taken
        return (taken, progress == count)
    }

    private func take(
        _ bytes: Span<UInt8>, expecting all: [UInt8], isOther: inout Bool
    ) -> (taken: Int, isOver: Bool) {
        let (taken, isOver) = take(bytes, of: all.count)
        let start = progress - taken
        for index in 0..<taken where bytes[index] != all[start + index] { isOther = true }
        return (taken, isOver)
    }

    private func takeFrame(
        _ bytes: Span<UInt8>, _ type: UInt8, _ stream: UInt32
    ) -> (taken: Int, isOver: Bool) {
        for index in 0..<bytes.count where frames.take(bytes[index], awaiting: type, on: stream) {
            return (index + 1, true)
        }
        return (bytes.count, false)
    }

    private func expectEnd(_ connection: ServerConnection) -> Bool {
        if connection.peerEnded, connection.inputCount == 0 {
            next()
            return true
        }
        return expect(connection) { ($0.count, false) }
    }
}
