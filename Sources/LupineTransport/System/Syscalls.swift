// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Names the system calls of the transport, so that tests can inject faults.
enum Syscall: Hashable, Sendable {
    case socket, connect, bind, listen, accept, shutdown
    case getOption, setOption, localAddress, peerAddress
    case receive, send, sendfile, splice, read, write, open, size, pipe, namespace, poll
    case lock, truncate, seek, duplicate, synchronize, close
    case epollCreate, epollControl, epollWait, eventfd
}

/// Makes all system calls of the transport. The functions pass their arguments through, repeat a call that a signal has
/// interrupted (`EINTR`), and throw a failure as `Errno`.
///
/// Nothing here makes decisions. A function without a comment is described in the manual page of its system call. `Socket`,
/// `Descriptor`, `SplicePipe`, `Poller` and `NetlinkSocket` own the descriptors and are the main callers. Any thread may call.
enum Syscalls {
    /// Calls `body`, repeatedly if signals interrupt it, and returns its result. Throws `errno` if the result is negative.
    ///
    /// Traps for `EBADF` and `EFAULT`: an invalid descriptor or pointer is a bug of Lupine, and continuing could affect a
    /// descriptor of the program.
    @inline(__always)
    private static func perform(_ call: Syscall, _ body: () -> Int) throws(Errno) -> Int {
        while true {
            #if DEBUG
                if let fault = SyscallFaults.next(call) {
                    // The call is repeated, as after a real interruption.
                    if fault == .interrupted { continue }
                    throw fault
                }
            #endif
            let result = body()
            if result >= 0 { return result }
            let number = errno
            if number == EINTR { continue }
            precondition(number != EBADF && number != EFAULT, "a system call was made on a dead descriptor")
            throw Errno(rawValue: number)
        }
    }

    // MARK: Sockets

    static func socket(_ domain: Int32, _ type: Int32, _ proto: Int32) throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.socket) { Int(Glibc.socket(domain, type, proto)) })
    }

    /// Starts to connect. An interrupted call is not repeated: the connect continues in the background, so `inProgress` is
    /// thrown.
    static func connect(
        _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) throws(Errno) {
        _ = try perform(.connect) {
            let result = unsafe Glibc.connect(descriptor, address, length)
            // The error is replaced, because `perform` would repeat the call after EINTR.
            if result < 0, errno == EINTR { errno = EINPROGRESS }
            return Int(result)
        }
    }

    static func bind(
        _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) throws(Errno) {
        _ = try perform(.bind) { unsafe Int(Glibc.bind(descriptor, address, length)) }
    }

    static func listen(_ descriptor: Int32, backlog: Int32) throws(Errno) {
        _ = try perform(.listen) { Int(Glibc.listen(descriptor, backlog)) }
    }

    static func accept(_ listener: Int32, flags: Int32) throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.accept) { Int(lupine_accept4(listener, nil, nil, flags)) })
    }

    static func shutdown(_ descriptor: Int32, _ how: Int32) throws(Errno) {
        _ = try perform(.shutdown) { Int(Glibc.shutdown(descriptor, how)) }
    }

    static func setOption(
        _ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: UnsafeRawBufferPointer
    ) throws(Errno) {
        _ = try perform(.setOption) {
            unsafe Int(setsockopt(descriptor, level, name, value.baseAddress, socklen_t(value.count)))
        }
    }

    static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) throws(Errno) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = try perform(.getOption) { unsafe Int(getsockopt(descriptor, level, name, &value, &length)) }
        return value
    }

    static func localAddress(
        _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
    ) throws(Errno) {
        var count = length
        _ = try perform(.localAddress) { unsafe Int(getsockname(descriptor, address, &count)) }
        length = count
    }

    static func peerAddress(
        _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
    ) throws(Errno) {
        var count = length
        _ = try perform(.peerAddress) { unsafe Int(getpeername(descriptor, address, &count)) }
        length = count
    }

    // MARK: Transfers

    static func receive(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, flags: Int32 = 0
    ) throws(Errno) -> Int {
        try perform(.receive) { unsafe recv(descriptor, buffer.baseAddress, buffer.count, flags) }
    }

    /// Receives a datagram and the address of its sender. Returns the datagram's full length (MSG_TRUNC), which may exceed the
    /// length of the buffer.
    static func receive(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer,
        from address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
    ) throws(Errno) -> Int {
        var addressLength = length
        let count = try perform(.receive) {
            unsafe recvfrom(
                descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC), address, &addressLength)
        }
        length = addressLength
        return count
    }

    static func send(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) -> Int {
        try perform(.send) { unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) }
    }

    static func send(
        _ descriptor: Int32, _ vectors: UnsafeMutableBufferPointer<iovec>, flags: Int32
    ) throws(Errno) -> Int {
        var message = unsafe msghdr()
        unsafe message.msg_iov = vectors.baseAddress
        unsafe message.msg_iovlen = vectors.count
        return try perform(.send) { unsafe sendmsg(descriptor, &message, flags) }
    }

    static func sendfile(
        _ socket: Int32, from file: Int32, offset: inout Int64, count: Int
    ) throws(Errno) -> Int {
        var position = off_t(offset)
        let sentCount = try perform(.sendfile) {
            unsafe CLupineLinux.sendfile(socket, file, &position, count)
        }
        offset = Int64(position)
        return sentCount
    }

    static func splice(from: Int32, to: Int32, count: Int, flags: UInt32) throws(Errno) -> Int {
        try perform(.splice) { lupine_splice(from, to, count, flags) }
    }

    static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try perform(.read) { unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
    }

    static func read(
        _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(Errno) -> Int {
        try perform(.read) { unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
        try perform(.write) { unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
    }

    // MARK: Descriptors

    static func open(_ path: String, flags: Int32, mode: UInt32) throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.open) { unsafe Int(lupine_open(path, flags, mode)) })
    }

    static func fileSize(_ descriptor: Int32) throws(Errno) -> Int64 {
        var status = stat()
        _ = try perform(.size) { unsafe Int(fstat(descriptor, &status)) }
        return Int64(status.st_size)
    }

    /// Throws `.isDirectory` if a descriptor is a folder, and `.invalidArgument` if it is anything else but a regular file.
    static func checkIsRegularFile(_ descriptor: Int32) throws(Errno) {
        var status = stat()
        _ = try perform(.size) { unsafe Int(fstat(descriptor, &status)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .isDirectory
        default: throw .invalidArgument
        }
    }

    /// Returns whether a descriptor is a regular file that belongs to this process's user, has one name, and is inaccessible to
    /// all others.
    static func isPrivateFile(_ descriptor: Int32) throws(Errno) -> Bool {
        var status = stat()
        _ = try perform(.size) { unsafe Int(fstat(descriptor, &status)) }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        // The permissions of group and others.
        let isAccessibleToOthers = status.st_mode & 0o077 != 0
        return isRegular && !isAccessibleToOthers && status.st_uid == geteuid() && status.st_nlink == 1
    }

    /// Returns whether a descriptor is a regular file, or a pipe if allowed, that belongs to this process's user and that no
    /// other user can write to.
    static func isOwnFile(_ descriptor: Int32, orPipe mayBePipe: Bool) throws(Errno) -> Bool {
        var status = stat()
        _ = try perform(.size) { unsafe Int(fstat(descriptor, &status)) }
        let type = status.st_mode & S_IFMT
        let isAllowedType = type == S_IFREG || (mayBePipe && type == S_IFIFO)
        // The write permissions of group and others.
        let isWritableByOthers = status.st_mode & 0o022 != 0
        return isAllowedType && !isWritableByOthers && status.st_uid == geteuid()
    }

    /// Locks a file until it is closed (`flock`). Throws `wouldBlock` if the file is locked through another open file
    /// description.
    static func lock(_ descriptor: Int32) throws(Errno) {
        _ = try perform(.lock) { Int(flock(descriptor, LOCK_EX | LOCK_NB)) }
    }

    /// Releases the lock of a file, even if copies of the descriptor exist. Closing the descriptor would not suffice: a child
    /// process that has been forked and has not yet called `exec` has a copy.
    static func unlock(_ descriptor: Int32) throws(Errno) {
        _ = try perform(.lock) { Int(flock(descriptor, LOCK_UN)) }
    }

    static func truncate(_ descriptor: Int32, to size: Int64) throws(Errno) {
        _ = try perform(.truncate) { Int(ftruncate(descriptor, off_t(size))) }
    }

    static func seek(_ descriptor: Int32, to offset: Int64) throws(Errno) {
        _ = try perform(.seek) { Int(lseek(descriptor, off_t(offset), SEEK_SET)) }
    }

    /// Duplicates a descriptor, close-on-exec.
    static func duplicate(_ descriptor: Int32) throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.duplicate) { Int(lupine_duplicate(descriptor)) })
    }

    /// Duplicates a descriptor of the program. Throws `invalidArgument` unless it is open for writing and has a file position.
    static func shareForWriting(_ descriptor: Int32) throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.duplicate) { Int(lupine_share_for_writing(descriptor)) })
    }

    /// Blocks until the written bytes are on disk (`fsync`). Throws if the file system could not write them.
    static func synchronize(_ descriptor: Int32) throws(Errno) {
        _ = try perform(.synchronize) { Int(fsync(descriptor)) }
    }

    static func pipe() throws(Errno) -> (read: Int32, write: Int32) {
        var ends: (Int32, Int32) = (-1, -1)
        _ = try perform(.pipe) {
            unsafe withUnsafeMutableBytes(of: &ends) { bytes in
                unsafe Int(
                    lupine_pipe2(
                        bytes.assumingMemoryBound(to: Int32.self).baseAddress, O_NONBLOCK | O_CLOEXEC))
            }
        }
        return ends
    }

    /// Closes a descriptor. An interrupted call is not repeated, because Linux frees the number in any case.
    static func close(_ descriptor: Int32) {
        let result = Glibc.close(descriptor)
        precondition(result == 0 || errno != EBADF, "a descriptor was closed twice")
    }

    /// Closes a file that was written, and throws the error of the close. Some file systems report only then that they could not
    /// store the file.
    static func closeReporting(_ descriptor: Int32) throws(Errno) {
        #if DEBUG
            let fault = SyscallFaults.next(.close)
        #else
            let fault: Errno? = nil
        #endif
        // The file is closed even if a test has injected a fault, so that the descriptor does not leak.
        let result = Glibc.close(descriptor)
        // `errno` is read at once: later calls may change it.
        let number = errno
        precondition(result == 0 || number != EBADF, "a descriptor was closed twice")
        if let fault { throw fault }
        // An interrupted call has closed the descriptor too, so it counts as a success.
        if result < 0, number != EINTR { throw Errno(rawValue: number) }
    }

    /// Moves the calling thread into the network namespace of `descriptor` (`setns`).
    static func enterNetworkNamespace(_ descriptor: Int32) throws(Errno) {
        _ = try perform(.namespace) { Int(lupine_enter_network_namespace(descriptor)) }
    }

    // MARK: Waiting

    static func epollCreate() throws(Errno) -> Int32 {
        Int32(truncatingIfNeeded: try perform(.epollCreate) { Int(epoll_create1(Int32(EPOLL_CLOEXEC))) })
    }

    static func epollControl(
        _ epoll: Int32, _ operation: Int32, _ descriptor: Int32, _ event: UnsafeMutablePointer<epoll_event>?
    ) throws(Errno) {
        _ = try perform(.epollControl) { unsafe Int(epoll_ctl(epoll, operation, descriptor, event)) }
    }

    static func epollWait(
        _ epoll: Int32, _ events: UnsafeMutableBufferPointer<epoll_event>, timeout: Int32
    ) throws(Errno) -> Int {
        try perform(.epollWait) {
            unsafe Int(epoll_wait(epoll, events.baseAddress, Int32(clamping: events.count), timeout))
        }
    }

    static func eventfd() throws(Errno) -> Int32 {
        Int32(
            truncatingIfNeeded: try perform(.eventfd) {
                Int(CLupineLinux.eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
            })
    }

    /// Adds one to the counter of an eventfd.
    static func signal(eventfd: Int32) throws(Errno) {
        var one: UInt64 = 1
        _ = try unsafe withUnsafeBytes(of: &one) { bytes throws(Errno) in try unsafe write(eventfd, bytes) }
    }

    /// Writes a line to standard error, if that is open; errors are ignored.
    static func writeToStandardError(_ line: String) {
        var line = line
        line.withUTF8 { _ = unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Blocks until a descriptor is readable and returns true; returns false after `milliseconds`. -1 means no limit.
    static func waitReadable(_ descriptor: Int32, milliseconds: Int32) throws(Errno) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return try perform(.poll) { unsafe Int(poll(&entry, 1, milliseconds)) } > 0
    }

    // MARK: Time

    /// Returns the time of the monotonic clock.
    static func monotonicNanoseconds() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
