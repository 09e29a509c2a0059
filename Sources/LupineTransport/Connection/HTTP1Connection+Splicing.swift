// SPDX-License-Identifier: MIT

import LupineHTTP

/// Splicing: moves content from the socket into a file, without passing it through the codec.
extension HTTP1Connection {
    /// Writes the content from now on into a file: through a pipe in the kernel if the framing, the channel and the rate limit
    /// allow it, and through memory otherwise.
    func beginSplice(_ target: FileTarget, _ framing: BodyFraming) {
        let usesPipe: Bool =
            switch framing {
            case .length, .untilClose: channel.isTransparent && current?.receiveRate == nil
            case .none, .chunked, .handover: false
            }
        splice = SpliceTransfer(target, usesPipe: usesPipe)
    }

    /// Moves content from the socket to the file without reading it into memory. Returns false when the caller must stop reading;
    /// true also if there is no pipe, after which the caller reads through memory.
    func spliceStep(_ splice: SpliceTransfer) -> Bool {
        guard let exchange = current?.exchange else { return false }
        let limit = current?.contentRemaining ?? Int64(Int.max)
        let outcome: SpliceTransfer.Step
        do throws(TransportError) {
            outcome = try splice.step(from: channel, limit: limit, host: route.host, port: route.port)
        } catch {
            fail(error)
            return false
        }
        switch outcome {
        case .moved(let count):
            current?.metrics.responseContentBytes += Int64(count)
            reduceContentRemaining(count)
            recordReceived(count)
            // The codec has not seen this content; its position must include it.
            codec.skipContent(count)
            let isComplete = current?.contentRemaining == 0
            if isComplete { self.splice = nil }
            switch exchange.sink.spliced(count) {
            case .more: break
            case .pause: if current?.exchange === exchange { pause() }
            case .enough: _ = endDelivery()
            }
            // While the exchange is paused or suspended, its end is held back: `proceed` gets it from the codec later.
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
