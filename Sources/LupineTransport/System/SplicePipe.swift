// SPDX-License-Identifier: MIT

internal import CLupineLinux

/// A pipe through which the kernel moves bytes with `splice`: from a socket into the pipe, and from the pipe into a file. The
/// bytes are never copied into user space.
///
/// A pipe belongs to one transfer on one loop. The owner counts the bytes in the pipe: those that `fill` has added and `drain`
/// has not removed.
package struct SplicePipe: ~Copyable, Sendable {
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    /// Opens a non-blocking pipe with a capacity of about `capacity` bytes (256 KiB by default), if the system allows it.
    package init(capacity: Int32 = 1 << 18) throws(Errno) {
        let ends = try Syscalls.pipe()
        readEnd = Descriptor(adopting: ends.read)
        writeEnd = Descriptor(adopting: ends.write)
        // The call fails above the limit of the system (fs.pipe-max-size). Its result is ignored: the pipe then keeps its usual
        // 64 KiB.
        _ = lupine_set_pipe_size(writeEnd.rawValue, capacity)
    }

    /// Moves up to `count` bytes from a socket into the pipe. Returns `wouldBlock` also if the pipe is full.
    package func fill(from socket: borrowing Socket, count: Int) throws(Errno) -> ReadOutcome {
        let source = socket.descriptor.rawValue
        let destination = writeEnd.rawValue
        return try ReadOutcome.of { () throws(Errno) in
            try Syscalls.splice(from: source, to: destination, count: count, flags: spliceFlags)
        }
    }

    /// Moves up to `count` bytes from the pipe to a file or socket. Returns `wouldBlock` also if the pipe is empty.
    package func drain(into target: borrowing Descriptor, count: Int) throws(Errno) -> WriteOutcome {
        let source = readEnd.rawValue
        let destination = target.rawValue
        return try WriteOutcome.of { () throws(Errno) in
            try Syscalls.splice(from: source, to: destination, count: count, flags: spliceFlags)
        }
    }

    /// Writes the beginning of `bytes` into the pipe.
    package func write(_ bytes: Span<UInt8>) throws(Errno) -> WriteOutcome { try writeEnd.write(bytes) }

    /// Reads the bytes in the pipe.
    package func read(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        try readEnd.read(into: &output)
    }
}

/// The flags of `splice`: the kernel moves pages instead of copying them if it can, and does not block.
private var spliceFlags: UInt32 { lupine_splice_move | lupine_splice_nonblock }
