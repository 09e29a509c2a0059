// SPDX-License-Identifier: MIT

internal import CLupineLinux

/// A kernel pipe for `splice`: from a socket into the pipe, from the pipe into a file, without a copy in user space.
///
/// It belongs to one transfer on one loop. The owner counts the bytes in the pipe: those that `fill` has moved and `drain` has
/// not.
package struct SplicePipe: ~Copyable, Sendable {
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    /// Opens a non-blocking pipe with a capacity of about `capacity` bytes, if the system allows it.
    package init(capacity: Int32 = 1 << 18) throws(Errno) {
        let ends = try Syscalls.pipe()
        readEnd = Descriptor(adopting: ends.read)
        writeEnd = Descriptor(adopting: ends.write)
        // Fails above the user's limit (fs.pipe-max-size); the pipe then keeps its 64 KiB.
        _ = lupine_set_pipe_size(writeEnd.rawValue, capacity)
    }

    /// Moves up to `count` bytes from a socket into the pipe. Returns `wouldBlock` also if the pipe is full.
    package func fill(from socket: borrowing Socket, count: Int) throws(Errno) -> ReadOutcome {
        let from = socket.descriptor.rawValue
        let to = writeEnd.rawValue
        return try ReadOutcome.of { () throws(Errno) in
            try Syscalls.splice(
                from: from, to: to, count: count, flags: lupine_splice_move | lupine_splice_nonblock)
        }
    }

    /// Moves up to `count` bytes from the pipe to a file or socket. Returns `wouldBlock` also if the pipe is empty.
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

    /// Reads the bytes in the pipe.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        try readEnd.read(into: &output)
    }
}
