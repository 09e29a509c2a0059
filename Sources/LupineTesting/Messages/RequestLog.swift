// SPDX-License-Identifier: MIT

internal import LupineTransport

/// The requests that came, in their order, and those who wait for one. Any thread.
final class RequestLog: Sendable {
    private struct State {
        var requests: [TestRequest] = []
        var waiting: [(index: Int, waiter: Waiter<TestRequest>)] = []
        /// How many requests `next` has given out.
        var taken = 0
        var end: (any Error)?
    }

    private let state = Lock(State())

    var requests: [TestRequest] { state.withLock { $0.requests } }

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

    /// The request of that number, from 0, once it has come.
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

    /// The first request that no call of this has returned yet, once it has come.
    func next() async throws -> TestRequest {
        let index = state.withLock { state -> Int in
            defer { state.taken += 1 }
            return state.taken
        }
        return try await request(at: index)
    }

    /// No further request comes: whoever waits is told so.
    func close(_ error: any Error) {
        let waiting = state.withLock { state -> [Waiter<TestRequest>] in
            state.end = error
            defer { state.waiting = [] }
            return state.waiting.map(\.waiter)
        }
        for waiter in waiting { waiter.resume(.failure(error)) }
    }
}
