// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The sink (receiver of a task's response) that supplies `URLSession.AsyncBytes`: buffers pieces of content until the program
/// reads them.
///
/// When more than `TaskDelivery.highWater` bytes are buffered, the load stops reading. It continues at `TaskDelivery.lowWater`.
final class ByteSink: TaskSink {
    /// The continuation of a call of `next` that waits for content.
    private typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    private struct State {
        /// The buffered pieces, from index `head` on. The elements before that index are empty.
        var pieces: [Data] = []
        var head = 0
        /// The number of buffered bytes.
        var byteCount = 0
        /// Whether the load has stopped reading.
        var isPaused = false
        /// The result of the task; nil before its end.
        var result: Result<Void, any Error>?
        /// The calls of `next` that wait for content. There are none while pieces are buffered.
        var readers: [Reader] = []

        /// The number of emptied elements at which the remaining pieces move to the front, if at least half of all are empty.
        private static let maxEmptiedElements = 64

        /// Removes and returns the first piece; nil if there is none. If `shouldResume` is true, the caller has to have the load
        /// continue reading.
        mutating func popPiece() -> (piece: Data, shouldResume: Bool)? {
            guard head < pieces.count else { return nil }
            let piece = pieces[head]
            pieces[head] = Data()
            head += 1
            // The queue may never become empty, so emptied elements are removed from time to time.
            let hasManyEmptied = head >= Self.maxEmptiedElements && head * 2 >= pieces.count
            if head == pieces.count || hasManyEmptied {
                pieces.removeFirst(head)
                head = 0
            }
            byteCount -= piece.count
            let shouldResume = isPaused && byteCount <= TaskDelivery.lowWater
            if shouldResume { isPaused = false }
            return (piece, shouldResume)
        }
    }

    private let responseAwaiter: TaskAwaiter<URLResponse>
    private let state = Lock(State())

    /// Creates a sink.
    ///
    /// - Parameter responseAwaiter: Receives the response, or the error if the task ends without one.
    init(_ responseAwaiter: TaskAwaiter<URLResponse>) { self.responseAwaiter = responseAwaiter }

    // MARK: called by the load

    /// True, because `completed` only resumes continuations.
    var completesOnAnyThread: Bool { true }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        responseAwaiter.complete(.success(response))
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand {
        let (reader, demand) = state.withLock { state -> (Reader?, Demand) in
            if state.result != nil { return (nil, .enough) }
            if !state.readers.isEmpty { return (state.readers.removeFirst(), .more) }
            state.pieces.append(data)
            state.byteCount += data.count
            if state.byteCount > TaskDelivery.highWater { state.isPaused = true }
            return (nil, state.isPaused ? .pause : .more)
        }
        reader?.resume(returning: Array(data))
        return demand
    }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        // The second element, the buffered content, is returned only so that it is released outside of the lock.
        let (readers, _) = state.withLock { state -> ([Reader], [Data]) in
            state.result = result
            let pieces = state.pieces
            // A cancellation discards the buffered content; any other error is reported after the content.
            if (error as? URLError)?.code == .cancelled {
                (state.pieces, state.head, state.byteCount) = ([], 0, 0)
            }
            defer { state.readers = [] }
            return (state.readers, pieces)
        }
        // Has no effect if the response has arrived, because only the first call of `complete` has one.
        responseAwaiter.complete(.failure(error ?? URLError.noResponse(context.task.currentRequest?.url)))
        // After a success the readers get nil, which stands for the end of the content.
        for reader in readers { reader.resume(with: result.map { nil }) }
    }

    // MARK: called by the reader

    /// Waits until there is content, and returns the next piece of it; nil at the end. Cancels the task if the calling Swift task
    /// is cancelled.
    func next(_ task: URLSessionTask) async throws -> [UInt8]? {
        if let (piece, shouldResume) = state.withLock({ $0.popPiece() }) {
            if shouldResume { task.core.resumeReading() }
            return Array(piece)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Looks for a piece again, because one may have arrived since the first look. If `next` is nil, the call waits.
                let (next, shouldResume) = state.withLock { state -> (Result<[UInt8]?, any Error>?, Bool) in
                    if let (piece, shouldResume) = state.popPiece() {
                        return (.success(Array(piece)), shouldResume)
                    }
                    if let result = state.result { return (result.map { nil }, false) }
                    state.readers.append(continuation)
                    return (nil, false)
                }
                if shouldResume { task.core.resumeReading() }
                if let next { continuation.resume(with: next) }
            }
        } onCancel: {
            task.cancel()
        }
    }
}
