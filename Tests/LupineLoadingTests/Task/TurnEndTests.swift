// SPDX-License-Identifier: MIT

import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Which thread performs the work of a `TurnEnd`.
struct TurnEndTests {
    @Test("a thread that runs no loop performs the work itself if the session has no loop that is awake")
    func noLoop() {
        let count = Box(0)
        let work = TurnEnd(of: nil) { count.update { $0 += 1 } }
        work.perform()
        work.perform()
        #expect(count.value == 2)
    }

    @Test("a loop performs the work at the end of its turn, once for each call")
    func onLoop() async throws {
        let loop = try EventLoop.start(name: "test-loop")
        let (notes, isOver) = (Box<[String]>([]), Gate())
        let work = TurnEnd(of: nil) {
            #expect(loop.isOnLoop)
            notes.update { $0.append("end") }
            if notes.value.count == 3 { isOver.open() }
        }
        #expect(
            loop.execute {
                work.perform()
                work.perform()
                notes.update { $0.append("turn") }
            })
        await isOver.wait()
        #expect(notes.value == ["turn", "end", "end"])
        await loop.shutdown()
    }

    @Test("the loops of a session perform work of other threads, which is never lost")
    func otherThreads() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let (count, isOver) = (Box(0), Gate())
        let total = 400
        let work = TurnEnd(of: session) {
            let isLast = count.update { count in
                count += 1
                return count == total
            }
            if isLast { isOver.open() }
        }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<(total / 4) { work.perform() } }
            }
        }
        await isOver.wait()
        #expect(count.value == total)
    }
}
