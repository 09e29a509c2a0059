// SPDX-License-Identifier: MIT

import LupineTransport

/// Transfers bytes between a wire, which is a connection, and the pipes of captured streams, on the wire's loop. It transfers as
/// fast as the program and the peer read.
///
/// Once both streams are closed, the pump closes the wire: after it has sent all bytes, or when the peer has accepted none for a
/// while.
final class StreamPump: RawConnectionHandler {
    /// Received bytes, which the program's input stream reads.
    let input = BytePipe()
    /// Bytes to send, which the program's output stream has written.
    let output = BytePipe()
    private let wire: any StreamWire
    private let loop: EventLoop
    /// An object that keeps the loop and the connection alive.
    private let retained: (any Sendable)?
    /// Bytes that were removed from `output` to be sent.
    private var outgoing: [UInt8] = []
    /// How many bytes of `outgoing` the wire has accepted.
    private var sentCount = 0
    /// Whether the writing half is closed, or has failed.
    private var hasClosedWriting = false
    /// Whether the wire is closed.
    private var isClosed = false
    private let nextTurn: NextTurn
    /// Closes the wire if the peer accepts no byte for `closeTimeout` after both streams were closed.
    private var closeTimer: EventLoop.TimerToken?

    /// How long the peer may accept no byte before the wire is closed.
    private static let closeTimeout = Interval.seconds(5)
    /// The most calls of `receive`, or of `send`, before the loop's other connections run.
    private static let maxCallsPerTurn = 16
    /// The most bytes that are removed from `output` at a time: 64 KiB.
    private static let pieceLength = 64 * 1024

    init(_ wire: any StreamWire, on loop: EventLoop, retaining retained: (any Sendable)?) {
        self.wire = wire
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.retained = retained
        wire.handler = self
    }

    func connectionIsReady() { transfer() }
    /// Does nothing: captured streams cannot start TLS.
    func connectionIsSecure() {}

    func connectionEnded(_ error: TransportError) { fail(.connectionFailed(error)) }

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
            var callCount = 0
            while true {
                callCount += 1
                if callCount > Self.maxCallsPerTurn { return continueInNextTurn() }
                if sentCount == outgoing.count {
                    // `makesRoom` is not used: the pipe itself wakes a thread that waits for room.
                    outgoing = output.read(upTo: Self.pieceLength).bytes
                    sentCount = 0
                    if outgoing.isEmpty { break }
                }
                guard case .bytes(let count) = try wire.send(outgoing.span.extracting(sentCount...))
                else { return }
                sentCount += count
                cancelCloseTimer()
            }
            // Closes the writing half once the program has closed its stream and all bytes are sent.
            guard try wire.flush(), output.ending != nil, !hasClosedWriting else { return }
            hasClosedWriting = true
            wire.closeWriting()
        } catch {
            // Only writing ends: the peer's data can still be read. The unsent bytes are discarded.
            (outgoing, sentCount) = ([], 0)
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
            var callCount = 0
            while true {
                let room = input.room
                if room == 0 { return }
                callCount += 1
                if callCount > Self.maxCallsPerTurn { return continueInNextTurn() }
                let outcome: ReadOutcome
                // The spans borrow `buffer`. Their scope ends before `buffer` is read.
                do {
                    var whole = buffer.mutableSpan
                    var space = whole._mutatingExtracting(first: min(room, whole.count))
                    outcome = try wire.receive(into: &space)
                }
                switch outcome {
                // All bytes fit, because no more than the pipe's room were read.
                case .bytes(let count): _ = input.append(buffer[..<count])
                case .wouldBlock: return
                case .end: return input.end(.finished)
                }
            }
        } catch { fail(error) }
    }

    /// Calls `transfer` again after the loop's other connections.
    private func continueInNextTurn() { nextTurn.schedule { self.transfer() } }

    /// Ends both pipes with the fault. The program can still read the received bytes.
    private func fail(_ fault: StreamFault) {
        input.end(.failed(fault.error))
        output.end(.failed(fault.error))
        (outgoing, sentCount) = ([], 0)
        hasClosedWriting = true
        closeIfFinished()
    }

    /// Closes the wire once reading has ended and all output is sent; starts the timer if output remains.
    private func closeIfFinished() {
        guard !isClosed, input.ending != nil else { return }
        if hasClosedWriting, sentCount == outgoing.count {
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
