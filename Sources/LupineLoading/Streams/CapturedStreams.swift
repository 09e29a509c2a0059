// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The pair of streams that `URLSessionStreamTask.captureStreams()` passes to the delegate. Created on the event loop of the
/// wire, which is the connection whose bytes the streams transfer.
///
/// The streams block the thread that reads or writes, call no delegate, and do not support run loops. When both are closed or
/// deallocated, the connection closes.
struct CapturedStreams: Sendable {
    let pair: UncheckedSendable<(input: InputStream, output: OutputStream)>

    /// - Parameters:
    ///   - wire: The connection.
    ///   - loop: The loop of the wire.
    ///   - retained: An object that is kept alive as long as the streams.
    init(_ wire: any StreamWire, on loop: EventLoop, retaining retained: (any Sendable)?) {
        let pump = StreamPump(wire, on: loop, retaining: retained)
        // `LoopBound` permits access to the pump only on the loop.
        let bound = LoopBound(pump, on: loop)
        // The result is ignored: a loop that has shut down has ended the connection too.
        let wake: @Sendable () -> Void = { _ = loop.execute { bound.value.transfer() } }
        pair = UncheckedSendable(
            (CapturedInputStream(pump.input, wake), CapturedOutputStream(pump.output, wake)))
    }
}

/// Whether a captured stream is not open yet, open, or closed. Its end and its errors are kept in its pipe.
private final class CapturedStatus: Sendable {
    private let status = Lock(Stream.Status.notOpen)

    var current: Stream.Status { status.withLock { $0 } }
    var isOpen: Bool { current == .open }

    func open() { status.withLock { if $0 == .notOpen { $0 = .open } } }

    /// Closes the stream. Returns false if it was closed already.
    func close() -> Bool {
        status.withLock { status in
            defer { status = .closed }
            return status != .closed
        }
    }
}

/// Reads the bytes of a captured connection, or of a response, from a pipe.
final class CapturedInputStream: InputStream {
    private let pipe: BytePipe
    /// Asks the producer for more bytes. Called when the stream is opened or closed, and when a full pipe has room again.
    private let wake: @Sendable () -> Void
    private let status = CapturedStatus()

    init(_ pipe: BytePipe, _ wake: @escaping @Sendable () -> Void) {
        self.pipe = pipe
        self.wake = wake
        // The superclass needs a source. It is never read, because the methods that would read it are overridden.
        super.init(data: Data())
    }

    deinit { close() }

    override func open() {
        status.open()
        wake()
    }

    override func close() {
        guard status.close() else { return }
        pipe.end(.closed)
        wake()
    }

    /// Blocks until bytes arrive, and copies them to `buffer`. Returns their number; 0 at the end, -1 on failure.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status.isOpen else { return -1 }
        guard len > 0 else { return 0 }
        pipe.waitForBytes()
        let (bytes, makesRoom) = pipe.read(upTo: len)
        if bytes.isEmpty {
            if case .finished? = pipe.ending { return 0 }
            return -1
        }
        // The ignored result is the index after the last copied byte.
        _ = unsafe UnsafeMutableBufferPointer(start: buffer, count: bytes.count).update(fromContentsOf: bytes)
        if makesRoom { wake() }
        return bytes.count
    }

    /// Returns false: the buffer cannot be accessed directly.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { status.isOpen && (pipe.count > 0 || pipe.ending != nil) }

    override var streamStatus: Stream.Status {
        guard status.isOpen, pipe.count == 0 else { return status.current }
        switch pipe.ending {
        case .finished?: return .atEnd
        case .failed?: return .error
        case .closed?, nil: return .open
        }
    }

    override var streamError: (any Error)? {
        if case .failed(let error)? = pipe.ending { error } else { nil }
    }

    // Run loops are not supported.
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}

/// Writes to a captured connection.
private final class CapturedOutputStream: OutputStream {
    private let pipe: BytePipe
    /// Asks the pump to send the bytes of the pipe. Called when bytes were written, and when the stream is closed.
    private let wake: @Sendable () -> Void
    private let status = CapturedStatus()

    init(_ pipe: BytePipe, _ wake: @escaping @Sendable () -> Void) {
        self.pipe = pipe
        self.wake = wake
        // The superclass needs a destination. It is never written to, because `write` is overridden.
        super.init(toMemory: ())
    }

    /// Creates a closed stream. The superclass requires this initializer; the library does not call it.
    required init(toMemory: ()) {
        pipe = BytePipe()
        wake = {}
        super.init(toMemory: ())
        pipe.end(.closed)
    }

    deinit { close() }

    override func open() { status.open() }

    /// Closes the stream; bytes that were written before are still sent.
    override func close() {
        guard status.close() else { return }
        pipe.end(.finished)
        wake()
    }

    /// Blocks until bytes can be written. Returns their number, -1 on failure.
    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        guard status.isOpen else { return -1 }
        guard len > 0 else { return 0 }
        pipe.waitForRoom()
        // Copies no more bytes than fit. After the end of the pipe there is no room, and `append` accepts nothing.
        let count = min(len, pipe.room)
        let bytes = unsafe Array(UnsafeBufferPointer(start: buffer, count: count))
        let acceptedCount = pipe.append(bytes[...])
        if acceptedCount == 0 { return -1 }
        wake()
        return acceptedCount
    }

    override var hasSpaceAvailable: Bool { status.isOpen && pipe.room > 0 }

    override var streamStatus: Stream.Status {
        guard status.isOpen, case .failed? = pipe.ending else { return status.current }
        return .error
    }

    override var streamError: (any Error)? {
        if case .failed(let error)? = pipe.ending { error } else { nil }
    }

    // Run loops are not supported.
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
