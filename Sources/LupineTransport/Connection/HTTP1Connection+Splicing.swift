// SPDX-License-Identifier: MIT

import LupineHTTP

/// Splicing: the kernel moves content from the socket into a file, without passing it through the codec.
extension HTTP1Connection {
    /// Writes all content that follows into a file: through a pipe in the kernel if the framing, the channel and the rate limit
    /// allow it, and through memory otherwise.
    func beginSplice(_ target: FileTarget, _ framing: BodyFraming) {
        let usesPipe: Bool =
            switch framing {
            case .length, .untilClose: channel.isTransparent && current?.receiveRate == nil
            case .none, .chunked, .handover: false
            }
        splice = SpliceTransfer(target, usesPipe: usesPipe)
    }

    /// Moves content from the socket to the file without reading it into memory. Returns false when the caller must stop reading.
    /// Returns true also if no pipe could be created: the caller then reads into memory.
    func moveContent(with splice: SpliceTransfer) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let limit = current?.contentRemaining ?? Int64(Int.max)
        let outcome: SpliceTransfer.MoveResult
        do throws(TransportError) {
            outcome = try splice.move(from: channel, limit: limit, host: route.host, port: route.port)
        } catch {
            fail(error)
            return false
        }
        switch outcome {
        case .moved(let count):
            current?.metrics.responseContentBytes += Int64(count)
            reduceContentRemaining(count)
            recordReceived(count)
            // The codec has not parsed this content; it must count it as received.
            codec.skipContent(count)
            let isComplete = current?.contentRemaining == 0
            if isComplete { self.splice = nil }
            switch exchange.sink.spliced(count) {
            case .more: break
            // The sink may have cancelled the exchange.
            case .pause: if current?.exchange === exchange { pause() }
            case .enough: _ = endDelivery()
            }
            // Lets the codec report the end of the response. If the exchange is paused or suspended, `continueReading` does that
            // later.
            if isComplete, mayDecode, !isSuspended { handleInput([UInt8]().span) }
            return machine.state != .closed
        case .withoutPipe: return true
        case .wouldBlock:
            mayRead = false
            armDeadline()
            return false
        case .end:
            mayRead = false
            self.splice = nil
            peerClosed()
            return false
        }
    }
}
