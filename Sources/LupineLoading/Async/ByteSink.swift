// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Buffers content until it is taken, piece by piece; when much is buffered, the load stops reading.
final class ByteSink: TaskSink {
    private typealias Waiting = CheckedContinuation<[UInt8]?, any Error>

    private struct State {
        var pieces: [Data] = []
        var next = 0
        var count = 0
        var isPaused = false
        var end: Result<Void, any Error>?
        var waiting: [Waiting] = []

        mutating func take() -> (piece: Data, resumes: Bool)? {
            guard next < pieces.count else { return nil }
            let piece = pieces[next]
            pieces[next] = Data()
            next += 1
            // A reader that is always a little behind never empties the array.
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

    /// - Parameter response: Is given the response, or the error if there is none.
    init(_ response: TaskAwaiter<URLResponse>) { self.response = response }

    // MARK: from the load

    var completesAnywhere: Bool { true }

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        self.response.give(.success(response))
        return .deliver
    }

    func received(_ task: TaskCore, _ data: Data) -> Demand {
        let (waiting, demand) = state.withLock { state -> (Waiting?, Demand) in
            if state.end != nil { return (nil, .enough) }
            if !state.waiting.isEmpty { return (state.waiting.removeFirst(), .more) }
            state.pieces.append(data)
            state.count += data.count
            if state.count > TaskDelivery.highWater { state.isPaused = true }
            return (nil, state.isPaused ? .pause : .more)
        }
        waiting?.resume(returning: Array(data))
        return demand
    }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
        let (waiting, _) = state.withLock { state -> ([Waiting], [Data]) in
            state.end = result
            let pieces = state.pieces
            // After a cancellation the buffered content is dropped; any other error is reported after the content.
            if (error as? URLError)?.code == .cancelled {
                (state.pieces, state.next, state.count) = ([], 0, 0)
            }
            defer { state.waiting = [] }
            return (state.waiting, pieces)
        }
        response.give(
            .failure(
                error
                    ?? URLError.noResponse(context.task.currentRequest?.url)))
        for one in waiting { one.resume(with: result.map { nil }) }
    }

    // MARK: to the reader

    /// The next bytes; nil at the end.
    func next(_ task: URLSessionTask) async throws -> [UInt8]? {
        if let (piece, resumes) = state.withLock({ $0.take() }) {
            if resumes { task.core.resumeReading() }
            return Array(piece)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (result, resumes) = state.withLock { state -> (Result<[UInt8]?, any Error>?, Bool) in
                    if let (piece, resumes) = state.take() { return (.success(Array(piece)), resumes) }
                    if let end = state.end { return (end.map { nil }, false) }
                    state.waiting.append(continuation)
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
