// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Collects content in memory; a handler gets all of it, or the error (U-4.5, U-4.6).
final class CollectingSink: TaskSink {
    private struct State {
        /// Released when it is called, since the task may be released on any thread later.
        var handler: (@Sendable (Data?, URLResponse?, (any Error)?) -> Void)?
    }

    private let content: CollectedContent
    private let state: Lock<State>

    /// - Parameter limit: A longer body fails the task.
    init(
        limit: CollectedBodyLimit, _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) {
        content = CollectedContent(limit: limit)
        state = Lock(State(handler: handler))
    }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        content.expect(response, task)
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { content.add(data, task) }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        let data = content.take()
        state.withLock { $0.handler.take() }?(error == nil ? data : nil, context.task.response, error)
    }
}

/// A body in memory, with a limit.
final class CollectedContent: Sendable {
    private struct State {
        var data = Data()
        var expected = 0
    }

    private let limit: CollectedBodyLimit
    private let state = Lock(State())

    /// The maximum capacity that is reserved before the content arrives; a longer body grows as it arrives.
    private static let maxReserved = 16 << 20

    init(limit: CollectedBodyLimit) { self.limit = limit }

    /// Takes the announced length of a response. If the body will be too long, the task fails at once.
    func expect(_ response: URLResponse, _ task: TaskCore) {
        if limit.isExceeded(by: response, to: task.currentRequest) {
            return task.fail(limit.error(of: task.currentRequest?.url))
        }
        let length = Int(clamping: max(0, response.expectedContentLength))
        state.withLock { $0.expected = length }
    }

    /// Adds a piece. Content that comes in one piece is not copied.
    func add(_ data: Data, _ task: TaskCore) -> Demand {
        let fits = state.withLock { state in
            guard state.data.count <= limit.bytes - data.count else { return false }
            if state.data.isEmpty {
                state.data = data
                return true
            }
            if state.expected > state.data.count {
                state.data.reserveCapacity(min(state.expected, Self.maxReserved))
                state.expected = 0
            }
            state.data.append(data)
            return true
        }
        if fits { return .more }
        task.fail(limit.error(of: task.currentRequest?.url))
        return .enough
    }

    /// Removes and returns the content.
    func take() -> Data {
        state.withLock { state in
            defer { state.data = Data() }
            return state.data
        }
    }
}
