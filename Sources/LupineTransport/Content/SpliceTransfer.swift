// SPDX-License-Identifier: MIT

import LupineHTTP

/// The transfer of a response's content from a socket into a file.
///
/// Where possible, the kernel moves pages through a pipe without copying them to user space (`splice(2)`). Content that the codec
/// must parse, or that arrived together with the head, is written with `write(2)` instead. Small pieces are gathered first, since
/// each write is a system call and the server may send very small chunks. The transfer belongs to one exchange on one loop.
final class SpliceTransfer {
    /// Whether the kernel may move the socket's content through the pipe. Becomes false if no pipe can be created for lack of
    /// descriptors; the connection then reads the content and writes it.
    private(set) var usesPipe: Bool
    private let target: FileTarget
    /// The pipe; nil until `move` first creates it.
    private var pipe: SplicePipe?
    /// Content that was read and waits to be written.
    private var gathered: [UInt8] = []

    /// The result of one call of `move`.
    enum MoveResult: Hashable {
        /// This number of bytes has been moved to the file.
        case moved(Int)
        /// No pipe could be created: the caller must read the content itself.
        case withoutPipe
        /// The socket has no input now.
        case wouldBlock
        /// The peer has closed its end.
        case end
    }

    init(_ target: FileTarget, usesPipe: Bool) {
        self.target = target
        self.usesPipe = usesPipe
    }

    /// Writes content that has been read, or gathers it if it is small and more input is available.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - isLast: Whether no more input is available after the content.
    /// - Returns: How many bytes were written, including earlier gathered ones; nil if the content was only gathered.
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

    /// Moves up to `limit` bytes from the socket through the pipe into the file. `host` and `port` name the peer in an error.
    func move(
        from channel: borrowing ByteChannel, limit: Int64, host: String, port: UInt16
    ) throws(TransportError) -> MoveResult {
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
            // Impossible, because the pipe was created above.
            case nil: outcome = .wouldBlock
            }
        } catch { throw .connectionLost(host: host, port: port, error) }
        guard case .bytes(let count) = outcome else { return outcome == .end ? .end : .wouldBlock }
        // All bytes in the pipe are moved on: the pipe is empty again before the next call.
        var remaining = count
        while remaining > 0 {
            do throws(Errno) {
                switch try pipe?.drain(into: target.descriptor, count: remaining) ?? .wouldBlock {
                case .bytes(let moved): remaining -= moved
                // A regular file never reports this; a non-blocking device may.
                case .wouldBlock: throw Errno.wouldBlock
                }
            } catch { throw .file(error) }
        }
        return .moved(count)
    }

    /// The requested capacity of the pipe: the most that Linux allows an unprivileged process by default (`pipe-max-size`).
    private static let pipeCapacity: Int32 = 1 << 20
    /// The number of gathered bytes from which they are written.
    private static let gatheredLimit = 64 * 1024
}
