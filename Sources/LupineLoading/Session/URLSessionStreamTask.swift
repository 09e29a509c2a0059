// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// A task with a connection that the program reads from and writes to: without HTTP, and with TLS if the program starts it.
///
/// May be called on any thread; each handler is called once, on the session's delegate queue. Reads are performed one after the
/// other, and so are writes; a read that waits for the peer does not block a write. The other operations (closing one direction,
/// TLS, `captureStreams()`) wait for all earlier reads and writes, and later reads and writes wait for them. Operations submitted
/// before the connection is established wait for it. When the task ends, by `cancel()` or by an error, waiting operations fail
/// with that error. When both directions are closed, the task completes without an error.
///
/// A data task whose delegate has answered the response with `.becomeStream` also continues as a stream task. Its reads return
/// the decoded content of the response, and its writes fail, because the request is complete.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    /// The implementation of the task's own methods.
    let stream: StreamCore

    init(_ core: TaskCore, _ stream: StreamCore) {
        self.stream = stream
        super.init(core)
    }

    /// The objects that perform reads and writes. The handlers retain them, because otherwise nothing would: after
    /// `.becomeStream`, the stream continues after the end of the data task.
    private var retainedCores: (TaskCore, StreamCore) { (core, stream) }

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: The minimum number of bytes to read. Fewer are read if the peer closes its direction first.
    ///   - maxBytes: The maximum number of bytes to read.
    ///   - timeout: The time limit in seconds from the start of this read; 0 for no limit. When it expires, this read and all
    ///     later reads fail with `URLError.timedOut`.
    ///   - completionHandler: Called on the delegate queue, with three arguments. The first is the bytes, or nil if there were
    ///     none before the end. The second tells whether the end was reached. The third is the error, or nil if the read
    ///     succeeded.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        stream.submit(
            .read(minimum: minBytes, maximum: maxBytes, timeout: Interval(operation: timeout)) {
                [retainedCores] data, isAtEnd, error in
                withExtendedLifetime(retainedCores) { completionHandler(data, isAtEnd, error) }
            })
    }

    /// Reads bytes. Returns them (nil if the stream ended before any arrived) and whether the end was reached.
    ///
    /// Throws the `URLError` with which the read failed.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await withCheckedThrowingContinuation { continuation in
            readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { data, isAtEnd, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success((data, isAtEnd)))
            }
        }
    }

    /// Writes bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: The time limit in seconds from the start of this write; 0 for no limit. When it expires, this write and all
    ///     later writes fail with `URLError.timedOut`.
    ///   - completionHandler: Called on the delegate queue: with nil once all bytes are written to the kernel, or with the error.
    ///     The peer may not have received the bytes by then.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        stream.submit(
            .write(Array(data), timeout: Interval(operation: timeout)) { [retainedCores] error in
                withExtendedLifetime(retainedCores) { completionHandler(error) }
            })
    }

    /// Writes bytes and returns once all of them are written to the kernel.
    ///
    /// Throws the `URLError` with which the write failed.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    // The operations below are barriers: they wait for all earlier reads and writes, and later reads and writes wait for them.

    /// Passes the connection to the delegate as a pair of streams, with `urlSession(_:streamTask:didBecome:outputStream:)`. The
    /// task then completes.
    ///
    /// The program has to open both streams. Reading and writing block the calling thread until the peer is ready. The streams
    /// call no delegate and do not support run loops.
    open func captureStreams() { stream.submit(.barrier(.capture)) }

    /// Closes the direction for reading. Writing remains possible.
    open func closeRead() { stream.submit(.barrier(.closeRead)) }

    /// Closes the direction for writing, and notifies the peer. Reading remains possible.
    open func closeWrite() { stream.submit(.barrier(.closeWrite)) }

    /// Starts TLS. The delegates receive the challenges for the server's trust and for the client certificate. If the TLS
    /// handshake fails, so does the task.
    open func startSecureConnection() { stream.submit(.barrier(.startSecure)) }

    /// Ends TLS: sends the peer a `close_notify` alert and closes both directions. The connection does not continue without TLS.
    /// Has no effect if TLS was not started.
    open func stopSecureConnection() { stream.submit(.barrier(.stopSecure)) }
}

extension Interval {
    /// Creates the time limit of a read or write; returns nil, which means no limit, for 0 and for a number that is
    /// negative or too large.
    fileprivate init?(operation seconds: TimeInterval) {
        let nanosecondsPerSecond = 1e9
        guard seconds > 0, seconds < Double(Int64.max) / nanosecondsPerSecond else { return nil }
        self.init(nanoseconds: Int64(seconds * nanosecondsPerSecond))
    }
}
