// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Content is collected in memory; a handler gets all of it, or the error (U-4.5, U-4.6).
final class CollectingSink: TaskSink {
    private struct State {
        /// Goes when it is called: the task may be let go of elsewhere.
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

    func responded(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        content.expect(response, task)
        return .deliver
    }

    func received(_ task: TaskCore, _ data: Data) -> Demand { content.add(data, task) }

    func completed(_ stage: TaskStage, _ error: (any Error)?) {
        let data = content.take()
        state.withLock { $0.handler.take() }?(error == nil ? data : nil, stage.task.response, error)
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

    /// Room that is made for a body before it is there; what is longer grows as it comes.
    private static let mostReserved = 16 << 20

    init(limit: CollectedBodyLimit) { self.limit = limit }

    /// A response says how long its body is; what will be too long fails the task at once.
    func expect(_ response: URLResponse, _ task: TaskCore) {
        if limit.isExceeded(by: response, to: task.currentRequest) {
            return task.fail(limit.error(of: task.currentRequest?.url))
        }
        let length = Int(clamping: max(0, response.expectedContentLength))
        state.withLock { $0.expected = length }
    }

    /// The next piece. What comes in one is kept as it is.
    func add(_ data: Data, _ task: TaskCore) -> Demand {
        let fits = state.withLock { state in
            guard state.data.count <= limit.bytes - data.count else { return false }
            if state.data.isEmpty {
                state.data = data
                return true
            }
            if state.expected > state.data.count {
                state.data.reserveCapacity(min(state.expected, Self.mostReserved))
                state.expected = 0
            }
            state.data.append(data)
            return true
        }
        if fits { return .more }
        task.fail(limit.error(of: task.currentRequest?.url))
        return .enough
    }

    /// All of it, once.
    func take() -> Data {
        state.withLock { state in
            defer { state.data = Data() }
            return state.data
        }
    }
}
