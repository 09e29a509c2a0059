// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A slow iteration slows the reading from the socket. A sequence that is not iterated does not.
struct SequenceBackPressureTests {
    @Test(
        "during an iteration, bytes are in the backlog until the iterator returns their element"
    )
    func bufferedBytesInBacklog() {
        let weight = Protected(0)
        let bufferedBytes = BufferedByteCount { difference in weight.write { $0 += difference } }
        var elements = [bufferedBytes.add(bytes: 10).0, bufferedBytes.add(bytes: 20).0]
        #expect(weight.read { $0 } == 0)
        elements.removeFirst()
        bufferedBytes.beginIteration()
        #expect(weight.read { $0 } == 20)
        bufferedBytes.beginIteration()
        elements.append(bufferedBytes.add(bytes: 5).0)
        #expect(weight.read { $0 } == 25)
        elements.removeFirst()
        #expect(weight.read { $0 } == 5)
        elements.append(bufferedBytes.add(bytes: 7).0)
        bufferedBytes.endIteration()
        #expect(weight.read { $0 } == 0)
        elements = [bufferedBytes.add(bytes: 3).0]
        elements = []
        bufferedBytes.beginIteration()
        #expect(weight.read { $0 } == 0)
    }

    @Test("[C-45] an excess of buffered bytes is reported once, and only before the iteration")
    func excess() {
        let overflowCount = Protected(0)
        func make() -> BufferedByteCount {
            BufferedByteCount(
                upTo: 10, onOverflow: { overflowCount.write { $0 += 1 } }, changeBacklog: { _ in })
        }
        var bufferedBytes = make()
        var elements = [bufferedBytes.add(bytes: 10)]
        #expect(elements[0].mayExceedLimit == false)
        bufferedBytes.checkLimit()
        #expect(overflowCount.read { $0 } == 0)
        do { #expect(bufferedBytes.add(bytes: 1).mayExceedLimit) }
        bufferedBytes.checkLimit()
        #expect(overflowCount.read { $0 } == 0, "the bytes of the last element were subtracted")
        for _ in 0..<2 {
            elements.append(bufferedBytes.add(bytes: 1))
            bufferedBytes.checkLimit()
        }
        #expect(overflowCount.read { $0 } == 1)
        bufferedBytes = make()
        bufferedBytes.beginIteration()
        elements = [bufferedBytes.add(bytes: 11)]
        bufferedBytes.checkLimit()
        #expect(!elements[0].mayExceedLimit && overflowCount.read { $0 } == 1)
    }

    @Test("the bytes of an element that the policy drops are removed from the backlog")
    func dropped() async throws {
        for policy in [StreamOf<Int>.BufferingPolicy.bufferingNewest(1), .bufferingOldest(1)] {
            let weight = Protected(0)
            let bufferedBytes = BufferedByteCount { difference in weight.write { $0 += difference } }
            var source: StreamSource<Int>?
            let stream = StreamOf<Int>(bufferingPolicy: policy, bufferedBytes: bufferedBytes) { source = $0 }
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
        over testedHTTP: TestedHTTP,
        _ body: (DataStreamRequest, PipelineStage, _ sent: () async -> Int) async throws -> Void
    ) async throws {
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
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
        "[C-41] an iteration that pauses holds up the origin, and still gets every byte",
        arguments: TestedHTTP.allCases)
    func pausedIteration(over testedHTTP: TestedHTTP) async throws {
        try await withLongStream(over: testedHTTP) { request, stage, sent in
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

    @Test(
        "[C-41] an iteration over serialized values that pauses holds up the origin too",
        arguments: TestedHTTP.allCases)
    func pausedSerializedIteration(over testedHTTP: TestedHTTP) async throws {
        try await withLongStream(over: testedHTTP) { request, stage, sent in
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
        "[C-43, C-45] a sequence that is not iterated, or no longer, does not hold up the origin",
        arguments: TestedHTTP.allCases)
    func notIterated(over testedHTTP: TestedHTTP) async throws {
        try await withLongStream(over: testedHTTP) { request, _, _ in
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
