// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Monitors of sessions and of requests, tested with an origin.
struct MonitoredRequestTests {
    @Test(
        "[E-1] a monitor may call any method of the request: one cancels it when its task was created",
        arguments: TestedHTTP.allCases)
    func cancellingMonitor(over testedHTTP: TestedHTTP) async throws {
        let monitor = RecordingMonitor { event, request in
            if event == "r7" { request?.cancel() }
        }
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            let response = await stage.held().serializingData().response
            #expect(response.error.map { "\($0)" } == "explicitlyCancelled")
            await monitor.heard.wait(untilRecorded: "d3")
            #expect(monitor.heard.all.filter { $0 == "r11" }.count == 1)
        }
    }

    @Test(
        "[E-3] a monitor of one request receives the events of only that request, after the session's monitors",
        arguments: TestedHTTP.allCases)
    func requestMonitor(over testedHTTP: TestedHTTP) async throws {
        let queue = DispatchQueue(label: "both")
        let heard = ValueLog<String>()
        let sessionMonitor = RecordingMonitor("session ", queue: queue, heard: heard)
        let requestMonitor = RecordingMonitor("request ", queue: queue, heard: heard)
        try await withObserved(monitors: [sessionMonitor], over: testedHTTP) { stage in
            let observed = stage.session.request(stage.url("/get")).eventMonitor(requestMonitor)
            #expect(await observed.serializingData().response.error == nil)
            await heard.wait(untilRecorded: "request d3")
            let events = heard.all
            let taskEvents: Set = ["s7"]
            for event in ["r1", "r2", "r6", "r7", "r8", "r13", "r15", "r17", "d3"] {
                let index = try #require(events.firstIndex(of: "session \(event)"))
                #expect(events.indices.contains(index + 1) && events[index + 1] == "request \(event)")
            }
            #expect(
                taskEvents.allSatisfy {
                    events.contains("session \($0)") && !events.contains("request \($0)")
                })

            #expect(await stage.session.request(stage.url("/get")).serializingData().response.error == nil)
            await heard.wait(for: events.count + events.filter { $0.hasPrefix("session") }.count)
            #expect(heard.all.dropFirst(events.count).allSatisfy { $0.hasPrefix("session ") })
        }
    }

    @Test(
        "[E-3] a monitor that is added late does not receive earlier events", arguments: TestedHTTP.allCases)
    func lateMonitor(over testedHTTP: TestedHTTP) async throws {
        let early = RecordingMonitor()
        let late = RecordingMonitor()
        try await withObserved(monitors: [early], over: testedHTTP) { stage in
            let request = stage.held()
            let task = request.serializingData()
            await stage.waitForRequest()
            await early.heard.wait(untilRecorded: "r8")
            request.eventMonitor(late)
            stage.sendResponse()
            #expect(await task.response.error == nil)
            #expect(await late.heard.wait(untilRecorded: "d3") == ["r13", "r15", "r17", "d3"])
        }
    }

    @Test(
        "[E-2] a monitor of both the session and the request receives each event twice, in order",
        arguments: TestedHTTP.allCases
    )
    func sameMonitorTwice(over testedHTTP: TestedHTTP) async throws {
        let monitor = RecordingMonitor()
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            let request = stage.session.request(stage.url("/get")).eventMonitor(monitor)
            #expect(await request.serializingData().response.error == nil)
            await monitor.heard.wait(for: 19)
            #expect(
                monitor.heard.all == [
                    "r1", "r1", "r2", "r2", "r6", "r6", "r7", "r7", "r8", "r8", "r13", "r13", "s7", "r15",
                    "r15", "r17", "r17", "d3", "d3",
                ])
        }
    }
}
