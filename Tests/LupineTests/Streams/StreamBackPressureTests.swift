// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A slow handler slows the reading from the socket.
struct StreamBackPressureTests {
    @Test("what waits for handlers is full above the high mark, until little is left")
    func backlog() {
        var backlog = StreamBacklog()
        backlog.add(StreamBacklog.highWater)
        #expect(!backlog.isFull)
        backlog.add(1)
        #expect(backlog.isFull)
        backlog.remove(StreamBacklog.highWater - StreamBacklog.lowWater)
        #expect(backlog.isFull && backlog.count == StreamBacklog.lowWater + 1)
        backlog.remove(1)
        #expect(!backlog.isFull)
        backlog.add(1)
        #expect(!backlog.isFull)
    }

    /// Checks how much the origin has sent while a handler, added by `listen`, is blocked.
    private func sentToStanding(
        over testedHTTP: TestedHTTP, _ listen: (DataStreamRequest, @escaping @Sendable (Int?) -> Void) -> Void
    ) async throws {
        let count = 32 << 20
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
            stage.origin.serve("/long", count)
            stage.origin.serve("/other", count / 4)
            let request = stage.session.streamRequest(stage.url("/long"))
            let begun = ValueLog<String>()
            let ended = ValueLog<Int>()
            let go = DispatchSemaphore(value: 0)
            let bytes = Protected(0)
            listen(request) { piece in
                guard let piece else { return ended.add(bytes.read { $0 }) }
                let isFirst = bytes.write { bytes in
                    defer { bytes += piece }
                    return bytes == 0
                }
                if isFirst {
                    begun.add("begun")
                    go.wait()
                }
            }
            await begun.wait(for: 1)
            // Another body of a quarter of that length arrives completely meanwhile.
            let other = await stage.session.request(stage.url("/other")).answered()
            #expect(other.data?.count == count / 4)
            #expect(stage.origin.counts.bytesSent - count / 4 < count / 4 * 3)
            #expect(!request.isFinished && ended.all.isEmpty)
            go.signal()
            #expect(await ended.wait(for: 1) == [count])
        }
    }

    @Test(
        "[DS-2] a blocked handler slows the origin, and finally gets every byte",
        arguments: TestedHTTP.allCases)
    func raw(over testedHTTP: TestedHTTP) async throws {
        try await sentToStanding(over: testedHTTP) { request, note in
            request.responseStream(on: DispatchQueue(label: "slow")) { stream in
                if let value = stream.value { note(value.count) }
                if stream.completion != nil { note(nil) }
            }
        }
    }

    @Test("[DS-3] a blocked handler with a serializer slows the origin, too", arguments: TestedHTTP.allCases)
    func serialized(over testedHTTP: TestedHTTP) async throws {
        try await sentToStanding(over: testedHTTP) { request, note in
            request.responseStream(
                using: PassthroughStreamSerializer(), on: DispatchQueue(label: "slow")
            ) { stream in
                if let value = stream.value { note(value.count) }
                if stream.completion != nil { note(nil) }
            }
        }
    }

    @Test("[DS-5] a request whose handler is blocked can be cancelled", arguments: TestedHTTP.allCases)
    func cancelled(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.session.streamRequest(stage.url("/infinite"))
            let begun = ValueLog<String>()
            let go = DispatchSemaphore(value: 0)
            let isFirst = Protected(true)
            async let end = request.heard(using: PassthroughStreamSerializer()) { _ in
                guard
                    isFirst.write({ isFirst in
                        defer { isFirst = false }
                        return isFirst
                    })
                else { return }
                begun.add("begun")
                go.wait()
            }
            await begun.wait(for: 1)
            request.cancel()
            await stage.recorder.heard.wait(untilRecorded: "r17")
            go.signal()
            #expect(brief(await end.completion.error) == "explicit")
        }
    }

    @Test("[DS-2] a stream of 256 MiB with a slow handler needs less than 16 MiB of memory")
    func memory() async throws {
        let origin = try LupineOrigin.Origin.start()
        origin.serve("/small", 1 << 20)
        origin.serve("/other", 64 << 20)
        origin.serve("/long", 256 << 20)
        let end = try await Program.run(
            TransferProbe.path, ["stream", origin.url, "256", "16384"],
            variables: ["ASAN_OPTIONS": "detect_leaks=0"])
        #expect(end == .exited(0))
        await origin.shutdown()
    }
}
