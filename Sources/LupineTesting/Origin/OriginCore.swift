// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineLoading
internal import LupineOrigin
internal import LupineTransport

/// The state that the connections of a test origin share: the routes, the log, and the running handlers. Can be used on any
/// thread.
///
/// It has no reference to the origin: an origin that a test drops is deallocated, although its server still has the routes.
final class OriginCore: Sendable {
    private struct Handlers {
        /// The number of handlers that have been started; the latest has this number.
        var startedCount = 0
        /// The tasks of the running handlers, by the handlers' numbers. The value is nil until the task has been created.
        var running: [Int: Task<Void, Never>?] = [:]
        /// Whether `close` has been called, so that no handler may start.
        var isClosed = false
        /// The callers of `waitForHandlers()`.
        var waiters: [Waiter<Void>] = []
    }

    let log = RequestLog()
    /// The clock for the `Date` of responses; nil for the system clock.
    let clock: ManualClock?
    private let routes = Lock(RouteTable())
    private let handlers = Lock(Handlers())
    /// The URL of the origin; nil until it listens.
    private let baseURL = Lock<URL?>(nil)

    init(clock: ManualClock?) { self.clock = clock }

    /// Returns the endpoint for all requests. The origin calls it on a loop with the whole body, and sends the response when the
    /// handler has returned.
    func endpoint() -> Endpoint { .collected { [self] request in answer(request) } }

    /// Sets the URL at which the origin listens.
    func setURL(_ url: URL) { baseURL.withLock { $0 = url } }

    /// Adds a route, which takes precedence over the existing ones.
    func add(_ method: String?, _ pattern: String, _ handler: @escaping RouteTable.Handler) {
        routes.withLock { $0.add(method, pattern, handler) }
    }

    /// Starts the handler for a request, and returns a response that waits for the handler. The origin calls this method on its
    /// loop.
    private func answer(_ incoming: OriginRequest) -> OriginResponse {
        // No client knows the origin's address before it is set.
        guard let baseURL = baseURL.withLock({ $0 }) else { return OriginResponse(503) }
        let request = TestRequest(incoming, at: baseURL)
        log.add(request)
        let pendingAnswer = Answer()
        startHandler(for: request) { pendingAnswer.set(self.addingDate(to: $0)) }
        // A placeholder. When the gate is open, the origin calls the closure and sends its result.
        return .later(pendingAnswer.gate) { () throws(Refusal) in try pendingAnswer.response.choice() }
    }

    /// Returns the response with a `Date` from the test's clock, unless it has one. Caches compute ages from this field.
    private func addingDate(to response: TestResponse) -> TestResponse {
        guard let clock, response.headers["Date"] == nil, let date = HTTPDate.text(of: clock.date) else {
            return response
        }
        return response.header("Date", date)
    }

    /// Calls the program's handler in a new task, and `completion` with its response. Without a matching route, calls
    /// `completion` at once.
    private func startHandler(
        for request: TestRequest, _ completion: @escaping @Sendable (TestResponse) -> Void
    ) {
        let table = routes.withLock { $0 }
        guard let (handler, parameters) = table.match(request) else {
            // A response with status 404 that lists the routes.
            return completion(table.refusal(of: request))
        }
        let number = handlers.withLock { handlers -> Int? in
            if handlers.isClosed { return nil }
            handlers.startedCount += 1
            // Adds the key with the value nil: the task is set below, when it has been created.
            handlers.running[handlers.startedCount] = .some(nil)
            return handlers.startedCount
        }
        // The origin has been closed, so the connection is closed without a response.
        guard let number else { return completion(.closed) }
        var requestWithParameters = request
        requestWithParameters.parameters = parameters
        let task = Task { [requestWithParameters] in
            do {
                completion(try await handler(requestWithParameters))
            } catch {
                completion(.text("the route threw: \(error)\n", status: 500))
            }
            removeHandler(number)
        }
        // `close` may have been called while the task was being created.
        let wasClosed = handlers.withLock { handlers in
            // The key is absent if the handler has already finished.
            if handlers.running[number] != nil { handlers.running[number] = .some(task) }
            return handlers.isClosed
        }
        if wasClosed { task.cancel() }
    }

    /// Removes a handler that has finished. If it was the last one, resumes the callers of `waitForHandlers()`.
    private func removeHandler(_ number: Int) {
        let waiters = handlers.withLock { handlers -> [Waiter<Void>] in
            handlers.running[number] = nil
            guard handlers.running.isEmpty else { return [] }
            defer { handlers.waiters = [] }
            return handlers.waiters
        }
        for waiter in waiters { waiter.resume(.success(())) }
    }

    /// Closes the log, cancels the handlers, and releases the routes and the objects that they retain. No new handlers are
    /// started.
    func close(_ error: any Error) {
        log.close(error)
        let runningTasks = handlers.withLock { handlers -> [Task<Void, Never>] in
            handlers.isClosed = true
            return handlers.running.values.compactMap { $0 }
        }
        let removedRoutes = routes.withLock { routes -> RouteTable in
            var removedRoutes = RouteTable()
            swap(&routes, &removedRoutes)
            return removedRoutes
        }
        for task in runningTasks { task.cancel() }
        // The program's closures live until here: their deinitializers must not run under the lock.
        withExtendedLifetime(removedRoutes) {}
    }

    /// Returns when no handler is running.
    func waitForHandlers() async {
        let waiter = Waiter<Void>()
        let isIdle = handlers.withLock { handlers -> Bool in
            if !handlers.running.isEmpty { handlers.waiters.append(waiter) }
            return handlers.running.isEmpty
        }
        // The only error is the cancellation of the calling task, which ends the wait.
        if !isIdle { try? await waiter.value() }
    }
}

/// Passes the response of a handler to the loop that waits for it.
private final class Answer: Sendable {
    /// The gate, which the loop waits for.
    let gate = Gate()
    private let storedResponse = Lock(TestResponse.closed)

    /// The response; valid only after the gate has opened.
    var response: TestResponse { storedResponse.withLock { $0 } }

    /// Stores the response, and opens the gate.
    func set(_ response: TestResponse) {
        storedResponse.withLock { $0 = response }
        gate.open()
    }
}
