// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Buffers the content of a response between the load and the stream that reads it. May be used on any thread.
///
/// The load pauses when the buffer has more than `TaskDelivery.highWater` bytes, and resumes at `TaskDelivery.lowWater`.
final class ContentBuffer: Sendable {
    private struct State: Sendable {
        var pieces: [Data] = []
        /// The index of the first piece that has not been read completely.
        var next = 0
        /// The number of unread bytes.
        var count = 0
        /// Whether the load is paused.
        var isPaused = false
        /// The end of the content; nil before it.
        var ending: Result<Void, StreamEnding>?
        /// Whether the reading side is closed.
        var isClosed = false
        /// Called when there is more to read.
        var wake: (@Sendable () -> Void)?

        /// Moves the unread content to `dropped`, which the caller releases outside the lock.
        mutating func drop(into dropped: inout [Data]) {
            swap(&pieces, &dropped)
            (pieces, next, count) = ([], 0, 0)
        }
    }

    private let state = Lock(State())
    private let resume: @Sendable () -> Void

    /// Creates an empty buffer.
    ///
    /// - Parameter resume: Resumes the load after a pause.
    init(resume: @escaping @Sendable () -> Void) { self.resume = resume }

    /// Sets the handler that is called, on any thread, when there is more to read.
    func attach(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    // MARK: the load's side

    /// Whether the load should continue. Reading this may set `isPaused`: after `.pause` the buffer calls `resume` once enough
    /// has been read.
    var demand: Demand {
        state.withLock { state in
            if state.isClosed { return .enough }
            if state.count > TaskDelivery.highWater { state.isPaused = true }
            return state.isPaused ? .pause : .more
        }
    }

    /// Adds content, or discards it if the reading side is closed.
    func put(_ data: Data) {
        let wake = state.withLock { state in
            if !state.isClosed {
                state.pieces.append(data)
                state.count += data.count
            }
            return state.wake
        }
        wake?()
    }

    /// Ends the content, with the load's error if it failed.
    func end(_ error: (any Error)?) {
        // Releases dropped data outside the lock: it may run a deallocator of the program's.
        var dropped: [Data] = []
        let wake = state.withLock { state in
            state.ending = error.map { .failure(StreamEnding(error: $0)) } ?? .success(())
            // The content of a cancelled task is discarded.
            if (error as? URLError)?.code == .cancelled { state.drop(into: &dropped) }
            return state.wake
        }
        wake?()
    }

    // MARK: the reader's side

    /// Removes and returns up to `limit` bytes; none when none have arrived yet, nil at the end. Throws the load's error if the
    /// content ended with one.
    func take(_ limit: Int) throws(StreamEnding) -> Data? {
        let (result, resumes) = state.withLock { state -> (Result<Data?, StreamEnding>, Bool) in
            guard state.next < state.pieces.count else {
                switch state.ending {
                case nil: return (.success(Data()), false)
                case .success?: return (.success(nil), false)
                case .failure(let ending)?: return (.failure(ending), false)
                }
            }
            let piece = state.pieces[state.next]
            let taken = piece.prefix(limit)
            if taken.count == piece.count {
                state.pieces[state.next] = Data()
                state.next += 1
                if state.next == state.pieces.count {
                    (state.pieces, state.next) = ([], 0)
                } else if state.next >= 64, state.next * 2 >= state.pieces.count {
                    // A reader that is always behind never reads the last piece, so read pieces are removed in between.
                    state.pieces.removeFirst(state.next)
                    state.next = 0
                }
            } else {
                state.pieces[state.next] = piece.dropFirst(limit)
            }
            state.count -= taken.count
            let resumes = state.isPaused && state.count <= TaskDelivery.lowWater
            if resumes { state.isPaused = false }
            return (.success(taken), resumes)
        }
        if resumes { resume() }
        return try result.get()
    }

    /// Closes the reading side: further content is discarded.
    func close() {
        var dropped: [Data] = []
        let resumes = state.withLock { state in
            state.isClosed = true
            state.drop(into: &dropped)
            defer { state.isPaused = false }
            return state.isPaused
        }
        if resumes { resume() }
    }
}

/// Reads the content of a response as a stream; writing fails. Confined to its loop.
final class ContentWire: StreamWire {
    weak var handler: (any RawConnectionHandler)?
    private let buffer: ContentBuffer

    /// A weak reference in a value.
    private struct WeakReference {
        weak var wire: ContentWire?
    }

    /// Reads from `buffer`, on this loop.
    init(_ buffer: ContentBuffer, on loop: EventLoop) {
        self.buffer = buffer
        let bound = LoopBound(WeakReference(wire: self), on: loop)
        buffer.attach { _ = loop.execute { bound.value.wire?.handler?.connectionIsReady() } }
    }

    var peerIsClosing: Bool { false }

    func receive(into space: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome {
        let data: Data?
        do throws(StreamEnding) { data = try buffer.take(space.count) } catch { throw .ended(error) }
        guard let data else { return .end }
        for (offset, byte) in data.enumerated() { space[offset] = byte }
        return data.isEmpty ? .wouldBlock : .bytes(data.count)
    }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome { throw .onlyContent }
    func flush() throws(StreamFault) -> Bool { true }
    func closeWriting() {}
    /// Discards further content; the load then ends without an error.
    func closeGently() {
        close()
        buffer.close()
    }
    func startTLS() { handler?.connectionEnded(.unsupported("TLS inside the content of a response")) }

    /// Called when the stream has failed. `ContentStreamSink` then fails the task too.
    func close() { handler = nil }
}
