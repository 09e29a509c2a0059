// SPDX-License-Identifier: MIT

import LupineTransport

/// Transfers bytes between a wire and the pipes of captured streams, on the wire's loop, as fast as the program and the peer
/// read. Closes the wire after both streams are closed, at the latest when the peer has accepted no byte for a while.
final class StreamPump: RawConnectionHandler {
    /// Received bytes, which the program's input stream reads.
    let input = BytePipe()
    /// Bytes to send, which the program's output stream has written.
    let output = BytePipe()
    private let wire: any StreamWire
    private let loop: EventLoop
    /// An object that keeps the loop and the connection alive.
    private let retained: (any Sendable)?
    /// Bytes taken out of `output`, and how many of them the wire has accepted.
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var hasClosedWriting = false
    private var isClosed = false
    private let nextTurn: NextTurn
    /// Limits how long bytes remain to be sent after both streams were closed.
    private var closeTimer: EventLoop.TimerToken?

    /// How long the peer may accept no byte before the wire is closed.
    private static let closeTimeout = Interval.seconds(5)
    /// The most reads, or writes, before the loop's other connections run.
    private static let maxStepsPerTurn = 16

    init(_ wire: any StreamWire, on loop: EventLoop, keeping retained: (any Sendable)?) {
        self.wire = wire
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.retained = retained
        wire.handler = self
    }

    func connectionIsReady() { transfer() }
    func connectionIsSecure() {}

    func connectionEnded(_ error: TransportError) { fail(.lost(error)) }

    /// Transfers bytes in both directions until the wire blocks or a pipe is full or empty.
    func transfer() {
        guard !isClosed else { return }
        sendBytes()
        receiveBytes()
        closeIfFinished()
    }

    /// Sends bytes of `output` until the wire blocks.
    private func sendBytes() {
        do throws(StreamFault) {
            var steps = 0
            while true {
                steps += 1
                if steps > Self.maxStepsPerTurn { return continueInNextTurn() }
                if sent == outgoing.count {
                    outgoing = output.take(64 * 1024).bytes
                    sent = 0
                    if outgoing.isEmpty { break }
                }
                guard case .bytes(let count) = try wire.send(outgoing.span.extracting(sent...))
                else { return }
                sent += count
                cancelCloseTimer()
            }
            guard try wire.flush(), output.ending != nil, !hasClosedWriting else { return }
            hasClosedWriting = true
            wire.closeWriting()
        } catch {
            // The peer's data can still be read.
            (outgoing, sent) = ([], 0)
            hasClosedWriting = true
            output.end(.failed(error.error))
        }
    }

    /// Receives bytes into `input` until the wire blocks or `input` is full.
    private func receiveBytes() {
        guard input.room > 0 else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        do throws(StreamFault) {
            var steps = 0
            while true {
                let room = input.room
                if room == 0 { return }
                steps += 1
                if steps > Self.maxStepsPerTurn { return continueInNextTurn() }
                let outcome: ReadOutcome
                // The spans end before `buffer` is read.
                do {
                    var whole = buffer.mutableSpan
                    var space = whole._mutatingExtracting(first: min(room, whole.count))
                    outcome = try wire.receive(into: &space)
                }
                switch outcome {
                case .bytes(let count): _ = input.put(buffer[..<count])
                case .wouldBlock: return
                case .end: return input.end(.finished)
                }
            }
        } catch { fail(error) }
    }

    /// Calls `transfer` again after the loop's other connections.
    private func continueInNextTurn() { nextTurn.schedule { self.transfer() } }

    /// Ends both pipes with the fault; received bytes can still be read.
    private func fail(_ fault: StreamFault) {
        input.end(.failed(fault.error))
        output.end(.failed(fault.error))
        (outgoing, sent) = ([], 0)
        hasClosedWriting = true
        closeIfFinished()
    }

    /// Closes the wire once reading has ended and all output is sent; starts the timer if output remains.
    private func closeIfFinished() {
        guard !isClosed, input.ending != nil else { return }
        if hasClosedWriting, sent == outgoing.count {
            isClosed = true
            cancelCloseTimer()
            wire.closeGently()
        } else if output.ending != nil, closeTimer == nil {
            closeTimer = loop.schedule(at: loop.now + Self.closeTimeout) { [weak self] reason in
                guard let self else { return }
                closeTimer = nil
                guard reason == .due, !isClosed else { return }
                isClosed = true
                wire.close()
            }
        }
    }

    /// Cancels the timer, because the peer has accepted bytes; `closeIfFinished` restarts it if bytes remain.
    private func cancelCloseTimer() {
        if let timer = closeTimer.take() { loop.cancel(timer) }
    }
}
