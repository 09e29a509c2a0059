// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

@Suite struct LoopInboxTests {
    /// Returns how often the bell was rung: an eventfd counts, and reading resets it to 0.
    private func rings(_ wakeUp: WakeUp) throws -> UInt8 {
        let bytes = try [UInt8](capacity: 8) { output throws(Errno) in
            _ = try wakeUp.descriptor.read(into: &output)
        }
        return bytes.first ?? 0
    }

    @Test func aBurstRingsTheBellOnce() throws {
        let wakeUp = try WakeUp()
        let inbox = LoopInbox(wakeUp: wakeUp)
        var batch: [LoopInbox.Work] = []
        var jobs = JobQueue()

        #expect(inbox.fallAsleep())
        for _ in 0..<100 { #expect(inbox.submit {}) }
        #expect(try rings(wakeUp) == 1)

        #expect(inbox.take(into: &batch, &jobs) == .open)
        #expect(batch.count == 100)
        batch = []
        for _ in 0..<10 { #expect(inbox.submit {}) }
        #expect(try rings(wakeUp) == 0, "the loop is awake and will look by itself")
        #expect(!inbox.fallAsleep(), "there is work")
        _ = inbox.take(into: &batch, &jobs)
        #expect(inbox.fallAsleep())
        #expect(inbox.submit {})
        #expect(try rings(wakeUp) == 1)
    }

    @Test func aClosedInboxRefuses() throws {
        let inbox = LoopInbox(wakeUp: try WakeUp())
        #expect(inbox.submit {})
        inbox.wake(closing: true)
        #expect(!inbox.fallAsleep(), "a closing loop does not wait")
        #expect(!inbox.close(), "accepted work has not run")
        #expect(inbox.submit {}, "closing still accepts")
        var batch: [LoopInbox.Work] = []
        var jobs = JobQueue()
        #expect(inbox.take(into: &batch, &jobs) == .closing)
        #expect(batch.count == 2)
        #expect(inbox.close())
        #expect(!inbox.submit {})
    }

    @Test func theBellClosesWithItsLastHolder() throws {
        let inbox: LoopInbox
        weak var bell: WakeUp?
        do {
            let wakeUp = try WakeUp()
            bell = wakeUp
            inbox = LoopInbox(wakeUp: wakeUp)
        }
        #expect(bell != nil)
        #expect(inbox.close())
        #expect(bell == nil)
    }
}
