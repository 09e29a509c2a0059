// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// A task that is a connection to read from and write to: without HTTP, and with TLS if the program starts it.
///
/// May be called on any thread; each handler is called once, on the session's delegate queue. Reads are performed one after the
/// other, and so are writes; a read that waits for the peer does not block a write. Closing a half, TLS and `captureStreams()`
/// wait for all earlier operations, and later ones wait for them. Operations submitted before the connection is established wait
/// for it. When the task ends, by `cancel()` or by an error, waiting operations fail with that error; when both halves are closed
/// it completes by itself.
///
/// A data task that was answered with `.becomeStream` continues as a stream task too: its reads return the decoded content of the
/// response, and its writes fail, because the request is complete.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    let stream: StreamCore

    init(_ core: TaskCore, _ stream: StreamCore) {
        self.stream = stream
        super.init(core)
    }

    /// The objects that perform reads and writes. The handlers retain them, because the stream of a data task that was answered
    /// with `.becomeStream` continues after the end of its task.
    private var retainedCores: (TaskCore, StreamCore) { (core, stream) }

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: The number of bytes to wait for before the handler is called, unless the end comes first.
    ///   - maxBytes: The most bytes to read.
    ///   - timeout: The time in seconds from the start of this read; 0 for no limit. After it this read and all later ones fail
    ///     with `URLError.timedOut`.
    ///   - completionHandler: Called on the delegate queue with the bytes, nil if there were none before the end; with whether
    ///     the end was reached; and with the error if the read failed.
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

    /// Reads bytes and returns them, nil if there were none before the end, and whether the end was reached.
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
    ///   - timeout: The time in seconds from the start of this write; 0 for no limit. After it this write and all later ones fail
    ///     with `URLError.timedOut`.
    ///   - completionHandler: Called on the delegate queue, without an error once all bytes are written to the kernel, which does
    ///     not mean that the peer has received them.
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

    /// Hands the connection out as a pair of streams, passed to `urlSession(_:streamTask:didBecome:outputStream:)`; the task then
    /// completes. Both streams have to be opened; reading and writing block the calling thread until the peer is ready. They call
    /// no delegate and do not support run loops.
    open func captureStreams() { stream.submit(.barrier(.capture)) }

    /// Closes the reading half. Writing remains possible.
    open func closeRead() { stream.submit(.barrier(.closeRead)) }

    /// Closes the writing half and tells the peer. Reading remains possible.
    open func closeWrite() { stream.submit(.barrier(.closeWrite)) }

    /// Starts TLS. Challenges about the server's trust and the client's certificate go to the delegates. If TLS cannot be
    /// established, the task fails.
    open func startSecureConnection() { stream.submit(.barrier(.startSecure)) }

    /// Ends TLS: sends the peer a close notification and closes both halves. The connection does not continue in plain text. Has
    /// no effect without TLS.
    open func stopSecureConnection() { stream.submit(.barrier(.stopSecure)) }
}

extension Interval {
    /// The timeout of an operation; nil for no limit.
    fileprivate init?(operation seconds: TimeInterval) {
        guard seconds > 0, seconds < Double(Int64.max) / 1e9 else { return nil }
        self.init(nanoseconds: Int64(seconds * 1e9))
    }
}
