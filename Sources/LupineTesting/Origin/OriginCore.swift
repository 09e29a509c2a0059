// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineLoading
internal import LupineOrigin
internal import LupineTransport

/// The state that the connections of a test origin share: the routes, the log, and the running handlers. Can be used on any
/// thread.
///
/// It has no reference to the origin, so that an unreferenced origin is deallocated although it has routes.
final class OriginCore: Sendable {
    private struct Handlers {
        var number = 0
        /// The running handlers; the value is nil until the task has been created.
        var running: [Int: Task<Void, Never>?] = [:]
        var isClosed = false
        /// The callers of `drained()`.
        var waiting: [Waiter<Void>] = []
    }

    let log = RequestLog()
    /// The clock for the `Date` of responses; nil for the system clock.
    let clock: ManualClock?
    private let routes = Lock(RouteTable())
    private let handlers = Lock(Handlers())
    /// The URL of the origin, once it is listening.
    private let base = Lock<URL?>(nil)

    init(clock: ManualClock?) { self.clock = clock }

    /// Returns the endpoint for all requests. It is called on a loop with the whole body; the response is sent when the
    /// handler has returned.
    func endpoint() -> Endpoint { .collected { [self] request in answer(request) } }

    /// Sets the URL at which the origin listens.
    func begin(at url: URL) { base.withLock { $0 = url } }

    func add(_ method: String?, _ pattern: String, _ handler: @escaping RouteTable.Handler) {
        routes.withLock { $0.add(method, pattern, handler) }
    }

    private func answer(_ incoming: OriginRequest) -> OriginResponse {
        // No client knows the origin's address before it is set.
        guard let base = base.withLock({ $0 }) else { return OriginResponse(503) }
        let request = TestRequest(incoming, at: base)
        log.add(request)
        let answer = Answer()
        handle(request) { answer.set(self.dated($0)) }
        return .later(answer.gate) { () throws(Refusal) in try answer.response.choice() }
    }

    /// Returns the response with the date of the test's clock, if it has no `Date`: ages are computed from it.
    private func dated(_ response: TestResponse) -> TestResponse {
        guard let clock, response.headers["Date"] == nil, let date = HTTPDate.text(of: clock.date) else {
            return response
        }
        return response.header("Date", date)
    }

    /// Calls the program's handler, off the loop.
    private func handle(_ request: TestRequest, _ answer: @escaping @Sendable (TestResponse) -> Void) {
        let table = routes.withLock { $0 }
        guard let (handler, parameters) = table.match(request) else {
            return answer(table.refusal(of: request))
        }
        let number = handlers.withLock { handlers -> Int? in
            if handlers.isClosed { return nil }
            handlers.number += 1
            // The key exists from here on; the task is set once it has been created.
            handlers.running[handlers.number] = .some(nil)
            return handlers.number
        }
        guard let number else { return answer(.closed) }
        var found = request
        found.parameters = parameters
        let task = Task { [found] in
            do {
                answer(try await handler(found))
            } catch {
                answer(.text("the route threw: \(error)\n", status: 500))
            }
            ended(number)
        }
        // True if the core was closed while the task was being created.
        let isLate = handlers.withLock { handlers in
            // The key is absent if the handler has already finished.
            if handlers.running[number] != nil { handlers.running[number] = .some(task) }
            return handlers.isClosed
        }
        if isLate { task.cancel() }
    }

    /// Called when a handler has finished.
    private func ended(_ number: Int) {
        let waiting = handlers.withLock { handlers -> [Waiter<Void>] in
            handlers.running[number] = nil
            guard handlers.running.isEmpty else { return [] }
            defer { handlers.waiting = [] }
            return handlers.waiting
        }
        for waiter in waiting { waiter.resume(.success(())) }
    }

    /// Closes the log, cancels the handlers, and releases the routes and the objects that they retain. No new handlers are
    /// started.
    func close(_ error: any Error) {
        log.close(error)
        let running = handlers.withLock { handlers -> [Task<Void, Never>] in
            handlers.isClosed = true
            return handlers.running.values.compactMap { $0 }
        }
        let gone = routes.withLock { routes -> RouteTable in
            var gone = RouteTable()
            swap(&routes, &gone)
            return gone
        }
        for task in running { task.cancel() }
        // The program's closures are released outside the lock.
        withExtendedLifetime(gone) {}
    }

    /// Returns when no handler is running.
    func drained() async {
        let waiter = Waiter<Void>()
        let isEmpty = handlers.withLock { handlers -> Bool in
            if !handlers.running.isEmpty { handlers.waiting.append(waiter) }
            return handlers.running.isEmpty
        }
        if !isEmpty { try? await waiter.value() }
    }
}

/// Passes the response of a handler to the loop that waits for it.
private final class Answer: Sendable {
    let gate = Gate()
    private let stored = Lock(TestResponse.closed)

    /// The response; to be read only after the gate has opened.
    var response: TestResponse { stored.withLock { $0 } }

    func set(_ response: TestResponse) {
        stored.withLock { $0 = response }
        gate.open()
    }
}
