// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

@testable import LupineLoading

/// Which thread performs the work of a `TurnEnd`.
struct TurnEndTests {
    @Test("a thread that runs no loop performs the work itself, if no loop of the session is awake")
    func noLoop() {
        let count = LockedValue(0)
        let work = TurnEnd(of: nil) { count.update { $0 += 1 } }
        work.perform()
        work.perform()
        #expect(count.value == 2)
    }

    @Test("a loop performs the work at the end of its turn, once for each call")
    func onLoop() async throws {
        let loop = try EventLoop.start(name: "test-loop")
        let (notes, continuation) = AsyncStream.makeStream(of: String.self)
        let work = TurnEnd(of: nil) {
            #expect(loop.isOnLoop)
            continuation.yield("end")
        }
        #expect(
            loop.execute {
                work.perform()
                work.perform()
                continuation.yield("turn")
            })
        var first: [String] = []
        for await note in notes {
            first.append(note)
            if first.count == 3 { break }
        }
        #expect(first == ["turn", "end", "end"])
        await loop.shutdown()
    }

    @Test("the work that other threads ask for is never lost, whether the session's loops are awake or not")
    func otherThreads() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let work = TurnEnd(of: session) { continuation.yield() }
        let total = 400
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<(total / 4) { work.perform() } }
            }
        }
        var count = 0
        for await _ in calls {
            count += 1
            if count == total { break }
        }
        #expect(count == total)
    }
}
