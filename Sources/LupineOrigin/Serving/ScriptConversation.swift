// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Runs a script on one connection. Used on its loop only.
final class ScriptConversation: Conversation {
    private enum State {
        case running
        /// The current step waits until the connection resumes the conversation, and ends then.
        case waiting
        /// A pause between slow reads. Afterwards `remainingReadBytes` is set again, and the current step continues.
        case readingPaused
        case over
    }

    /// The octets that end a head: CR LF CR LF.
    private static let headEnd: [UInt8] = [13, 10, 13, 10]

    private let script: Script
    /// The index of the current step.
    private var position = 0
    private var state = State.running
    /// The progress of the current step: the number of bytes that it has consumed or sent. For `expectHead`, the number of octets
    /// of `headEnd` that the last received octets match.
    private var stepProgress = 0
    private var frameScanner = FrameScanner()
    /// The number of bytes to read before each pause, and the pause; nil unless a `slowRead` step has run.
    private var slowRead: (bytes: Int, pause: Duration)?
    /// The number of bytes that may be read before the next pause. Used only after a `slowRead` step.
    private var remainingReadBytes = 0

    /// Creates a conversation that starts with the script's first step.
    init(_ script: Script) { self.script = script }

    var wantsInput: Bool {
        guard case .running = state, position < script.steps.count else { return false }
        switch script.steps[position] {
        case .expectHead, .expectBytes, .expectExactly, .expectFrame, .expectEnd: return true
        case .send, .sendByteByByte, .pause, .waitForSignal, .waitForGate, .signal, .slowRead, .reset,
            .halfClose, .close, .stall, .speakHTTP, .startTLS, .closeWithoutNotify, .sendCloseNotify,
            .sendBeneathTLS, .cutWire, .requestRenegotiation, .updateKeys:
            return false
        }
    }

    /// Always false, so that no idle timeout applies: a script may stall for any time.
    var awaitsClient: Bool { false }

    func resume(_ connection: ServerConnection) {
        switch state {
        case .waiting:
            state = .running
            endStep()
        case .readingPaused:
            state = .running
            remainingReadBytes = slowRead?.bytes ?? 0
        case .running, .over: break
        }
    }

    func advance(_ connection: ServerConnection) -> Bool {
        guard case .running = state else { return false }
        guard position < script.steps.count else { return end(connection) }
        switch script.steps[position] {
        case .expectHead: return expect(connection) { self.consumeHead($0) }
        case .expectBytes(let count): return expect(connection) { self.consume($0, of: count) }
        case .expectExactly(let bytes): return expectExactly(bytes, connection)
        case .expectFrame(let type, let stream):
            return expect(connection) { self.consumeFrame($0, type, stream) }
        case .expectEnd: return expectEnd(connection)
        case .send(let bytes):
            guard connection.hasOutputRoom else { return false }
            connection.output += bytes
            endStep()
        case .sendByteByByte(let bytes): return sendNextByte(of: bytes, connection)
        case .pause(let duration): return wait(connection) { $0.wait(for: duration) }
        case .waitForSignal(let name): return wait(connection) { $0.wait(for: $0.service.gate(name)) }
        case .waitForGate(let gate): return wait(connection) { $0.wait(for: gate) }
        case .signal(let name):
            guard connection.isFlushed else { return false }
            connection.service.gate(name).open()
            endStep()
        case .slowRead(let bytes, let pause):
            // At least one byte, so that reading makes progress.
            slowRead = (max(1, bytes), pause)
            remainingReadBytes = max(1, bytes)
            endStep()
        case .reset:
            guard connection.isFlushed else { return false }
            state = .over
            connection.reset()
        case .halfClose:
            guard connection.isFlushed else { return false }
            connection.closeOwnHalf()
            endStep()
        case .close: return end(connection)
        case .stall: state = .over
        case .speakHTTP: return speakHTTP(connection)
        case .startTLS(let wireCut):
            guard connection.isFlushed else { return false }
            endStep()
            // The origin sends the ciphertext up to the cut only, which may be in the handshake; nil cuts nothing.
            if !connection.startTLS(cutting: wireCut) { return end(connection) }
        case .closeWithoutNotify: return end(connection, .withoutNotify)
        // If the content has already ended, the step has no effect.
        case .sendCloseNotify: return performOnTLS(connection) { _ = $0.endContent() }
        case .sendBeneathTLS(let bytes):
            return performOnTLS(connection) { channel throws(Errno) in try channel.sendBeneath(bytes) }
        // From now on, the origin sends the ciphertext up to the cut only.
        case .cutWire(let wireCut): return performOnTLS(connection) { $0.limitOutput(to: wireCut) }
        case .requestRenegotiation:
            return performOnTLS(connection) { channel throws(Errno) in try channel.requestRenegotiation() }
        case .updateKeys(let asksClient):
            return performOnTLS(connection) { channel throws(Errno) in
                try channel.updateKeys(both: asksClient)
            }
        }
        return true
    }

    // Each of the following methods performs a step. It returns false while the step waits for input, or for the kernel to accept
    // earlier output.

    /// Sends the next byte of a step when the kernel has accepted the previous byte.
    private func sendNextByte(of bytes: [UInt8], _ connection: ServerConnection) -> Bool {
        guard connection.isFlushed else { return false }
        guard stepProgress < bytes.count else {
            endStep()
            return true
        }
        connection.output.append(bytes[stepProgress])
        stepProgress += 1
        return true
    }

    /// Begins a wait when all earlier output has been sent.
    private func wait(_ connection: ServerConnection, _ begin: (ServerConnection) -> Void) -> Bool {
        guard connection.isFlushed else { return false }
        state = .waiting
        begin(connection)
        return true
    }

    /// Replaces the script by a conversation in HTTP when all earlier output has been sent.
    private func speakHTTP(_ connection: ServerConnection) -> Bool {
        guard connection.isFlushed else { return false }
        state = .over
        let configuration = connection.service.configuration
        // If the origin supports HTTP/2, the detector finds out which version the client uses.
        connection.replaceConversation(
            with: configuration.http2.map { ProtocolDetector($0) }
                ?? HTTP1Conversation(limits: configuration.limits))
        return true
    }

    /// Performs a step that needs TLS when all earlier output has been sent. Closes the connection if it does not use TLS, or the
    /// step fails.
    private func performOnTLS(
        _ connection: ServerConnection, _ body: (TLSChannel) throws(Errno) -> Void
    ) -> Bool {
        guard connection.isFlushed else { return false }
        endStep()
        guard connection.performOnTLS(body) else { return end(connection) }
        return true
    }

    /// Ends the current step.
    private func endStep() {
        position += 1
        stepProgress = 0
    }

    /// Ends the script and the connection. Always returns true.
    private func end(
        _ connection: ServerConnection, _ ending: ServerConnection.Ending = .orderly(lingering: false)
    ) -> Bool {
        state = .over
        connection.finish(ending)
        return true
    }

    /// Calls `body` with the input that the step may read: all, or less after a `slowRead` step. `body` returns the number of
    /// bytes that it has consumed, and whether the step has ended.
    private func expect(
        _ connection: ServerConnection, _ body: (Span<UInt8>) -> (consumed: Int, isStepOver: Bool)
    ) -> Bool {
        if slowRead != nil, remainingReadBytes == 0 { return pauseReading(connection) }
        let limit = slowRead == nil ? connection.inputCount : min(remainingReadBytes, connection.inputCount)
        let (consumed, isStepOver) = connection.withInput { body($0.extracting(0..<limit)) }
        connection.consume(consumed)
        if slowRead != nil { remainingReadBytes -= consumed }
        if isStepOver {
            endStep()
            return true
        }
        // The client has closed its half, so the step can never end.
        if consumed == 0, connection.hasPeerEnded, connection.inputCount == 0 { return end(connection) }
        return consumed > 0
    }

    /// Begins a pause between slow reads.
    private func pauseReading(_ connection: ServerConnection) -> Bool {
        guard let slowRead else { return false }
        state = .readingPaused
        connection.wait(for: slowRead.pause)
        return true
    }

    /// Consumes bytes up to the end of a head.
    private func consumeHead(_ bytes: Span<UInt8>) -> (consumed: Int, isStepOver: Bool) {
        for index in 0..<bytes.count {
            let octet = bytes[index]
            if octet == Self.headEnd[stepProgress] {
                stepProgress += 1
            } else {
                // A CR may begin the end of the head.
                stepProgress = octet == Self.headEnd[0] ? 1 : 0
            }
            if stepProgress == Self.headEnd.count { return (index + 1, true) }
        }
        return (bytes.count, false)
    }

    /// Consumes bytes until the step has consumed `count`.
    private func consume(_ bytes: Span<UInt8>, of count: Int) -> (consumed: Int, isStepOver: Bool) {
        let consumed = min(bytes.count, count - stepProgress)
        stepProgress += consumed
        return (consumed, stepProgress == count)
    }

    /// Consumes bytes until the step has consumed as many as are expected. Sets `differs` if a byte is not the expected one.
    private func consume(
        _ bytes: Span<UInt8>, expecting expectedBytes: [UInt8], differs: inout Bool
    ) -> (consumed: Int, isStepOver: Bool) {
        let (consumed, isStepOver) = consume(bytes, of: expectedBytes.count)
        let start = stepProgress - consumed
        for index in 0..<consumed where bytes[index] != expectedBytes[start + index] { differs = true }
        return (consumed, isStepOver)
    }

    /// Consumes bytes up to the end of the header of a frame of this type on this stream.
    private func consumeFrame(
        _ bytes: Span<UInt8>, _ type: UInt8, _ stream: UInt32
    ) -> (consumed: Int, isStepOver: Bool) {
        for index in 0..<bytes.count where frameScanner.consume(bytes[index], awaiting: type, on: stream) {
            return (index + 1, true)
        }
        return (bytes.count, false)
    }

    /// Reads these bytes. Resets the connection if other bytes arrive.
    private func expectExactly(_ bytes: [UInt8], _ connection: ServerConnection) -> Bool {
        var differs = false
        let hasProgressed = expect(connection) { self.consume($0, expecting: bytes, differs: &differs) }
        guard !differs else {
            state = .over
            connection.reset()
            return true
        }
        return hasProgressed
    }

    /// Reads and drops input until the client has closed its half.
    private func expectEnd(_ connection: ServerConnection) -> Bool {
        if connection.hasPeerEnded, connection.inputCount == 0 {
            endStep()
            return true
        }
        // Consumes all input; the condition above ends the step.
        return expect(connection) { ($0.count, false) }
    }
}
