// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// `StreamOf` without a request.
struct StreamOfTests {
    /// A stream with its source, and the calls of its termination closure.
    private struct StreamStage {
        let stream: StreamOf<Int>
        let source: StreamSource<Int>
        let terminations: ValueLog<Int>
    }

    private func make(_ bufferingPolicy: StreamOf<Int>.BufferingPolicy = .unbounded) throws -> StreamStage {
        var source: StreamSource<Int>?
        let terminations = ValueLog<Int>()
        let stream = StreamOf<Int>(bufferingPolicy: bufferingPolicy) {
            terminations.add(1)
        } source: {
            source = $0
        }
        return StreamStage(stream: stream, source: try #require(source), terminations: terminations)
    }

    @Test("[C-50] events are buffered from the creation of the sequence on, as the policy says")
    func bufferingPolicies() async throws {
        let all = try make()
        let newest = try make(.bufferingNewest(2))
        for stage in [all, newest] {
            for event in 1...4 { stage.source.send(event) }
            stage.source.finish()
        }
        #expect(await all.stream.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4])
        #expect(await newest.stream.reduce(into: []) { $0.append($1) } == [3, 4])
    }

    @Test("[C-51] the iteration ends with the last copy of the iterator, once")
    func lifetime() async throws {
        let stage = try make()
        stage.source.send(1)
        do {
            var first: StreamOf<Int>.Iterator? = stage.stream.makeAsyncIterator()
            let second = first
            #expect(await first?.next() == 1)
            first = nil
            #expect(stage.terminations.all.isEmpty)
            _ = second
        }
        #expect(stage.terminations.all.count == 1)
        _ = stage.stream.makeAsyncIterator()
        #expect(stage.terminations.all.count == 1)
    }

    @Test("[C-51] the iteration of a mapped sequence ends when the loop is left")
    func wrapped() async throws {
        let stage = try make()
        for event in 1...3 { stage.source.send(event) }
        for await text in stage.stream.map({ "\($0)" }) {
            #expect(text == "1")
            #expect(stage.terminations.all.isEmpty)
            break
        }
        #expect(stage.terminations.all.count == 1)
    }

    @Test("an iteration that reaches the end of the sequence does not count as left early")
    func finished() async throws {
        let stage = try make()
        stage.source.send(1)
        stage.source.finish()
        for await _ in stage.stream {}
        #expect(stage.terminations.all.isEmpty)
    }

    @Test("[C-52] a cancelled task gets no events, not even a buffered one", arguments: [true, false])
    func cancelled(isBuffered: Bool) async throws {
        let stage = try make()
        if isBuffered { stage.source.send(1) }
        let (stream, gate) = (stage.stream, ValueLog<Int>())
        let consumer = Task {
            await gate.wait(for: 1)
            return await stream.reduce(into: []) { $0.append($1) }
        }
        consumer.cancel()
        gate.add(1)
        #expect(await consumer.value == [])
    }

    @Test("[C-52] cancelling a task that waits for an event ends its iteration")
    func cancelledWhileWaiting() async throws {
        let stage = try make()
        let (stream, begun) = (stage.stream, ValueLog<Int>())
        let consumer = Task {
            var seen: [Int] = []
            for await event in stream {
                seen.append(event)
                begun.add(event)
            }
            return seen
        }
        stage.source.send(1)
        await begun.wait(for: 1)
        consumer.cancel()
        #expect(await consumer.value == [1])
        #expect(stage.terminations.all.count == 1)
    }

    @Test("[C-52] a second iteration gets the events that the first has left")
    func twice() async throws {
        let stage = try make()
        for event in 1...3 { stage.source.send(event) }
        stage.source.finish()
        for await event in stage.stream where event == 1 { break }
        #expect(await stage.stream.reduce(into: []) { $0.append($1) } == [2, 3])
    }

    @Test("[C-45] releasing a sequence that was never iterated does not call the termination closure")
    func dropped() throws {
        let terminations = ValueLog<Int>()
        do {
            let stream = StreamOf<Int>(bufferingPolicy: .unbounded) {
                terminations.add(1)
            } source: {
                $0.send(1)
            }
            _ = stream
        }
        #expect(terminations.all.isEmpty)
    }

    @MainActor
    @Test("a method of the main actor can iterate")
    func onAnActor() async throws {
        let stage = try make()
        stage.source.send(1)
        stage.source.finish()
        var seen: [Int] = []
        for await event in stage.stream { seen.append(event) }
        #expect(seen == [1])
    }
}
