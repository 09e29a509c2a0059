// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineTransport

/// A task that is a connection, to be read from and written to: no HTTP, and TLS when the program asks for it.
///
/// Any thread may call; handlers come on the session's delegate queue, each once. Reads are served one after the other, and
/// so are writes; a read that waits for the peer holds up no write. Closing a half, TLS and `captureStreams()` wait for
/// everything that was asked for before, and hold back what is asked for behind them. What is asked for before the
/// connection stands waits for it. When the task ends, by `cancel()` or by an error, what waits fails with that; when both
/// halves are over it completes by itself.
///
/// A data task that was answered `.becomeStream` goes on as one, too: its reads give the content of the response, decoded,
/// and its writes fail, because the request is over.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    let stream: StreamCore

    init(_ core: TaskCore, _ stream: StreamCore) {
        self.stream = stream
        super.init(core)
    }

    /// What answers: a read or a write that waits keeps it, as does a task that has not finished. What the answer to a data task
    /// became goes on behind the end of its task.
    private var answering: (TaskCore, StreamCore) { (core, stream) }

    /// Reads bytes.
    ///
    /// - Parameters:
    ///   - minBytes: So many have to come before the handler is called, unless the end comes before.
    ///   - maxBytes: More are not read.
    ///   - timeout: How many seconds the read may take from its turn on; 0 for as long as it likes. When they are over it
    ///     fails with `URLError.timedOut`, and so do all further reads.
    ///   - completionHandler: Called on the delegate queue with what came, nil when there was nothing more; with whether
    ///     the end was reached; and with why nothing could be read.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        stream.submit(
            .read(minimum: minBytes, maximum: maxBytes, timeout: Interval(operation: timeout)) {
                [answering] data, isAtEnd, error in
                withExtendedLifetime(answering) { completionHandler(data, isAtEnd, error) }
            })
    }

    /// Reads bytes: what came, nil when there was nothing more, and whether the end was reached.
    ///
    /// Throws the `URLError` that the read failed with.
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await withCheckedThrowingContinuation { waiting in
            readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { data, isAtEnd, error in
                waiting.resume(with: error.map { .failure($0) } ?? .success((data, isAtEnd)))
            }
        }
    }

    /// Writes bytes.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - timeout: How many seconds the write may take from its turn on; 0 for as long as it likes. When they are over it
    ///     fails with `URLError.timedOut`, and so do all further writes.
    ///   - completionHandler: Called on the delegate queue: without an error once all bytes were given to the kernel, which
    ///     does not say that the peer has them.
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        stream.submit(
            .write(Array(data), timeout: Interval(operation: timeout)) { [answering] error in
                withExtendedLifetime(answering) { completionHandler(error) }
            })
    }

    /// Writes bytes and returns once all of them were given to the kernel.
    ///
    /// Throws the `URLError` that the write failed with.
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                waiting.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Hands the connection out as a pair of streams, which `urlSession(_:streamTask:didBecome:outputStream:)` is given;
    /// the task then completes. Both streams have to be opened; reading and writing wait for the peer, on the thread that
    /// reads or writes. They call no delegate and are served by no run loop.
    open func captureStreams() { stream.submit(.barrier(.capture)) }

    /// Reads nothing more. The peer may still be written to.
    open func closeRead() { stream.submit(.barrier(.closeRead)) }

    /// Tells the peer that nothing more will be written. It may still be read from.
    open func closeWrite() { stream.submit(.barrier(.closeWrite)) }

    /// Speaks TLS from here on. Challenges about the server's trust and the client's certificate go to the delegates. When
    /// TLS does not come about the task fails.
    open func startSecureConnection() { stream.submit(.barrier(.startSecure)) }

    /// Ends a secure connection in order: the peer is told that nothing more comes, and both halves close. It does not go on
    /// in plain text. Without TLS nothing happens.
    open func stopSecureConnection() { stream.submit(.barrier(.stopSecure)) }
}

extension Interval {
    /// How long an operation may take; nil when nobody has said.
    fileprivate init?(operation seconds: TimeInterval) {
        guard seconds > 0, seconds < Double(Int64.max) / 1e9 else { return nil }
        self.init(nanoseconds: Int64(seconds * 1e9))
    }
}
