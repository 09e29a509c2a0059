// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineLoading
internal import LupineOrigin
internal import LupineTransport

/// The state that the connections of a test origin share: the routes, the log, and the running handlers. Can be used on any
/// thread.
///
/// It has no reference to the origin. So a test that drops its origin deallocates it, although the origin has routes.
final class OriginCore: Sendable {
    private struct Handlers {
        /// The number of handlers that have been started.
        var number = 0
        /// The running handlers by number; the value is nil until the task has been created.
        var running: [Int: Task<Void, Never>?] = [:]
        var isClosed = false
        /// The callers of `waitForHandlers()`.
        var waiting: [Waiter<Void>] = []
    }

    let log = RequestLog()
    /// The clock for the `Date` of responses; nil for the system clock.
    let clock: ManualClock?
    private let routes = Lock(RouteTable())
    private let handlers = Lock(Handlers())
    /// The URL of the origin; nil until it listens.
    private let base = Lock<URL?>(nil)

    init(clock: ManualClock?) { self.clock = clock }

    /// Returns the endpoint for all requests. It is called on a loop with the whole body; the response is sent when the
    /// handler has returned.
    func endpoint() -> Endpoint { .collected { [self] request in answer(request) } }

    /// Sets the URL at which the origin listens.
    func setURL(_ url: URL) { base.withLock { $0 = url } }

    func add(_ method: String?, _ pattern: String, _ handler: @escaping RouteTable.Handler) {
        routes.withLock { $0.add(method, pattern, handler) }
    }

    /// Starts the handler for a request, and returns a response that waits for it. Called on the origin's loop.
    private func answer(_ incoming: OriginRequest) -> OriginResponse {
        // No client knows the origin's address before it is set.
        guard let base = base.withLock({ $0 }) else { return OriginResponse(503) }
        let request = TestRequest(incoming, at: base)
        log.add(request)
        let answer = Answer()
        handle(request) { answer.set(self.dated($0)) }
        return .later(answer.gate) { () throws(Refusal) in try answer.response.choice() }
    }

    /// Returns the response with a `Date` from the test's clock, unless it has one. Caches compute ages from this field.
    private func dated(_ response: TestResponse) -> TestResponse {
        guard let clock, response.headers["Date"] == nil, let date = HTTPDate.text(of: clock.date) else {
            return response
        }
        return response.header("Date", date)
    }

    /// Calls the program's handler in a new task, and `completion` with its response.
    private func handle(_ request: TestRequest, _ completion: @escaping @Sendable (TestResponse) -> Void) {
        let table = routes.withLock { $0 }
        guard let (handler, parameters) = table.match(request) else {
            return completion(table.refusal(of: request))
        }
        let number = handlers.withLock { handlers -> Int? in
            if handlers.isClosed { return nil }
            handlers.number += 1
            // Adds the key; its task is set when it has been created.
            handlers.running[handlers.number] = .some(nil)
            return handlers.number
        }
        guard let number else { return completion(.closed) }
        var matched = request
        matched.parameters = parameters
        let task = Task { [matched] in
            do {
                completion(try await handler(matched))
            } catch {
                completion(.text("the route threw: \(error)\n", status: 500))
            }
            handlerEnded(number)
        }
        // `close` may have been called while the task was being created.
        let wasClosed = handlers.withLock { handlers in
            // The key is absent if the handler has already finished.
            if handlers.running[number] != nil { handlers.running[number] = .some(task) }
            return handlers.isClosed
        }
        if wasClosed { task.cancel() }
    }

    /// Called when a handler has finished.
    private func handlerEnded(_ number: Int) {
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
        let released = routes.withLock { routes -> RouteTable in
            var released = RouteTable()
            swap(&routes, &released)
            return released
        }
        for task in running { task.cancel() }
        // The program's closures are released outside the lock.
        withExtendedLifetime(released) {}
    }

    /// Returns when no handler is running.
    func waitForHandlers() async {
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
