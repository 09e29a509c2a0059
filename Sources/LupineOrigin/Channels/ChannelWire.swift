// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Transports the ciphertext of one TLS engine over the channel below it, which is a plain socket or TLS itself.
///
/// Used on the loop only. It first delivers the bytes that were received before the engine existed. It counts the bytes
/// that the engine receives. A script's `WireCut` ends its output after a number of bytes.
final class ChannelWire: TLSWire {
    private let channel: any ClientChannel
    /// Bytes that were received before the engine existed.
    private var initialBytes: [UInt8]
    /// The index in `initialBytes` of the first byte that the engine has not received.
    private var initialStart = 0
    /// The cut that ends the output; nil if the output is not limited.
    private var cut: WireCut?
    /// The error after which nothing is sent or received; nil until then.
    private(set) var failure: Errno?
    /// The number of bytes that the engine has received.
    private(set) var receivedCount = 0

    /// Creates a wire over `channel`, from which `initialBytes` has already been received.
    init(over channel: any ClientChannel, initialBytes: [UInt8], cut: WireCut?) {
        self.channel = channel
        self.initialBytes = initialBytes
        self.cut = cut
    }

    /// Limits further output to the bytes before `cut`.
    func limitOutput(to cut: WireCut) { self.cut = cut }

    func receive(into buffer: inout OutputSpan<UInt8>) -> TLSWireOutcome {
        guard failure == nil else { return .failed }
        if initialStart < initialBytes.count {
            let count = min(initialBytes.count - initialStart, buffer.freeCapacity)
            for index in initialStart..<initialStart + count { buffer.append(initialBytes[index]) }
            initialStart += count
            if initialStart == initialBytes.count { initialBytes = [] }
            receivedCount += count
            return .bytes(count)
        }
        do throws(Errno) {
            switch try channel.receive(into: &buffer) {
            case .bytes(let count):
                receivedCount += count
                return .bytes(count)
            case .wouldBlock: return .wouldBlock
            case .end: return .end
            }
        } catch {
            failure = error
            return .failed
        }
    }

    func send(_ bytes: Span<UInt8>) -> TLSWireOutcome {
        guard failure == nil else { return .failed }
        var count = bytes.count
        if let cut {
            count = min(count, cut.remainingBytes)
            if count == 0, !bytes.isEmpty { return performEnding(cut.ending) }
        }
        do throws(Errno) {
            // The second span is empty: all of the bytes are in the first one.
            switch try channel.send(bytes.extracting(0..<count), bytes.extracting(0..<0)) {
            case .bytes(let sent):
                cut?.remainingBytes -= sent
                // The engine still learns that these bytes were sent; its next call fails or would block.
                if let cut, cut.remainingBytes == 0 { _ = performEnding(cut.ending) }
                return .bytes(sent)
            case .wouldBlock: return .wouldBlock
            }
        } catch {
            failure = error
            return .failed
        }
    }

    /// Ends the output at the cut. Returns the outcome for a send of bytes after the cut.
    private func performEnding(_ ending: WireCut.Ending) -> TLSWireOutcome {
        switch ending {
        case .stall: return .wouldBlock
        case .end:
            // An error means that the socket has already failed.
            try? channel.shutdownWrite()
            failure = .brokenPipe
        case .reset:
            channel.reset()
            failure = .connectionReset
        }
        return .failed
    }
}
