// SPDX-License-Identifier: MIT

import LupineTLS

/// Carries TLS inside TLS: the wire to an https origin behind an https proxy.
///
/// The records of the TLS connection to the origin are the content of the TLS connection to the proxy (`outer`). Confined to the
/// connection's loop.
final class TunnelledWire: ChannelWire {
    private let outer: TLSChannel
    private let loop: EventLoop
    private(set) var failure: ChannelFailure?

    init(_ outer: TLSChannel, on loop: EventLoop) {
        self.outer = outer
        self.loop = loop
    }

    func receive(into output: inout OutputSpan<UInt8>) -> TLSWireOutcome {
        var buffer = loop.borrowRecordBuffer()
        defer { loop.giveBack(recordBuffer: buffer) }
        do throws(ChannelFailure) {
            let outcome: ReadOutcome
            // The scope ends the mutable access before the bytes are copied out of the buffer.
            do {
                var wholeBuffer = buffer.mutableSpan
                let limit = min(output.freeCapacity, wholeBuffer.count)
                var space = wholeBuffer._mutatingExtracting(first: limit)
                outcome = try outer.receive(into: &space)
            }
            switch outcome {
            case .bytes(let count):
                output.append(copying: buffer.span.extracting(first: count))
                return .bytes(count)
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            }
        } catch { return fail(error) }
    }

    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome {
        do throws(ChannelFailure) {
            switch try outer.send(bytes) {
            case .bytes(let count): return .bytes(count)
            case .wouldBlock: return .wouldBlock
            }
        } catch { return fail(error) }
    }

    /// Stores the error as `failure`, and returns the outcome `failed`.
    private func fail(_ error: ChannelFailure) -> TLSWireOutcome {
        failure = error
        return .failed
    }

    var isDrained: Bool { outer.isDrained }
    var hasPendingOutput: Bool { outer.hasPendingOutput }
    var octetsSent: UInt64 { outer.octetsSent }
    func becameReadable(isClosing: Bool) { outer.becameReadable(isClosing: isClosing) }
    func flush() throws(ChannelFailure) { try outer.flush() }
    /// Does nothing: the outer channel calls the method of its own wire when it closes.
    func willClose() {}
    func closeWriting() { outer.closeWriting() }
    func close() { outer.close() }
    func setKeepAlive(_ probes: KeepAliveProbes) { outer.setKeepAlive(probes) }
    var octetsAcknowledged: UInt64? { outer.octetsAcknowledged }
    var localAddress: SocketAddress? { outer.localAddress }
}
