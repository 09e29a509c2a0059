// SPDX-License-Identifier: MIT

internal import CLupineLinux

/// A kernel pipe as the middle piece of `splice`: socket into pipe, pipe into file, no copy through us.
///
/// It belongs to one transfer on one loop. What `fill` took and `drain` has not yet given is in the pipe;
/// the owner counts it.
package struct SplicePipe: ~Copyable, Sendable {
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    /// Opens a pipe that does not wait, with room for about `capacity` bytes where the system allows so much.
    package init(capacity: Int32 = 1 << 18) throws(Errno) {
        let ends = try Syscalls.pipe()
        readEnd = Descriptor(adopting: ends.read)
        writeEnd = Descriptor(adopting: ends.write)
        // Refused above the user's limit (fs.pipe-max-size); the pipe then keeps its 64 KiB.
        _ = lupine_set_pipe_size(writeEnd.rawValue, capacity)
    }

    /// Moves up to `count` bytes from a socket into the pipe. `wouldBlock` also when the pipe is full.
    package func fill(from socket: borrowing Socket, count: Int) throws(Errno) -> ReadOutcome {
        let from = socket.descriptor.rawValue
        let to = writeEnd.rawValue
        return try ReadOutcome.of { () throws(Errno) in
            try Syscalls.splice(
                from: from, to: to, count: count, flags: lupine_splice_move | lupine_splice_nonblock)
        }
    }

    /// Moves up to `count` bytes from the pipe to a file or socket. `wouldBlock` also when the pipe is empty.
    package func drain(into target: borrowing Descriptor, count: Int) throws(Errno) -> WriteOutcome {
        let from = readEnd.rawValue
        let to = target.rawValue
        return try WriteOutcome.of { () throws(Errno) in
            try Syscalls.splice(
                from: from, to: to, count: count, flags: lupine_splice_move | lupine_splice_nonblock)
        }
    }

    /// Writes the beginning of `bytes` into the pipe.
    package func write(_ bytes: Span<UInt8>) throws(Errno) -> WriteOutcome { try writeEnd.write(bytes) }

    /// Reads what is in the pipe.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        try readEnd.read(into: &output)
    }
}
