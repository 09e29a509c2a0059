// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// Carries the ciphertext of one TLS engine over the channel below it, which is a plain socket or TLS itself.
///
/// Used on the loop only. It counts the received bytes, delivers those that were received before the engine existed first, and
/// stops its output where a script's `WireCut` says.
final class ChannelWire: TLSWire {
    private let channel: any ClientChannel
    /// Bytes that were received before the engine existed; `initialStart` is the index of the first undelivered one.
    private var initialBytes: [UInt8]
    private var initialStart = 0
    private var cut: WireCut?
    /// The error after which nothing is sent or received.
    private(set) var failure: Errno?
    /// The number of received bytes.
    private(set) var received = 0

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
            received += count
            return .bytes(count)
        }
        do throws(Errno) {
            switch try channel.receive(into: &buffer) {
            case .bytes(let count):
                received += count
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
            if count == 0, !bytes.isEmpty { return end(cut.ending) }
        }
        do throws(Errno) {
            switch try channel.send(bytes.extracting(0..<count), bytes.extracting(0..<0)) {
            case .bytes(let sent):
                cut?.remainingBytes -= sent
                if let cut, cut.remainingBytes == 0 { _ = end(cut.ending) }
                return .bytes(sent)
            case .wouldBlock: return .wouldBlock
            }
        } catch {
            failure = error
            return .failed
        }
    }

    private func end(_ ending: WireCut.Ending) -> TLSWireOutcome {
        switch ending {
        case .stall: return .wouldBlock
        case .end:
            try? channel.shutdownWrite()
            failure = .brokenPipe
        case .reset:
            channel.reset()
            failure = .connectionReset
        }
        return .failed
    }
}
