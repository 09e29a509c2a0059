// SPDX-License-Identifier: MIT

/// A response's content on its way from a socket into a file.
///
/// Through a pipe the kernel moves pages and we see none of it; content that the codec has to look at, or that came
/// together with the head, is written as it comes. It belongs to one exchange on one loop.
final class SpliceTransfer {
    /// Whether the socket's content may go through the pipe. Not where there is none for want of descriptors: then it is read
    /// and written.
    private(set) var usesPipe: Bool
    private let target: FileTarget
    private var pipe: SplicePipe?

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

    /// Writes bytes that were read already.
    func writeDirectly(_ bytes: Span<UInt8>) throws(TransportError) { try target.write(bytes) }

    /// Moves up to `limit` bytes that have come.
    func step(
        from channel: borrowing ByteChannel, limit: Int64, host: String
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
        } catch { throw .connectionLost(host: host, error) }
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
}
