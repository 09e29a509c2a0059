// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

/// Sequences of events, without a request.
struct StreamOfTests {
    /// A stream with its source, and the terminations that it reported.
    private struct Made {
        let stream: StreamOf<Int>
        let source: StreamSource<Int>
        let terminations: ValueLog<Int>
    }

    private func make(_ bufferingPolicy: StreamOf<Int>.BufferingPolicy = .unbounded) throws -> Made {
        var source: StreamSource<Int>?
        let terminations = ValueLog<Int>()
        let stream = StreamOf<Int>(bufferingPolicy: bufferingPolicy) {
            terminations.add(1)
        } source: {
            source = $0
        }
        return Made(stream: stream, source: try #require(source), terminations: terminations)
    }

    @Test("[C-50] events are gathered from the beginning, as the policy says")
    func gathers() async throws {
        let all = try make()
        let newest = try make(.bufferingNewest(2))
        for made in [all, newest] {
            for event in 1...4 { made.source.send(event) }
            made.source.finish()
        }
        #expect(await all.stream.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4])
        #expect(await newest.stream.reduce(into: []) { $0.append($1) } == [3, 4])
    }

    @Test("[C-51] the iteration ends with the last copy of the iterator, once")
    func lifetime() async throws {
        let made = try make()
        made.source.send(1)
        do {
            var first: StreamOf<Int>.Iterator? = made.stream.makeAsyncIterator()
            let second = first
            #expect(await first?.next() == 1)
            first = nil
            #expect(made.terminations.all.isEmpty)
            _ = second
        }
        #expect(made.terminations.all.count == 1)
        _ = made.stream.makeAsyncIterator()
        #expect(made.terminations.all.count == 1)
    }

    @Test("[C-51] also through what wraps the sequence")
    func wrapped() async throws {
        let made = try make()
        for event in 1...3 { made.source.send(event) }
        for await text in made.stream.map({ "\($0)" }) {
            #expect(text == "1")
            #expect(made.terminations.all.isEmpty)
            break
        }
        #expect(made.terminations.all.count == 1)
    }

    @Test("an iteration that came to the end was not left early")
    func finished() async throws {
        let made = try make()
        made.source.send(1)
        made.source.finish()
        for await _ in made.stream {}
        #expect(made.terminations.all.isEmpty)
    }

    @Test("[C-52] a cancelled task gets nothing more, gathered or not", arguments: [true, false])
    func cancelled(isGathered: Bool) async throws {
        let made = try make()
        if isGathered { made.source.send(1) }
        let (stream, gate) = (made.stream, ValueLog<Int>())
        let consumer = Task {
            await gate.wait(for: 1)
            return await stream.reduce(into: []) { $0.append($1) }
        }
        consumer.cancel()
        gate.add(1)
        #expect(await consumer.value == [])
    }

    @Test("[C-52] cancelling a task that waits ends its iteration")
    func cancelledWhileWaiting() async throws {
        let made = try make()
        let (stream, begun) = (made.stream, ValueLog<Int>())
        let consumer = Task {
            var seen: [Int] = []
            for await event in stream {
                seen.append(event)
                begun.add(event)
            }
            return seen
        }
        made.source.send(1)
        await begun.wait(for: 1)
        consumer.cancel()
        #expect(await consumer.value == [1])
        #expect(made.terminations.all.count == 1)
    }

    @Test("[C-52] a second iteration sees what the first has left")
    func twice() async throws {
        let made = try make()
        for event in 1...3 { made.source.send(event) }
        made.source.finish()
        for await event in made.stream where event == 1 { break }
        #expect(await made.stream.reduce(into: []) { $0.append($1) } == [2, 3])
    }

    @Test("[C-45] a sequence that is never iterated ends nothing, even when it is dropped")
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
    @Test("an actor may iterate without leaving itself")
    func onAnActor() async throws {
        let made = try make()
        made.source.send(1)
        made.source.finish()
        var seen: [Int] = []
        for await event in made.stream { seen.append(event) }
        #expect(seen == [1])
    }
}
