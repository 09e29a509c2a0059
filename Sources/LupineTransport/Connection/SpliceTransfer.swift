// SPDX-License-Identifier: MIT

import LupineHTTP

/// A response's content on its way from a socket into a file.
///
/// Through a pipe the kernel moves pages and we see none of it; content that the codec has to look at, or that came
/// together with the head, is written: small pieces together, since each write is a call of the kernel and a server
/// decides how small its chunks are. It belongs to one exchange on one loop.
final class SpliceTransfer {
    /// Whether the socket's content may go through the pipe. Not where there is none for want of descriptors: then it is read
    /// and written.
    private(set) var usesPipe: Bool
    private let target: FileTarget
    private var pipe: SplicePipe?
    /// Content that is still to be written.
    private var gathered: [UInt8] = []

    enum Step: Hashable {
        case moved(Int)
        case withoutPipe
        case wouldBlock
        case end
    }

    init(_ target: FileTarget, usesPipe: Bool) {
        self.target = target
        self.usesPipe = usesPipe
    }

    /// Takes content that was read already.
    ///
    /// - Parameter isLast: Whether nothing more is at hand behind it.
    /// - Returns: How much has been written, this and what was gathered before; nil when it was only gathered.
    func take(_ bytes: Span<UInt8>, isLast: Bool) throws(TransportError) -> Int? {
        if gathered.isEmpty, isLast || bytes.count >= Self.gatheredLimit {
            try target.write(bytes)
            return bytes.count
        }
        gathered.append(bytes, bytes.indices)
        return isLast || gathered.count >= Self.gatheredLimit ? try writeGathered() : nil
    }

    /// Writes what was gathered, if anything was, and says how much.
    func writeGathered() throws(TransportError) -> Int? {
        if gathered.isEmpty { return nil }
        defer { gathered.removeAll(keepingCapacity: true) }
        try target.write(gathered.span)
        return gathered.count
    }

    /// Moves up to `limit` bytes that have come.
    func step(
        from channel: borrowing ByteChannel, limit: Int64, host: String, port: UInt16
    ) throws(TransportError) -> Step {
        if pipe == nil {
            do throws(Errno) { pipe = try SplicePipe(capacity: Self.pipeCapacity) } catch {
                usesPipe = false
                return .withoutPipe
            }
        }
        let outcome: ReadOutcome
        let count = Int(clamping: min(limit, Int64(Self.pipeCapacity)))
        do throws(Errno) {
            switch pipe {
            case .some(let pipe): outcome = try channel.fill(pipe, count: count)
            case nil: outcome = .wouldBlock
            }
        } catch { throw .connectionLost(host: host, port: port, error) }
        guard case .bytes(let count) = outcome else { return outcome == .end ? .end : .wouldBlock }
        var left = count
        while left > 0 {
            do throws(Errno) {
                switch try pipe?.drain(into: target.descriptor, count: left) ?? .wouldBlock {
                case .bytes(let moved): left -= moved
                case .wouldBlock: throw Errno.wouldBlock
                }
            } catch { throw .file(error) }
        }
        return .moved(count)
    }

    private static let pipeCapacity: Int32 = 1 << 20
    /// So much is gathered at most.
    private static let gatheredLimit = 64 * 1024
}
