// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink of a task whose content is read through `URLSession.AsyncBytes`: buffers pieces of content until they are read. When
/// more than `TaskDelivery.highWater` bytes are buffered, the load stops reading.
final class ByteSink: TaskSink {
    /// The continuation of a call of `next` that waits for content.
    private typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    private struct State {
        /// The buffered pieces, from index `next` on.
        var pieces: [Data] = []
        var next = 0
        /// The number of buffered bytes.
        var count = 0
        /// Whether the load has stopped reading.
        var isPaused = false
        /// The result of the task; nil before its end.
        var end: Result<Void, any Error>?
        /// The calls of `next` that wait for content. There are none while pieces are buffered.
        var readers: [Reader] = []

        /// Removes and returns the first piece; nil if there is none. `resumes` tells whether the load is to read again.
        mutating func takePiece() -> (piece: Data, resumes: Bool)? {
            guard next < pieces.count else { return nil }
            let piece = pieces[next]
            pieces[next] = Data()
            next += 1
            // The array may never become empty, so pieces that were taken are removed from time to time.
            if next == pieces.count || next >= 64 && next * 2 >= pieces.count {
                pieces.removeFirst(next)
                next = 0
            }
            count -= piece.count
            let resumes = isPaused && count <= TaskDelivery.lowWater
            if resumes { isPaused = false }
            return (piece, resumes)
        }
    }

    private let response: TaskAwaiter<URLResponse>
    private let state = Lock(State())

    /// - Parameter response: Completed with the response, or with the error if there is none.
    init(_ response: TaskAwaiter<URLResponse>) { self.response = response }

    // MARK: called by the load

    var completesOnAnyThread: Bool { true }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        self.response.complete(.success(response))
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        let (reader, demand) = state.withLock { state -> (Reader?, Demand) in
            if state.end != nil { return (nil, .enough) }
            if !state.readers.isEmpty { return (state.readers.removeFirst(), .more) }
            state.pieces.append(data)
            state.count += data.count
            if state.count > TaskDelivery.highWater { state.isPaused = true }
            return (nil, state.isPaused ? .pause : .more)
        }
        reader?.resume(returning: Array(data))
        return demand
    }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        // The ignored element, the buffered content, is released outside of the lock.
        let (readers, _) = state.withLock { state -> ([Reader], [Data]) in
            state.end = result
            let pieces = state.pieces
            // After a cancellation the buffered content is dropped; any other error is reported after the content.
            if (error as? URLError)?.code == .cancelled {
                (state.pieces, state.next, state.count) = ([], 0, 0)
            }
            defer { state.readers = [] }
            return (state.readers, pieces)
        }
        // No effect if the response has arrived.
        response.complete(.failure(error ?? URLError.noResponse(context.task.currentRequest?.url)))
        // A success is passed on as nil, the end.
        for reader in readers { reader.resume(with: result.map { nil }) }
    }

    // MARK: called by the reader

    /// Returns the next bytes, once there are any; nil at the end. Cancels the task if the calling Swift task is cancelled.
    func next(_ task: URLSessionTask) async throws -> [UInt8]? {
        if let (piece, resumes) = state.withLock({ $0.takePiece() }) {
            if resumes { task.core.resumeReading() }
            return Array(piece)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (result, resumes) = state.withLock { state -> (Result<[UInt8]?, any Error>?, Bool) in
                    if let (piece, resumes) = state.takePiece() { return (.success(Array(piece)), resumes) }
                    if let end = state.end { return (end.map { nil }, false) }
                    state.readers.append(continuation)
                    return (nil, false)
                }
                if resumes { task.core.resumeReading() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            task.cancel()
        }
    }
}
