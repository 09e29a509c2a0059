// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// A clock that stands still until the test advances it; alarms fire as it passes them.
final class ManualLoadClock: Sendable {
    private struct State: Sendable {
        var now = Instant(nanoseconds: 1_000_000_000_000)
        var alarms: [Int: (Instant, @Sendable () -> Void)] = [:]
        var number = 0
    }
    private let state = Lock(State())

    var clock: SessionClock {
        SessionClock(
            now: { self.state.withLock { $0.now } },
            alarm: { moment, ring in
                let number = self.state.withLock { state in
                    state.number += 1
                    state.alarms[state.number] = (moment, ring)
                    return state.number
                }
                return { _ = self.state.withLock { $0.alarms.removeValue(forKey: number)?.0 } }
            })
    }

    /// The number of alarms that are set.
    var alarms: Int { state.withLock { $0.alarms.count } }

    func advance(by interval: Interval) {
        let due = state.withLock { state -> [@Sendable () -> Void] in
            state.now = state.now + interval
            let due = state.alarms.filter { $0.value.0 <= state.now }
            for key in due.keys { state.alarms[key] = nil }
            return due.values.map(\.1)
        }
        for ring in due { ring() }
    }
}

/// A source of network changes that the test triggers.
final class ManualNetwork: Sendable {
    private let listeners = Lock<[Int: @Sendable () -> Void]>([:])

    /// - Parameter callsBackAtOnce: True if a watch calls back as soon as it is established, as the kernel's does.
    func watch(callsBackAtOnce: Bool = false) -> NetworkWatch {
        NetworkWatch { changed in
            let number = self.listeners.withLock { listeners in
                listeners[listeners.count] = changed
                return listeners.count - 1
            }
            if callsBackAtOnce { changed() }
            return { _ = self.listeners.withLock { $0.removeValue(forKey: number) == nil } }
        }
    }

    var watches: Int { listeners.withLock { $0.count } }
    func change() { for changed in listeners.withLock({ Array($0.values) }) { changed() } }
}

/// A `TaskDriver` with scripted hops and a recording client.
struct DriverLoad: Sendable {
    let script: HopScript
    let client: RecordingClient
    let driver: TaskDriver
    let context: SessionContext

    static func request(
        _ url: String = "http://h/a", _ method: String = "GET", _ fields: [String: String] = [:],
        body: String? = nil
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let body { request.httpBody = Data(body.utf8) }
        return request
    }

    static func configuration(_ change: (URLSessionConfiguration) -> Void = { _ in })
        -> URLSessionConfiguration
    {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        change(configuration)
        return configuration
    }

    static func context(
        _ script: HopScript, _ configuration: URLSessionConfiguration = configuration(),
        clock: SessionClock? = nil, network: NetworkWatch = .system
    ) -> SessionContext {
        SessionContext(
            SessionSettings(configuration), hopLoadFactory: script.hopLoadFactory, clock: clock,
            network: network)
    }

    init(
        _ request: URLRequest, kind: TaskDefinition.Kind = .data, body: TaskDefinition.Body = .request,
        _ script: HopScript,
        context: SessionContext? = nil, _ answers: RecordingClient.Answers = RecordingClient.Answers()
    ) {
        self.script = script
        self.context = context ?? Self.context(script)
        client = RecordingClient(answers)
        driver = TaskDriver(
            TaskDefinition(kind: kind, request: request, body: body), context: self.context, client: client)
    }

    /// Runs the load to its end.
    func run() async -> RecordingClient.Notes {
        driver.start()
        return await ended()
    }

    func ended() async -> RecordingClient.Notes {
        await client.wait(for: "end")
        return client.notes
    }
}

extension HTTPURLResponse {
    /// Returns the last response that was delivered.
    static func of(_ notes: RecordingClient.Notes) -> HTTPURLResponse? {
        notes.responses.last as? HTTPURLResponse
    }
}
