// SPDX-License-Identifier: MIT

import LupineTransport

/// Transfers the bytes of a wire whose streams were captured, on its loop, as fast as the program and the peer read. Once both
/// streams are closed, a peer that accepts nothing for a while is given up.
final class StreamPump: RawConnectionHandler {
    /// Received bytes.
    let input = BytePipe()
    /// Bytes to send.
    let output = BytePipe()
    private let wire: any StreamWire
    private let loop: EventLoop
    /// Keeps the loop and the connection alive.
    private let keeper: (any Sendable)?
    private var taken: [UInt8] = []
    private var sent = 0
    private var hasClosedWriting = false
    private var isOver = false
    private let nextTurn: NextTurn
    /// Runs while both streams are closed and bytes remain to be sent.
    private var closeTimer: EventLoop.TimerToken?

    /// How long a peer may accept none of the remaining bytes.
    private static let closeTimeout = Interval.seconds(5)
    /// The most reads, or writes, before other connections of the loop get their turn.
    private static let turns = 16

    init(_ wire: any StreamWire, on loop: EventLoop, keeping keeper: (any Sendable)?) {
        self.wire = wire
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.keeper = keeper
        wire.handler = self
    }

    func connectionIsReady() { move() }
    func connectionIsSecure() {}

    func connectionEnded(_ error: TransportError) { fail(.lost(error)) }

    /// Transfers what can be transferred, in both directions.
    func move() {
        guard !isOver else { return }
        push()
        pull()
        endIfOver()
    }

    private func push() {
        do throws(StreamFault) {
            var turns = 0
            while true {
                turns += 1
                if turns > Self.turns { return giveWay() }
                if sent == taken.count {
                    taken = output.take(64 * 1024).bytes
                    sent = 0
                    if taken.isEmpty { break }
                }
                guard case .bytes(let count) = try wire.send(taken.span.extracting(sent...)) else { return }
                sent += count
                stopWaiting()
            }
            guard try wire.flush(), output.ending != nil, !hasClosedWriting else { return }
            hasClosedWriting = true
            wire.closeWriting()
        } catch {
            // The peer's data can still be read.
            (taken, sent) = ([], 0)
            hasClosedWriting = true
            output.end(.failed(error.error))
        }
    }

    private func pull() {
        guard input.room > 0 else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        do throws(StreamFault) {
            var turns = 0
            while true {
                let room = input.room
                if room == 0 { return }
                turns += 1
                if turns > Self.turns { return giveWay() }
                let outcome: ReadOutcome
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

    private func giveWay() { nextTurn.ask { self.move() } }

    private func fail(_ fault: StreamFault) {
        input.end(.failed(fault.error))
        output.end(.failed(fault.error))
        (taken, sent) = ([], 0)
        hasClosedWriting = true
        endIfOver()
    }

    /// Closes the wire once reading has ended and all output is sent; starts the timer if output remains.
    private func endIfOver() {
        guard !isOver, input.ending != nil else { return }
        if hasClosedWriting, sent == taken.count {
            isOver = true
            stopWaiting()
            wire.closeGently()
        } else if output.ending != nil, closeTimer == nil {
            closeTimer = loop.schedule(at: loop.now + Self.closeTimeout) { [weak self] reason in
                guard let self else { return }
                closeTimer = nil
                guard reason == .due, !isOver else { return }
                isOver = true
                wire.close()
            }
        }
    }

    /// The peer has accepted bytes: the timer is restarted if more remain.
    private func stopWaiting() {
        if let timer = closeTimer.take() { loop.cancel(timer) }
    }
}
