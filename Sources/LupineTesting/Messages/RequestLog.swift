// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The received requests, in order, and the tasks that wait for one. Can be used on any thread.
final class RequestLog: Sendable {
    private struct State {
        var requests: [TestRequest] = []
        /// The waiting tasks, with the index of the request that each waits for.
        var waiting: [(index: Int, waiter: Waiter<TestRequest>)] = []
        /// The number of requests that `next` has claimed.
        var claimedCount = 0
        /// The error with which `close` has ended the log.
        var end: (any Error)?
    }

    private let state = Lock(State())

    var requests: [TestRequest] { state.withLock { $0.requests } }

    /// Adds a request, and resumes the tasks that wait for it.
    func add(_ request: TestRequest) {
        let ready = state.withLock { state -> [Waiter<TestRequest>] in
            state.requests.append(request)
            let count = state.requests.count
            let ready = state.waiting.filter { $0.index < count }.map(\.waiter)
            state.waiting.removeAll { $0.index < count }
            return ready
        }
        for waiter in ready { waiter.resume(.success(request)) }
    }

    /// Waits for the request with that index and returns it.
    func request(at index: Int) async throws -> TestRequest {
        let waiter = Waiter<TestRequest>()
        let outcome = state.withLock { state -> Result<TestRequest, any Error>? in
            if state.requests.indices.contains(index) { return .success(state.requests[index]) }
            if let end = state.end { return .failure(end) }
            state.waiting.append((index, waiter))
            return nil
        }
        if let outcome { return try outcome.get() }
        return try await waiter.value()
    }

    /// Waits for the first request that this method has not returned yet.
    func next() async throws -> TestRequest {
        let index = state.withLock { state -> Int in
            defer { state.claimedCount += 1 }
            return state.claimedCount
        }
        return try await request(at: index)
    }

    /// Ends the log: waiting tasks fail with the error.
    func close(_ error: any Error) {
        let waiting = state.withLock { state -> [Waiter<TestRequest>] in
            state.end = error
            defer { state.waiting = [] }
            return state.waiting.map(\.waiter)
        }
        for waiter in waiting { waiter.resume(.failure(error)) }
    }
}
