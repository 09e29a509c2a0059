// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading
internal import LupineOrigin
internal import LupineTransport

/// What the connections of a test's origin share: the routes, the log, and the handlers that run. Any thread.
///
/// It does not know the origin, which knows it: an origin that nobody holds any more goes away although it has routes.
final class OriginCore: Sendable {
    private struct Handlers {
        var number = 0
        /// Those that run; nil until the task is known.
        var running: [Int: Task<Void, Never>?] = [:]
        var isClosed = false
        /// Who waits until none runs any more.
        var waiting: [Waiter<Void>] = []
    }

    let log = RequestLog()
    /// What the responses are dated by; nil for the machine's clock.
    let clock: ManualClock?
    private let routes = Lock(RouteTable())
    private let handlers = Lock(Handlers())
    /// Where the origin listens, once it does.
    private let base = Lock<URL?>(nil)

    init(clock: ManualClock?) { self.clock = clock }

    /// Every request comes here, with its body, on a loop; it is answered when its handler has.
    func endpoint() -> Endpoint { .collected { [self] request in answer(request) } }

    /// The origin listens there.
    func begin(at url: URL) { base.withLock { $0 = url } }

    func add(_ method: String?, _ pattern: String, _ handler: @escaping RouteTable.Handler) {
        routes.withLock { $0.add(method, pattern, handler) }
    }

    private func answer(_ incoming: OriginRequest) -> OriginResponse {
        // Nobody knows where to send a request before the origin's address is known.
        guard let base = base.withLock({ $0 }) else { return OriginResponse(503) }
        let request = TestRequest(incoming, at: base)
        log.add(request)
        let answer = Answer()
        handle(request) { answer.give(self.dated($0)) }
        return .later(answer.gate) { () throws(Refusal) in try answer.response.choice() }
    }

    /// The response with the date of the test's clock, where it has none of its own: ages are counted from it.
    private func dated(_ response: TestResponse) -> TestResponse {
        guard let clock, response.headers["Date"] == nil, let date = HTTPDate.text(of: clock.date) else {
            return response
        }
        return response.header("Date", date)
    }

    /// Has the program's handler answer, off the loop.
    private func handle(_ request: TestRequest, _ answer: @escaping @Sendable (TestResponse) -> Void) {
        let table = routes.withLock { $0 }
        guard let (handler, parameters) = table.match(request) else {
            return answer(table.refusal(of: request))
        }
        let number = handlers.withLock { handlers -> Int? in
            if handlers.isClosed { return nil }
            handlers.number += 1
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
        let isLate = handlers.withLock { handlers in
            if handlers.running[number] != nil { handlers.running[number] = .some(task) }
            return handlers.isClosed
        }
        if isLate { task.cancel() }
    }

    /// A handler has answered.
    private func ended(_ number: Int) {
        let waiting = handlers.withLock { handlers -> [Waiter<Void>] in
            handlers.running[number] = nil
            guard handlers.running.isEmpty else { return [] }
            defer { handlers.waiting = [] }
            return handlers.waiting
        }
        for waiter in waiting { waiter.resume(.success(())) }
    }

    /// Ends the log, cancels the handlers, and forgets the routes and with them what they hold. No handler begins any more.
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
        // What the program brought along goes away under no lock.
        withExtendedLifetime(gone) {}
    }

    /// Returns when no handler runs any more.
    func drained() async {
        let waiter = Waiter<Void>()
        let isEmpty = handlers.withLock { handlers -> Bool in
            if !handlers.running.isEmpty { handlers.waiting.append(waiter) }
            return handlers.running.isEmpty
        }
        if !isEmpty { try? await waiter.value() }
    }
}

/// What a handler answers, for the loop that waits for it.
private final class Answer: Sendable {
    let gate = Gate()
    private let given = Lock(TestResponse.closed)

    /// What was given; to be read when the gate is open.
    var response: TestResponse { given.withLock { $0 } }

    func give(_ response: TestResponse) {
        given.withLock { $0 = response }
        gate.open()
    }
}
