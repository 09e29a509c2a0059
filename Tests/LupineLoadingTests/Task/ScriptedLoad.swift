// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

@testable import LupineLoading

/// A load that the test controls, and that records the calls of its task.
final class ScriptedLoad: TaskLoad {
    private struct State {
        var hasEnded = false
        var asked: [String] = []
    }

    let order: TaskDefinition
    let client: any TaskDriverClient
    private let state = Lock(State())
    private let started = Moment()
    private let resumed = Moment()
    private let timer = Lock<(@Sendable (URLError) -> Void)?>(nil)
    private let script: @Sendable (ScriptedLoad) -> Void

    /// - Parameter script: Runs when the load is started.
    init(
        _ order: TaskDefinition, _ client: any TaskDriverClient,
        _ script: @escaping @Sendable (ScriptedLoad) -> Void = { _ in }
    ) {
        self.order = order
        self.client = client
        self.script = script
    }

    var url: URL { order.request.url ?? URL(filePath: "/") }
    /// The calls of the task, in order.
    var asked: [String] { state.withLock { $0.asked } }
    private func note(_ what: String) { state.withLock { $0.asked.append(what) } }

    // MARK: the task's side

    func start() {
        note("start")
        script(self)
        started.come()
    }
    func cancel(_ error: URLError) {
        note("cancel \(error.code.rawValue)")
        DispatchQueue.global().async { self.end(error) }
    }
    func resumeReading() {
        note("resumeReading")
        resumed.come()
    }
    func setSuspended(_ isSuspended: Bool) { note("suspended \(isSuspended)") }
    func setPriority(_ priority: Float) { note("priority \(priority)") }

    func atResourceTimeout(_ ring: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        timer.withLock { $0 = ring }
        return {}
    }

    /// Fires the resource time-out, if the task has set it.
    func ring() { timer.withLock { $0.take() }?(URLError(.timedOut)) }

    /// Waits until the task has started the load.
    func hasStarted() async { await started.wait() }
    /// Waits until the task has resumed reading.
    func hasResumed() async { await resumed.wait() }

    // MARK: the test's side

    @discardableResult
    func respond(status: Int = 200, _ fields: [String: String] = [:]) -> HopPlan {
        guard
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        else { return .skip }
        return client.driverReceivedResponse(response)
    }

    @discardableResult
    func send(_ text: String) -> Demand { client.driverReceivedContent(Data(text.utf8)) }

    func end(_ error: URLError? = nil) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        if isFirst { client.driverEnded(error, .none) }
    }

    /// Delivers a whole response: 200 and a body.
    func answer(_ text: String) {
        respond(["Content-Length": "\(text.utf8.count)"])
        if !text.isEmpty { send(text) }
        end()
    }
}

extension URLSessionTaskMetrics {
    /// Metrics of a task that did nothing.
    static var none: URLSessionTaskMetrics {
        URLSessionTaskMetrics(hops: [], redirectCount: 0, created: Date(), completed: Date())
    }
}

/// An event that happens once, and that tests wait for.
final class Moment: Sendable {
    private struct State {
        var hasCome = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var hasCome: Bool { state.withLock { $0.hasCome } }

    func come() {
        let waiting = state.withLock { state in
            state.hasCome = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasCome = state.withLock { state in
                if !state.hasCome { state.waiting.append(continuation) }
                return state.hasCome
            }
            if hasCome { continuation.resume() }
        }
    }
}

/// A source of scripted loads, for sessions whose tasks use no network.
final class LoadStand: Sendable {
    private struct State {
        var loads: [ScriptedLoad] = []
        var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())
    /// The steps of each load when it is started.
    private let script: @Sendable (ScriptedLoad) -> Void

    init(_ script: @escaping @Sendable (ScriptedLoad) -> Void = { _ in }) { self.script = script }

    /// Returns a session whose tasks use scripted loads.
    func session(
        _ delegate: (any URLSessionDelegate)? = nil, queue: OperationQueue? = nil,
        configuration: URLSessionConfiguration = .ephemeral
    ) -> URLSession {
        URLSession(
            SessionCore(configuration, delegate: delegate, queue: queue, isShared: false) {
                [self] order, _, client in
                let load = ScriptedLoad(order, client, script)
                add(load)
                return load
            })
    }

    private func add(_ load: ScriptedLoad) {
        let ready = state.withLock { state in
            state.loads.append(load)
            let count = state.loads.count
            let ready = state.waiting.filter { $0.count <= count }
            state.waiting.removeAll { $0.count <= count }
            return ready
        }
        for one in ready { one.1.resume() }
    }

    var count: Int { state.withLock { $0.loads.count } }

    /// Returns the load of this number, once it has been created.
    func load(_ index: Int = 0) async -> ScriptedLoad {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.loads.count > index { return true }
                state.waiting.append((index + 1, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        let load = state.withLock { $0.loads[index] }
        await load.hasStarted()
        return load
    }
}
