// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

@testable import LupineLoading

/// A load that the test controls, and that records the calls of its task.
final class ScriptedLoad: TaskLoad {
    private struct State {
        var hasEnded = false
        var calls: [String] = []
    }

    let order: TaskDefinition
    let client: any TaskDriverClient
    private let state = Lock(State())
    private let started = OneTimeEvent()
    private let resumed = OneTimeEvent()
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
    /// The calls by the task, in order.
    var calls: [String] { state.withLock { $0.calls } }
    private func record(_ call: String) { state.withLock { $0.calls.append(call) } }

    // MARK: called by the task

    func start() {
        record("start")
        script(self)
        started.occur()
    }
    func cancel(_ error: URLError) {
        record("cancel \(error.code.rawValue)")
        DispatchQueue.global().async { self.end(error) }
    }
    func resumeReading() {
        record("resumeReading")
        resumed.occur()
    }
    func setSuspended(_ isSuspended: Bool) { record("suspended \(isSuspended)") }
    func setPriority(_ priority: Float) { record("priority \(priority)") }

    func atResourceTimeout(_ handler: @escaping @Sendable (URLError) -> Void) -> SessionClock.Cancel {
        timer.withLock { $0 = handler }
        return {}
    }

    /// Lets the resource time-out expire, if the task has set it.
    func fireTimeout() { timer.withLock { $0.take() }?(URLError(.timedOut)) }

    /// Waits until the task has started the load.
    func waitUntilStarted() async { await started.wait() }
    /// Waits until the task has resumed reading.
    func waitUntilResumed() async { await resumed.wait() }

    // MARK: called by the test

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
final class OneTimeEvent: Sendable {
    private struct State {
        var hasOccurred = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var hasOccurred: Bool { state.withLock { $0.hasOccurred } }

    func occur() {
        let waiting = state.withLock { state in
            state.hasOccurred = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let hasOccurred = state.withLock { state in
                if !state.hasOccurred { state.waiting.append(continuation) }
                return state.hasOccurred
            }
            if hasOccurred { continuation.resume() }
        }
    }
}

/// Creates sessions whose tasks use scripted loads instead of a network, and keeps the loads.
final class ScriptedLoadSource: Sendable {
    private struct State {
        var loads: [ScriptedLoad] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())
    /// Called with each load when it is started.
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
        for waiter in ready { waiter.continuation.resume() }
    }

    var count: Int { state.withLock { $0.loads.count } }

    /// Returns the load of this index, once the task has started it.
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
        await load.waitUntilStarted()
        return load
    }
}
