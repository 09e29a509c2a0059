// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Moves bytes: into a caller's buffer, out of one to three spans in one call, or from a file to a socket.
///
/// Every send sets `MSG_NOSIGNAL`, so that it cannot raise SIGPIPE. `sendfile` and `splice` have no such flag. They must run only
/// on loop threads, where all signals are blocked.
extension Socket {
    /// Receives into the free part of `output`, which must not be full.
    package func receive(into output: inout OutputSpan<UInt8>) throws(Errno) -> ReadOutcome {
        let fd = descriptor.rawValue
        return try unsafe ReadOutcome.filling(&output) { buffer throws(Errno) in
            try unsafe Syscalls.receive(fd, buffer)
        }
    }

    /// Receives into the beginning of `buffer`, which must not be empty.
    package func receive(into buffer: inout MutableSpan<UInt8>) throws(Errno) -> ReadOutcome {
        precondition(!buffer.isEmpty, "there is no room to read into")
        let fd = descriptor.rawValue
        return try unsafe buffer.withUnsafeMutableBytes { raw throws(Errno) in
            try ReadOutcome.of { () throws(Errno) in try unsafe Syscalls.receive(fd, raw) }
        }
    }

    /// Reads the next byte but leaves it in the socket. Returns `wouldBlock` for an idle connection that the peer has not closed.
    package func peek() throws(Errno) -> ReadOutcome {
        var byte: UInt8 = 0
        let fd = descriptor.rawValue
        return try unsafe withUnsafeMutableBytes(of: &byte) { raw throws(Errno) in
            try ReadOutcome.of { () throws(Errno) in
                try unsafe Syscalls.receive(fd, raw, flags: Int32(MSG_PEEK))
            }
        }
    }

    /// Sends the beginning of `bytes`. With `more`, the kernel holds a partial packet back for the next send (`MSG_MORE`).
    package func send(_ bytes: Span<UInt8>, more: Bool = false) throws(Errno) -> WriteOutcome {
        let fd = descriptor.rawValue
        return try unsafe bytes.withUnsafeBytes { raw throws(Errno) in
            try WriteOutcome.of { () throws(Errno) in
                try unsafe Syscalls.send(fd, raw, flags: sendFlags(more: more))
            }
        }
    }

    /// Sends two spans, such as a head and its body, with one call.
    package func send(
        _ first: Span<UInt8>, _ second: Span<UInt8>, more: Bool = false
    ) throws(Errno) -> WriteOutcome {
        let fd = descriptor.rawValue
        return try unsafe first.withUnsafeBytes { first throws(Errno) in
            try unsafe second.withUnsafeBytes { second throws(Errno) in
                var vectors: InlineArray<2, iovec> = unsafe [
                    iovec(borrowing: first), iovec(borrowing: second),
                ]
                return try unsafe Self.gather(fd, &vectors, more: more)
            }
        }
    }

    /// Sends three spans, such as a chunk's size line, data and line end, with one call.
    package func send(
        _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>, more: Bool = false
    ) throws(Errno) -> WriteOutcome {
        let fd = descriptor.rawValue
        return try unsafe first.withUnsafeBytes { first throws(Errno) in
            try unsafe second.withUnsafeBytes { second throws(Errno) in
                try unsafe third.withUnsafeBytes { third throws(Errno) in
                    var vectors: InlineArray<3, iovec> = unsafe [
                        iovec(borrowing: first), iovec(borrowing: second), iovec(borrowing: third),
                    ]
                    return try unsafe Self.gather(fd, &vectors, more: more)
                }
            }
        }
    }

    /// Sends the bytes of several vectors with one `sendmsg`.
    private static func gather<let count: Int>(
        _ fd: Int32, _ vectors: inout InlineArray<count, iovec>, more: Bool
    ) throws(Errno) -> WriteOutcome {
        var span = unsafe vectors.mutableSpan
        return try unsafe span.withUnsafeMutableBufferPointer { buffer throws(Errno) in
            try WriteOutcome.of { () throws(Errno) in
                try unsafe Syscalls.send(fd, buffer, flags: sendFlags(more: more))
            }
        }
    }

    /// Sends up to `count` bytes of `file` from `offset` on, and advances `offset`. Returns `end` at the end of the file.
    package func send(
        file: borrowing Descriptor, offset: inout Int64, count: Int
    ) throws(Errno) -> ReadOutcome {
        let fileDescriptor = file.rawValue
        let socketDescriptor = descriptor.rawValue
        var position = offset
        defer { offset = position }
        return try ReadOutcome.of { () throws(Errno) in
            try Syscalls.sendfile(socketDescriptor, from: fileDescriptor, offset: &position, count: count)
        }
    }
}

extension iovec {
    /// Refers to `bytes` for the duration of one call, during which the kernel only reads them.
    fileprivate init(borrowing bytes: UnsafeRawBufferPointer) {
        unsafe self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}

/// Returns the flags of each send: no SIGPIPE and, with `more`, a partial packet is held back.
private func sendFlags(more: Bool) -> Int32 {
    Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
}
