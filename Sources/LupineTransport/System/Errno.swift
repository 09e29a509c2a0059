// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// An error number of the kernel.
///
/// Every call in `Syscalls` throws it. It does not say what failed; the caller adds the address or the operation. `EINTR` never
/// reaches a caller. Reading and writing return `EAGAIN` as the outcome `wouldBlock` instead of throwing it.
public struct Errno: Error, RawRepresentable, Hashable, Sendable {
    /// The number, as in `errno.h`.
    public let rawValue: Int32

    /// Wraps an error number.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The symbolic name, such as `ECONNREFUSED`.
    public var name: String {
        guard let text = unsafe lupine_errno_name(rawValue) else { return "errno \(rawValue)" }
        return unsafe String(cString: text)
    }

    /// The C library's text, such as `Connection refused`.
    public var text: String {
        guard let text = unsafe lupine_errno_text(rawValue) else { return "unknown error" }
        return unsafe String(cString: text)
    }
}

extension Errno: CustomStringConvertible {
    public var description: String { "\(name) (\(text))" }
}

extension Errno {
    /// The address is already in use.
    public static let addressInUse = Errno(rawValue: EADDRINUSE)
    /// The address is not one of this machine.
    public static let addressNotAvailable = Errno(rawValue: EADDRNOTAVAIL)
    /// The peer answered with a reset: nothing listens on the port.
    public static let connectionRefused = Errno(rawValue: ECONNREFUSED)
    /// The peer reset the connection.
    public static let connectionReset = Errno(rawValue: ECONNRESET)
    /// The connection was closed for sending, locally or by the peer.
    public static let brokenPipe = Errno(rawValue: EPIPE)
    /// The kernel gave up waiting for the peer.
    public static let timedOut = Errno(rawValue: ETIMEDOUT)
    /// No route leads to the host.
    public static let hostUnreachable = Errno(rawValue: EHOSTUNREACH)
    /// No route leads to the network.
    public static let networkUnreachable = Errno(rawValue: ENETUNREACH)
    /// The process has used up its descriptors.
    public static let tooManyDescriptors = Errno(rawValue: EMFILE)
    /// The system has used up its descriptors.
    public static let tooManyDescriptorsInSystem = Errno(rawValue: ENFILE)
    /// The kernel has no buffer space left. On a netlink socket, it has dropped messages.
    public static let noBufferSpace = Errno(rawValue: ENOBUFS)
    /// There is not enough memory.
    public static let noMemory = Errno(rawValue: ENOMEM)
    /// The process is not permitted to make the call.
    public static let notPermitted = Errno(rawValue: EPERM)
    /// Access was denied.
    public static let accessDenied = Errno(rawValue: EACCES)
    /// There is no such file.
    public static let noSuchFile = Errno(rawValue: ENOENT)
    /// A part of the path is not a directory.
    public static let notADirectory = Errno(rawValue: ENOTDIR)
    /// The path is a directory.
    public static let isDirectory = Errno(rawValue: EISDIR)
    /// An argument is invalid.
    public static let invalidArgument = Errno(rawValue: EINVAL)
    /// The device behind a file failed.
    public static let inputOutput = Errno(rawValue: EIO)
    /// A name is too long.
    public static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    /// The operation was cancelled.
    public static let canceled = Errno(rawValue: ECANCELED)

    /// The call would have had to block.
    static let wouldBlock = Errno(rawValue: EAGAIN)
    /// The connection attempt continues in the background.
    static let inProgress = Errno(rawValue: EINPROGRESS)
    /// A signal interrupted the call; the wrapper retries it.
    static let interrupted = Errno(rawValue: EINTR)
    /// A queued connection was reset before it was accepted.
    static let connectionAborted = Errno(rawValue: ECONNABORTED)
}

extension Errno {
    /// Whether the process or the system has no descriptor left.
    var isOutOfDescriptors: Bool { self == .tooManyDescriptors || self == .tooManyDescriptorsInSystem }
}
