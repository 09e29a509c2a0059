// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Buffers the content of a response between the load and the stream that reads it. May be used on any thread.
///
/// The load pauses when the buffer has more than `TaskDelivery.highWater` bytes, and resumes when it has `TaskDelivery.lowWater`
/// bytes or fewer.
final class ContentBuffer: Sendable {
    private struct State: Sendable {
        /// The content in the order of its arrival. Pieces that were read completely are empty.
        var pieces: [Data] = []
        /// The index of the first piece that has not been read completely.
        var nextIndex = 0
        /// The number of unread bytes.
        var unreadCount = 0
        /// Whether the load is paused.
        var isPaused = false
        /// The end of the content; nil before it.
        var ending: Result<Void, StreamEnding>?
        /// Whether the reading side is closed.
        var isClosed = false
        /// Called when there is more to read; nil until `setReadyHandler` is called.
        var wake: (@Sendable () -> Void)?

        /// Moves the unread content to `unread`, which the caller releases outside the lock.
        mutating func moveContent(to unread: inout [Data]) {
            swap(&pieces, &unread)
            (pieces, nextIndex, unreadCount) = ([], 0, 0)
        }
    }

    private let state = Lock(State())
    /// Resumes the load.
    private let resume: @Sendable () -> Void

    /// Creates an empty buffer.
    ///
    /// - Parameter resume: Resumes the load after a pause.
    init(resume: @escaping @Sendable () -> Void) { self.resume = resume }

    /// Sets the handler that is called, on any thread, when there is more to read.
    func setReadyHandler(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    // MARK: called by the load

    /// Whether the load should continue. Reading this may set `isPaused`: after `.pause` the buffer calls `resume` once enough
    /// has been read.
    var demand: Demand {
        state.withLock { state in
            if state.isClosed { return .enough }
            if state.unreadCount > TaskDelivery.highWater { state.isPaused = true }
            return state.isPaused ? .pause : .more
        }
    }

    /// Adds content, or discards it if the reading side is closed.
    func put(_ data: Data) {
        let wake = state.withLock { state in
            if !state.isClosed {
                state.pieces.append(data)
                state.unreadCount += data.count
            }
            return state.wake
        }
        wake?()
    }

    /// Ends the content, with the load's error if it failed.
    func end(_ error: (any Error)?) {
        // Releases the data outside of the lock, because its deallocator may be the program's.
        var unread: [Data] = []
        let wake = state.withLock { state in
            state.ending = error.map { .failure(StreamEnding(error: $0)) } ?? .success(())
            // The content of a cancelled task is discarded.
            if (error as? URLError)?.code == .cancelled { state.moveContent(to: &unread) }
            return state.wake
        }
        wake?()
    }

    // MARK: called by the reader

    /// Removes and returns up to `limit` bytes: none if none have arrived yet, nil at the end. Throws the load's error if the
    /// content has ended with one.
    func read(upTo limit: Int) throws(StreamEnding) -> Data? {
        let (result, resumes) = state.withLock { state -> (Result<Data?, StreamEnding>, Bool) in
            guard state.nextIndex < state.pieces.count else {
                switch state.ending {
                case nil: return (.success(Data()), false)
                case .success?: return (.success(nil), false)
                case .failure(let ending)?: return (.failure(ending), false)
                }
            }
            let piece = state.pieces[state.nextIndex]
            let readData = piece.prefix(limit)
            if readData.count == piece.count {
                state.pieces[state.nextIndex] = Data()
                state.nextIndex += 1
                if state.nextIndex == state.pieces.count {
                    (state.pieces, state.nextIndex) = ([], 0)
                } else if state.nextIndex >= 64, state.nextIndex * 2 >= state.pieces.count {
                    // A slow reader never reaches the last piece. So the pieces that were read are removed once they are at least
                    // 64 and half of all, which makes the cost of moving the others small.
                    state.pieces.removeFirst(state.nextIndex)
                    state.nextIndex = 0
                }
            } else {
                state.pieces[state.nextIndex] = piece.dropFirst(limit)
            }
            state.unreadCount -= readData.count
            let resumes = state.isPaused && state.unreadCount <= TaskDelivery.lowWater
            if resumes { state.isPaused = false }
            return (.success(readData), resumes)
        }
        if resumes { resume() }
        return try result.get()
    }

    /// Closes the reading side: further content is discarded.
    func close() {
        // As in `end`, the data is released outside of the lock.
        var unread: [Data] = []
        let resumes = state.withLock { state in
            state.isClosed = true
            state.moveContent(to: &unread)
            defer { state.isPaused = false }
            return state.isPaused
        }
        // A paused load continues, so that it learns from `demand` that no more content is wanted, and ends.
        if resumes { resume() }
    }
}

/// Reads the content of a response as a stream; writing fails. Confined to its loop.
final class ContentWire: StreamWire {
    weak var handler: (any RawConnectionHandler)?
    private let buffer: ContentBuffer

    /// A weak reference to a wire, as a value that `LoopBound` can contain.
    private struct WeakReference {
        weak var wire: ContentWire?
    }

    /// Reads from `buffer`, on this loop.
    init(_ buffer: ContentBuffer, on loop: EventLoop) {
        self.buffer = buffer
        // `LoopBound` permits access to the wire only on the loop.
        let bound = LoopBound(WeakReference(wire: self), on: loop)
        // The result is ignored: a loop that has shut down reads nothing more.
        buffer.setReadyHandler { _ = loop.execute { bound.value.wire?.handler?.connectionIsReady() } }
    }

    var peerIsClosing: Bool { false }

    func receive(into space: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome {
        let data: Data?
        do throws(StreamEnding) { data = try buffer.read(upTo: space.count) } catch {
            throw .taskEnded(error)
        }
        guard let data else { return .end }
        for (offset, byte) in data.enumerated() { space[offset] = byte }
        return data.isEmpty ? .wouldBlock : .bytes(data.count)
    }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome { throw .readOnly }
    /// Returns true: nothing is buffered.
    func flush() throws(StreamFault) -> Bool { true }
    /// Does nothing: there is no writing half.
    func closeWriting() {}
    /// Discards further content. The load then ends without an error.
    func closeGently() {
        close()
        buffer.close()
    }
    func startTLS() { handler?.connectionEnded(.unsupported("TLS inside the content of a response")) }

    /// Ends the calls of the handler. If the stream has failed, `ContentStreamSink` then fails the task and closes the buffer.
    func close() { handler = nil }
}
