// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// Requests of a task that runs on a loop use connections on that loop.
@Suite(.timeLimit(.minutes(10))) struct LoopPreferenceTests {
    /// Records the loop on which a response is received.
    private final class LoopRecorder: Sendable {
        let loop = Box<EventLoop?>(nil)

        func sink() -> RecordingSink {
            RecordingSink(plan: { [loop] in
                loop.update { $0 = EventLoop.current }
                return .deliver
            })
        }
    }

    @Test("[C-62] a request of a task is dialed on the loop of the task") func dials() async throws {
        try await withPool(loops: 3) { stage in
            for (number, loop) in stage.group.loops.enumerated() {
                let recorder = LoopRecorder()
                try await Task(executorPreference: loop) {
                    _ = try await stage.send(host: "host\(number).test", sink: recorder.sink())
                }.value
                #expect(recorder.loop.value === loop)
                #expect(loop.load == 1)
            }
        }
    }

    @Test("[C-62] a request prefers a connection on its task's loop") func leases()
        async throws
    {
        try await withPool(loops: 3) { stage in
            // Three requests at once, so that each loop has a connection.
            stage.origin.script(
                "GET", "/held",
                ScriptPlan(.waitForSignal("go"), .reply(), .speakHTTP))
            for loop in stage.group.loops {
                try await Task(executorPreference: loop) {
                    stage.pool.submit(try stage.exchange(.get, "/held").exchange)
                }.value
            }
            stage.origin.gate("go").open()
            while stage.pool.idleCount < 3 { await Task.yield() }
            try #require(stage.group.loops.map(\.load) == [1, 1, 1])
            for loop in stage.group.loops + stage.group.loops.reversed() {
                let recorder = LoopRecorder()
                try await Task(executorPreference: loop) { _ = try await stage.send(sink: recorder.sink()) }
                    .value
                #expect(recorder.loop.value === loop)
            }
            #expect(stage.pool.connectionsOpened == 3)
        }
    }

    @Test("[C-62] without an idle connection on its loop, a request uses another loop") func otherLoops()
        async throws
    {
        try await withPool(loops: 2) { stage in
            for loop in stage.group.loops {
                let recorder = LoopRecorder()
                try await Task(executorPreference: loop) { _ = try await stage.send(sink: recorder.sink()) }
                    .value
                #expect(recorder.loop.value === stage.group.loops[0])
            }
            #expect(stage.pool.connectionsOpened == 1)
        }
    }

    @Test("[C-62] a loop of another group is not preferred")
    func otherGroups() async throws {
        try await withPool(loops: 1) { stage in
            let other = try EventLoopGroup(count: 2, name: "other")
            for loop in other.loops {
                try await Task(executorPreference: loop) { _ = try await stage.send() }.value
                #expect(loop.load == 0)
            }
            await other.shutdown()
        }
    }

    @Test("[C-60] the executors of a client are its loops, in turn") func turns() async throws {
        try await withStack(settings: .with { $0.ownLoops = 3 }) { client, _ in
            let loops = (0..<6).map { _ in client.executor as? EventLoop }
            #expect(loops.map { $0?.number } == [0, 1, 2, 0, 1, 2])
            #expect(loops[0] === loops[3] && loops[0] !== loops[1])
        }
    }

    @Test("[C-60, C-62] requests of a client stay on the loop of their task") func client() async throws {
        try await withStack(settings: .with { $0.ownLoops = 3 }) { client, origin in
            _ = client.executor
            let loop = try #require(client.executor as? EventLoop)
            for _ in 0..<3 {
                let isOnLoop = try await withTaskExecutorPreference(loop) {
                    let response = try await client.get(origin.url + "/bytes/2000")
                    let text = try await response.body.text()
                    return loop.isOnLoop && !text.isEmpty
                }
                #expect(isOnLoop)
                #expect(loop.load == 1)
            }
            #expect(client.connectionsOpened == 1)
        }
    }

    @Test("[C-63] the executor of a client runs jobs after the shutdown") func clientAtTheEnd() async throws {
        let client = HTTPClient(configuration: .with { _ in })
        let executor = client.executor
        // The client may be shut down by a task on the executor itself.
        await Task(executorPreference: executor) { await client.shutdown() }.value
        #expect(await Task(executorPreference: executor) { EventLoop.current == nil }.value)
        #expect(await Task(executorPreference: client.executor) { EventLoop.current == nil }.value)
    }
}
