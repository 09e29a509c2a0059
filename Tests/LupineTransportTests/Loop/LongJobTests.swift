// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineTransport

/// The warning about jobs that occupy their loop for too long.
@Suite(.timeLimit(.minutes(10))) struct LongJobTests {
    @Test func theWarningNamesTheJobTheLoopAndWhatToDo() throws {
        let job = try #require(LongJob("UnownedJob(id: 7)", on: "lupine-loop-0", for: .milliseconds(73)))
        #expect(
            job.warning == """
                lupine: UnownedJob(id: 7) ran for 73 ms on the event loop lupine-loop-0, whose connections waited meanwhile. \
                Code on an executor of Lupine's must not block: run what blocks or computes for long in a task without this \
                executor (Task.detached, executorPreference: globalConcurrentExecutor) or on an actor with an executor of its \
                own. This is said once for each loop, in debug builds only.

                """)
        #expect(LongJob("", on: "", for: .milliseconds(50)) == nil)
    }

    #if DEBUG
        @Test("[C-61] a loop reports only its first long job") func first() async throws {
            let clock = ManualClock()
            let reported = Box<[LongJob]>([])
            let loop = try EventLoop.start(
                name: "test-loop", clock: clock, callouts: nil,
                diagnose: { job in reported.update { $0.append(job) } })
            for length in [0, 50, 51, 80] {
                await Task(executorPreference: loop) { clock.advance(by: .milliseconds(length)) }.value
                // Waits for the end of the job's turn.
                await loop.run {}
            }
            #expect(reported.value.map(\.length) == [.milliseconds(51)])
            #expect(reported.value.first?.thread == "test-loop")
            #expect(reported.value.first?.job.hasPrefix("UnownedJob(id: ") == true)
            await loop.shutdown()
        }
    #endif
}
