// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// Monitors of sessions and of requests, with the complete stack.
struct MonitoredRequestTests {
    @Test(
        "[E-1] a monitor may do to the request what it likes: one that cancels when it hears of the task",
        arguments: Spoken.allCases)
    func cancellingMonitor(over spoken: Spoken) async throws {
        let monitor = RecordingMonitor { event, request in
            if event == "r7" { request?.cancel() }
        }
        try await withObserved(monitors: [monitor], over: spoken) { stage in
            let response = await stage.held().serializingData().response
            #expect(response.error.map { "\($0)" } == "explicitlyCancelled")
            await monitor.heard.wait(untilRecorded: "d3")
            #expect(monitor.heard.all.filter { $0 == "r11" }.count == 1)
        }
    }

    @Test(
        "[E-3] a monitor of one request hears of that one only, behind the session's monitors",
        arguments: Spoken.allCases)
    func requestMonitor(over spoken: Spoken) async throws {
        let queue = DispatchQueue(label: "both")
        let heard = ValueLog<String>()
        let ofSession = RecordingMonitor("session ", queue: queue, heard: heard)
        let ofRequest = RecordingMonitor("request ", queue: queue, heard: heard)
        try await withObserved(monitors: [ofSession], over: spoken) { stage in
            let watched = stage.session.request(stage.url("/get")).eventMonitor(ofRequest)
            #expect(await watched.serializingData().response.error == nil)
            await heard.wait(untilRecorded: "request d3")
            let events = heard.all
            let ofTask: Set = ["s7"]
            for event in ["r1", "r2", "r6", "r7", "r8", "r13", "r15", "r17", "d3"] {
                let place = try #require(events.firstIndex(of: "session \(event)"))
                #expect(events.indices.contains(place + 1) && events[place + 1] == "request \(event)")
            }
            #expect(
                ofTask.allSatisfy { events.contains("session \($0)") && !events.contains("request \($0)") })

            #expect(await stage.session.request(stage.url("/get")).serializingData().response.error == nil)
            await heard.wait(for: events.count + events.filter { $0.hasPrefix("session") }.count)
            #expect(heard.all.dropFirst(events.count).allSatisfy { $0.hasPrefix("session ") })
        }
    }

    @Test("[E-3] a monitor that is added late does not hear of what was before", arguments: Spoken.allCases)
    func lateMonitor(over spoken: Spoken) async throws {
        let early = RecordingMonitor()
        let late = RecordingMonitor()
        try await withObserved(monitors: [early], over: spoken) { stage in
            let request = stage.held()
            let task = request.serializingData()
            await stage.wasAsked()
            await early.heard.wait(untilRecorded: "r8")
            request.eventMonitor(late)
            stage.letGo()
            #expect(await task.response.error == nil)
            #expect(await late.heard.wait(untilRecorded: "d3") == ["r13", "r15", "r17", "d3"])
        }
    }

    @Test(
        "[E-2] a session's monitor that is added to a request too hears of each event twice, in the order of emission",
        arguments: Spoken.allCases
    )
    func sameMonitorTwice(over spoken: Spoken) async throws {
        let monitor = RecordingMonitor()
        try await withObserved(monitors: [monitor], over: spoken) { stage in
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
