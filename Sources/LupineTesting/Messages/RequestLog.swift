// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The received requests, in order, and the tasks that wait for one. Can be used on any thread.
final class RequestLog: Sendable {
    private struct State {
        var requests: [TestRequest] = []
        /// The waiting tasks, with the index of the request that each waits for.
        var waiters: [(index: Int, waiter: Waiter<TestRequest>)] = []
        /// The number of calls of `next` so far, which is the index of the request that the following call returns.
        var nextCallCount = 0
        /// The error with which `close` has ended the log; nil before.
        var closingError: (any Error)?
    }

    private let state = Lock(State())

    /// The requests so far.
    var requests: [TestRequest] { state.withLock { $0.requests } }

    /// Adds a request, and resumes the tasks that wait for it.
    func add(_ request: TestRequest) {
        let readyWaiters = state.withLock { state -> [Waiter<TestRequest>] in
            state.requests.append(request)
            let count = state.requests.count
            // They all wait for this request: no task waits for an earlier one.
            let readyWaiters = state.waiters.filter { $0.index < count }.map(\.waiter)
            state.waiters.removeAll { $0.index < count }
            return readyWaiters
        }
        for waiter in readyWaiters { waiter.resume(.success(request)) }
    }

    /// Waits for the request with that index and returns it. Throws the error of `close`, or `CancellationError` when the task is
    /// cancelled.
    func request(at index: Int) async throws -> TestRequest {
        let waiter = Waiter<TestRequest>()
        let outcome = state.withLock { state -> Result<TestRequest, any Error>? in
            if state.requests.indices.contains(index) { return .success(state.requests[index]) }
            if let closingError = state.closingError { return .failure(closingError) }
            state.waiters.append((index, waiter))
            return nil
        }
        if let outcome { return try outcome.get() }
        return try await waiter.value()
    }

    /// Waits for the first request that this method has not returned yet.
    func next() async throws -> TestRequest {
        let index = state.withLock { state -> Int in
            defer { state.nextCallCount += 1 }
            return state.nextCallCount
        }
        return try await request(at: index)
    }

    /// Ends the log: waiting tasks fail with the error.
    func close(_ error: any Error) {
        let waiters = state.withLock { state -> [Waiter<TestRequest>] in
            state.closingError = error
            defer { state.waiters = [] }
            return state.waiters.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(.failure(error)) }
    }
}
