// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// A non-blocking, close-on-exec stream socket with one owner.
///
/// This type is the only interface to the kernel's stream sockets: callers pass spans and get outcomes, never pointers. It has no
/// state except the descriptor; `ByteChannel` decides when to read and write. Used on one thread at a time: that of the loop with
/// which it is registered.
package struct Socket: ~Copyable, Sendable {
    /// The descriptor, for a registration with a loop or as the target of `SplicePipe.drain`.
    package let descriptor: Descriptor

    /// The progress of `connect`.
    package enum ConnectProgress: Hashable, Sendable {
        /// The socket connected at once, as Unix-domain sockets do.
        case connected
        /// The socket becomes writable or fails later; `finishConnect()` then returns or throws.
        case inProgress
    }

    /// Takes ownership of a socket that is already non-blocking and close-on-exec.
    package init(adopting descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Creates a socket for the family of `address`.
    package static func stream(for address: SocketAddress) throws(Errno) -> Socket {
        Socket(
            adopting: Descriptor(
                adopting: try Syscalls.socket(
                    address.domain, Int32(SOCK_STREAM.rawValue | nonBlockingCloseOnExec), 0)))
    }

    /// Closes the socket, by consuming the value. The kernel still sends the bytes that it has accepted.
    package consuming func close() {}

    /// Transfers the descriptor to another owner.
    package consuming func intoDescriptor() -> Descriptor { descriptor }

    // MARK: Connecting

    /// Starts to connect.
    package func connect(to address: SocketAddress) throws(Errno) -> ConnectProgress {
        let fd = descriptor.rawValue
        do {
            try unsafe address.withNative { native, length throws(Errno) in
                try unsafe Syscalls.connect(fd, native, length)
            }
            return .connected
        } catch {
            // EAGAIN is a failure: a Unix-domain listener has a full queue, and the kernel does not retry.
            if error == .inProgress { return .inProgress }
            throw error
        }
    }

    /// Completes a connect, once the loop has reported the socket as writable. Throws the socket's error if it is not connected.
    package func finishConnect() throws(Errno) {
        let number = try pendingError()
        if number != 0 { throw Errno(rawValue: number) }
    }

    /// Returns and clears the number of the socket's pending error; 0 for none.
    package func pendingError() throws(Errno) -> Int32 {
        try Syscalls.option(descriptor.rawValue, SOL_SOCKET, SO_ERROR)
    }

    // MARK: Listening

    /// Binds to a local address; port 0 lets the kernel choose.
    package func bind(to address: SocketAddress) throws(Errno) {
        let fd = descriptor.rawValue
        try unsafe address.withNative { native, length throws(Errno) in
            try unsafe Syscalls.bind(fd, native, length)
        }
    }

    /// Starts to accept connections.
    package func listen(backlog: Int32 = 1024) throws(Errno) {
        try Syscalls.listen(descriptor.rawValue, backlog: backlog)
    }

    /// Accepts the next connection; returns nil if there is none. A connection that was reset while queued is skipped.
    package func accept() throws(Errno) -> Socket? {
        while true {
            do {
                let fd = try Syscalls.accept(
                    descriptor.rawValue, flags: Int32(nonBlockingCloseOnExec))
                return Socket(adopting: Descriptor(adopting: fd))
            } catch {
                if error == .connectionAborted { continue }
                if error == .wouldBlock { return nil }
                throw error
            }
        }
    }

    // MARK: Closing

    /// Ends the sending half; the socket can still be read.
    package func shutdownWrite() throws(Errno) {
        try Syscalls.shutdown(descriptor.rawValue, Int32(SHUT_WR))
    }

    /// Closes the connection with a reset (RST) instead of an orderly end (FIN). The kernel drops unsent bytes.
    package consuming func reset() throws(Errno) {
        // With this option, the `deinit` that runs at the end of this method closes with a reset.
        let noLinger = linger(l_onoff: 1, l_linger: 0)
        try setOption(SOL_SOCKET, SO_LINGER, noLinger)
    }

    // MARK: Addresses

    /// Returns the local address; nil if its family is not supported.
    package func localAddress() throws(Errno) -> SocketAddress? {
        let fd = descriptor.rawValue
        return try unsafe SocketAddress { pointer, length throws(Errno) in
            try unsafe Syscalls.localAddress(fd, pointer, &length)
        }
    }

    /// Returns the address of the peer; nil if its family is not supported.
    package func peerAddress() throws(Errno) -> SocketAddress? {
        let fd = descriptor.rawValue
        return try unsafe SocketAddress { pointer, length throws(Errno) in
            try unsafe Syscalls.peerAddress(fd, pointer, &length)
        }
    }

    /// Sets a socket option (`setsockopt`).
    func setOption<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, _ value: Value) throws(Errno) {
        var value = value
        let fd = descriptor.rawValue
        try unsafe withUnsafeBytes(of: &value) { bytes throws(Errno) in
            try unsafe Syscalls.setOption(fd, level, name, bytes)
        }
    }
}

/// The flags with which every socket is created.
private let nonBlockingCloseOnExec = SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
