// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Collects the content of a task in memory. A completion handler receives all of the content, or the error (U-4.5, U-4.6).
final class CollectingSink: TaskSink {
    private struct State {
        /// The completion handler; nil once it has been called. It is released at that time on the delegate queue. The task
        /// itself may be released later on any thread, where objects that the handler retains must not be deallocated.
        var handler: (@Sendable (Data?, URLResponse?, (any Error)?) -> Void)?
    }

    private let content: CollectedContent
    private let state: Lock<State>

    /// Creates a sink for one task.
    ///
    /// - Parameters:
    ///   - limit: The maximum length of the content. Longer content fails the task.
    ///   - handler: The completion handler.
    init(
        limit: CollectedBodyLimit, _ handler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) {
        content = CollectedContent(limit: limit)
        state = Lock(State(handler: handler))
    }

    func receivedResponse(_ task: TaskCore, _ response: URLResponse) -> HopPlan {
        content.recordExpectedLength(of: response, for: task)
        return .deliver
    }

    func receivedContent(_ task: TaskCore, _ data: Data) -> Demand { content.add(data, for: task) }

    func completed(_ context: CallbackContext, _ error: (any Error)?) {
        let data = content.takeAll()
        // The handler is called outside of the lock.
        state.withLock { $0.handler.take() }?(error == nil ? data : nil, context.task.response, error)
    }
}

/// Collects content in memory, up to a limit.
final class CollectedContent: Sendable {
    private struct State {
        /// The content that has arrived.
        var data = Data()
        /// The length that the response states; 0 if it states none, or once memory has been reserved for it.
        var expectedBytes = 0
    }

    private let limit: CollectedBodyLimit
    private let state = Lock(State())

    /// The maximum number of bytes that are reserved before the content arrives: 16 MiB. The storage of longer content grows as
    /// it arrives.
    private static let maxReservedBytes = 16 << 20

    init(limit: CollectedBodyLimit) { self.limit = limit }

    /// Records the length of the content that the response states. Fails the task at once if that exceeds the limit.
    func recordExpectedLength(of response: URLResponse, for task: TaskCore) {
        if limit.isExceeded(by: response, to: task.currentRequest) {
            return task.fail(limit.error(of: task.currentRequest?.url))
        }
        let length = Int(clamping: max(0, response.expectedContentLength))
        state.withLock { $0.expectedBytes = length }
    }

    /// Adds a piece. If the limit is exceeded, fails the task and returns `.enough`. The first piece is stored without being
    /// copied.
    func add(_ data: Data, for task: TaskCore) -> Demand {
        let fits = state.withLock { state in
            guard state.data.count <= limit.bytes - data.count else { return false }
            if state.data.isEmpty {
                state.data = data
                return true
            }
            // At the second piece: reserves memory once for all content.
            if state.expectedBytes > state.data.count {
                state.data.reserveCapacity(min(state.expectedBytes, Self.maxReservedBytes))
                state.expectedBytes = 0
            }
            state.data.append(data)
            return true
        }
        if fits { return .more }
        task.fail(limit.error(of: task.currentRequest?.url))
        return .enough
    }

    /// Removes and returns the content.
    func takeAll() -> Data {
        state.withLock { state in
            defer { state.data = Data() }
            return state.data
        }
    }
}
