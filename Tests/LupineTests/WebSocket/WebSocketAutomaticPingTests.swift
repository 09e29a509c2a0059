// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Automatic pings, with a timer that the test controls.
struct WebSocketAutomaticPingTests {
    private func socket(
        _ stage: PipelineStage, _ clock: ManualPingTimer, query: String = "", interval: TimeInterval? = 30,
        interceptor: (any RequestInterceptor)? = nil
    ) throws -> WebSocketRequest {
        WebSocketRequest(
            convertible: URLRequest(url: try stage.socketURL(query).asURL()),
            configuration: interval.map { .pingInterval($0) } ?? .default,
            underlyingQueue: stage.session.rootQueue, serializationQueue: stage.session.serializationQueue,
            eventMonitor: stage.session.eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: nil, delegate: stage.session, timer: clock.timer)
    }

    @Test(
        "[W-13] the first ping follows the opening by one interval, each later one a pong",
        arguments: TestedHTTP.allCases)
    func rhythm(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            let request = try socket(stage, clock)
            let log = request.log()
            for count in 1...4 {
                let scheduledPings = await clock.scheduledPings.wait(for: count)
                #expect(scheduledPings.count == count && scheduledPings.allSatisfy { $0.delay == 30 })
                // A timer that fires twice causes only one ping.
                scheduledPings.last?.fire()
                scheduledPings.last?.fire()
            }
            await clock.scheduledPings.wait(for: 5)
            request.close(sending: .normalClosure)
            _ = await log.all
            await stage.settle()
            #expect(clock.scheduledPings.all.count == 5)
        }
    }

    @Test("[W-13] without an interval no pings are sent", arguments: TestedHTTP.allCases)
    func none(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            let log = try socket(stage, clock, query: "close=1000", interval: nil).log()
            #expect(await log.all.count == 3)
            #expect(clock.scheduledPings.all.isEmpty)
        }
    }

    @Test(
        "[W-13] pings stop when the connection ends, for any reason",
        arguments: ["cancel", "close", "disconnect", "fail"], TestedHTTP.allCases)
    func stops(ending: String, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            let request = try socket(
                stage, clock, query: ending == "disconnect" ? "close=1000" : ending == "fail" ? "drop=1" : "")
            let log = request.log()
            let first = await clock.scheduledPings.wait(for: 1)[0]
            switch ending {
            case "cancel": request.cancel()
            case "close": request.close(sending: .normalClosure)
            case "fail": request.sendText("last", ValueLog())
            default: break
            }
            _ = await log.all
            first.fire()
            await stage.settle()
            #expect(clock.scheduledPings.all.count == 1)
        }
    }

    @Test(
        "[W-13] a request that is suspended when a ping is due sends no more, even after resuming",
        arguments: TestedHTTP.allCases)
    func held(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            let request = try socket(stage, clock)
            let log = request.log()
            let first = await clock.scheduledPings.wait(for: 1)[0]
            request.suspend()
            first.fire()
            await stage.settle()
            request.resume()
            #expect(await request.pingAndWait().brief == "pong")
            await stage.settle()
            #expect(clock.scheduledPings.all.count == 1)
            request.cancel()
            _ = await log.all
        }
    }

    @Test("[W-13] the connection of a retry has its own pings", arguments: TestedHTTP.allCases)
    func nextConnection(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            let request = try socket(stage, clock, query: "drop=1", interceptor: interceptor)
            let log = request.log()
            let first = await clock.scheduledPings.wait(for: 1)[0]
            request.sendText("last", ValueLog())
            let second = await clock.scheduledPings.wait(for: 2)[1]
            first.fire()
            await stage.settle()
            #expect(clock.scheduledPings.all.count == 2)
            second.fire()
            await clock.scheduledPings.wait(for: 3)
            request.cancel()
            #expect(await log.all.filter { $0.hasPrefix("connected") }.count == 2)
        }
    }

    @Test(
        "[W-13] the ping timer does not retain the request", .timeLimit(.minutes(10)),
        arguments: TestedHTTP.allCases)
    func released(over testedHTTP: TestedHTTP) async throws {
        weak var gone: WebSocketRequest?
        try await withPipeline(over: testedHTTP) { stage in
            let clock = ManualPingTimer()
            do {
                let request = try socket(stage, clock)
                gone = request
                let log = request.log()
                await clock.scheduledPings.wait(for: 1)
                request.cancel()
                _ = await log.all
            }
            // The code that completed the request may still retain it for a moment.
            while gone != nil { await stage.settle() }
            #expect(clock.scheduledPings.all.count == 1)
        }
    }
}

/// Every event in every phase.
struct PingScheduleTests {
    private typealias Event = PingSchedule.Event
    private typealias Action = PingSchedule.Action

    /// Returns a schedule that has received these events.
    private func schedule(_ events: [Event]) -> PingSchedule {
        var schedule = PingSchedule()
        for event in events { _ = schedule.receive(event) }
        return schedule
    }

    private static let idle: [Event] = []
    private static let waiting: [Event] = [.connected]
    private static let awaitingPong: [Event] = [.connected, .intervalElapsed(number: 1)]

    @Test("[W-13] the action and the phase that follow each event", arguments: 0..<3)
    func table(phase: Int) {
        let before = [Self.idle, Self.waiting, Self.awaitingPong][phase]
        let first = phase == 0
        let rows: [(event: Event, action: Action, after: [Event])] = [
            (.connected, .wait(number: first ? 1 : 2), before + [.connected]),
            (
                .intervalElapsed(number: 1), phase == 1 ? .sendPing(number: 1) : .none,
                phase == 1 ? Self.awaitingPong : before
            ),
            (.intervalElapsed(number: 9), .none, before),
            (
                .pongReceived(number: 1), phase == 2 ? .wait(number: 2) : .none,
                phase == 2 ? before + [.connected] : before
            ),
            (.pongReceived(number: 9), .none, before),
            (.pingFailed(number: 1), .none, phase == 2 ? before + [.stopped] : before),
            (.pingFailed(number: 9), .none, before),
            (.stopped, .none, before + [.stopped]),
        ]
        for row in rows {
            var schedule = schedule(before)
            #expect(schedule.receive(row.event) == row.action, "\(row.event)")
            #expect(schedule == self.schedule(row.after), "\(row.event)")
        }
    }

    @Test("[W-13] a stopped schedule starts again with the next connection and another number")
    func numbers() {
        var schedule = schedule([.connected, .intervalElapsed(number: 1), .stopped])
        #expect(schedule.receive(.connected) == .wait(number: 2))
        #expect(schedule.receive(.pongReceived(number: 1)) == .none)
        #expect(schedule.receive(.pingFailed(number: 1)) == .none)
        #expect(schedule.receive(.intervalElapsed(number: 2)) == .sendPing(number: 2))
    }
}
