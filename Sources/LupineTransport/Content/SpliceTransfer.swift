// SPDX-License-Identifier: MIT

import LupineHTTP

/// The transfer of a response's content from a socket into a file.
///
/// The kernel moves pages through a pipe without copying them to user space. Content that the codec must parse, or that
/// arrived together with the head, is written; small pieces are gathered, since each write is a system call and the server
/// decides how small its chunks are. It belongs to one exchange on one loop.
final class SpliceTransfer {
    /// Whether the socket's content may go through the pipe. False when no pipe could be made for lack of descriptors: then
    /// content is read and written.
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

    /// Takes content that has been read already.
    ///
    /// - Parameter isLast: Whether no more input is available after it.
    /// - Returns: How much has been written, including content gathered before; nil when it was only gathered.
    func gatherOrWrite(_ bytes: Span<UInt8>, isLast: Bool) throws(TransportError) -> Int? {
        if gathered.isEmpty, isLast || bytes.count >= Self.gatheredLimit {
            try target.write(bytes)
            return bytes.count
        }
        gathered.append(bytes, bytes.indices)
        return isLast || gathered.count >= Self.gatheredLimit ? try writeGathered() : nil
    }

    /// Writes the gathered content, if there is any, and returns its size.
    func writeGathered() throws(TransportError) -> Int? {
        if gathered.isEmpty { return nil }
        defer { gathered.removeAll(keepingCapacity: true) }
        try target.write(gathered.span)
        return gathered.count
    }

    /// Moves up to `limit` received bytes.
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
    /// The limit of gathered bytes.
    private static let gatheredLimit = 64 * 1024
}
