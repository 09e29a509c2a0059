// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A slow iteration slows the reading from the socket; a sequence that is not iterated yet does not.
struct SequenceBackPressureTests {
    @Test(
        "bytes are the request's from when somebody iterates, until they are taken or nobody iterates any more"
    )
    func gatheredBytes() {
        let weight = Protected(0)
        let gathered = BufferedByteCount { difference in weight.write { $0 += difference } }
        var receipts = [gathered.receipt(for: 10).0, gathered.receipt(for: 20).0]
        #expect(weight.read { $0 } == 0)
        receipts.removeFirst()
        gathered.begin()
        #expect(weight.read { $0 } == 20)
        gathered.begin()
        receipts.append(gathered.receipt(for: 5).0)
        #expect(weight.read { $0 } == 25)
        receipts.removeFirst()
        #expect(weight.read { $0 } == 5)
        receipts.append(gathered.receipt(for: 7).0)
        gathered.end()
        #expect(weight.read { $0 } == 0)
        receipts = [gathered.receipt(for: 3).0]
        receipts = []
        gathered.begin()
        #expect(weight.read { $0 } == 0)
    }

    @Test("[C-45] more than may be gathered is told once, and only while nobody iterates")
    func tooMuch() {
        let told = Protected(0)
        func make() -> BufferedByteCount {
            BufferedByteCount(upTo: 10, overflow: { told.write { $0 += 1 } }, weigh: { _ in })
        }
        var gathered = make()
        var receipts = [gathered.receipt(for: 10)]
        #expect(receipts[0].mayExceedLimit == false)
        gathered.checkLimit()
        #expect(told.read { $0 } == 0)
        do { #expect(gathered.receipt(for: 1).mayExceedLimit) }
        gathered.checkLimit()
        #expect(told.read { $0 } == 0, "it was taken meanwhile")
        for _ in 0..<2 {
            receipts.append(gathered.receipt(for: 1))
            gathered.checkLimit()
        }
        #expect(told.read { $0 } == 1)
        gathered = make()
        gathered.begin()
        receipts = [gathered.receipt(for: 11)]
        gathered.checkLimit()
        #expect(!receipts[0].mayExceedLimit && told.read { $0 } == 1)
    }

    @Test("what a policy drops from the buffer weighs nothing any more")
    func dropped() async throws {
        for policy in [StreamOf<Int>.BufferingPolicy.bufferingNewest(1), .bufferingOldest(1)] {
            let weight = Protected(0)
            let gathered = BufferedByteCount { difference in weight.write { $0 += difference } }
            var source: StreamSource<Int>?
            let stream = StreamOf<Int>(bufferingPolicy: policy, gathered: gathered) { source = $0 }
            var iterator: StreamOf<Int>.Iterator? = stream.makeAsyncIterator()
            for event in 1...4 { source?.send(event, weighing: 100 * event) }
            let isNewest = if case .bufferingNewest = policy { true } else { false }
            #expect(weight.read { $0 } == (isNewest ? 400 : 100))
            #expect(await iterator?.next() == (isNewest ? 4 : 1))
            #expect(weight.read { $0 } == 0)
            source?.send(5, weighing: 1)
            #expect(weight.read { $0 } == 1)
            iterator = nil
            #expect(weight.read { $0 } == 0)
        }
    }

    private static let count = 32 << 20

    /// Runs `body` with a stream of 32 MiB, and with a closure that loads another body of a quarter of that length and then
    /// returns how many bytes of the stream the origin has sent.
    private func withLongStream(
        over spoken: Spoken,
        _ body: (DataStreamRequest, PipelineStage, _ sent: () async -> Int) async throws -> Void
    ) async throws {
        try await withPipeline(.narrow, over: spoken) { stage async throws in
            stage.origin.serve("/long", Self.count)
            stage.origin.serve("/other", Self.count / 4)
            let request = stage.session.streamRequest(stage.url("/long"))
            try await body(request, stage) {
                let other = await stage.session.request(stage.url("/other")).answered()
                #expect(other.data?.count == Self.count / 4)
                return stage.origin.counts.bytesSent - Self.count / 4
            }
        }
    }

    @Test(
        "[C-41] an iteration that stands still holds up the origin, and gets every byte in the end",
        arguments: Spoken.allCases)
    func standing(over spoken: Spoken) async throws {
        try await withLongStream(over: spoken) { request, stage, sent in
            var bytes = 0
            var isFirst = true
            var iterator = stage.iterating { request.streamTask().streamingData() }
            while let event = await iterator.next() {
                if isFirst {
                    isFirst = false
                    #expect(await sent() < Self.count / 4 * 3)
                    #expect(!request.isFinished)
                }
                bytes += event.value?.count ?? 0
            }
            #expect(bytes == Self.count)
        }
    }

    @Test("[C-41] so does one of values that a serializer makes", arguments: Spoken.allCases)
    func serialized(over spoken: Spoken) async throws {
        try await withLongStream(over: spoken) { request, stage, sent in
            var bytes = 0
            var isFirst = true
            var iterator = stage.iterating {
                request.streamTask().streamingResponses(serializedUsing: PassthroughStreamSerializer())
            }
            while let event = await iterator.next() {
                if isFirst {
                    isFirst = false
                    #expect(await sent() < Self.count / 4 * 3)
                }
                bytes += event.value?.count ?? 0
            }
            #expect(bytes == Self.count)
        }
    }

    @Test(
        "[C-43, C-45] one that nobody iterates, or that was left, holds up nothing",
        arguments: Spoken.allCases)
    func unheard(over spoken: Spoken) async throws {
        try await withLongStream(over: spoken) { request, _, _ in
            let task = request.streamTask()
            let later = task.streamingData()
            for await event in task.streamingData(automaticallyCancelling: false) where event.value != nil {
                break
            }
            await withCheckedContinuation { continuation in request.onFinish { continuation.resume() } }
            let bytes = await later.reduce(0) { $0 + ($1.value?.count ?? 0) }
            #expect(bytes == Self.count)
        }
    }
}
