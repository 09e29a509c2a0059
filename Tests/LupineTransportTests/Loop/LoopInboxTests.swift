// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

@Suite struct LoopInboxTests {
    /// Returns how often the eventfd was signalled; reading it resets the count to 0.
    private func signalCount(_ wakeUp: WakeUp) throws -> UInt8 {
        let bytes = try [UInt8](capacity: 8) { output throws(Errno) in
            _ = try wakeUp.descriptor.read(into: &output)
        }
        return bytes.first ?? 0
    }

    @Test func aBurstSignalsOnce() throws {
        let wakeUp = try WakeUp()
        let inbox = LoopInbox(wakeUp: wakeUp)
        var batch: [LoopInbox.Work] = []
        var jobs = JobQueue()

        #expect(inbox.fallAsleep())
        for _ in 0..<100 { #expect(inbox.submit {}) }
        #expect(try signalCount(wakeUp) == 1)

        #expect(inbox.drain(into: &batch, &jobs) == .open)
        #expect(batch.count == 100)
        batch = []
        for _ in 0..<10 { #expect(inbox.submit {}) }
        #expect(try signalCount(wakeUp) == 0, "a loop that is awake needs no signal")
        #expect(!inbox.fallAsleep(), "there is work")
        _ = inbox.drain(into: &batch, &jobs)
        #expect(inbox.fallAsleep())
        #expect(inbox.submit {})
        #expect(try signalCount(wakeUp) == 1)
    }

    @Test func onlyAnAwakeInboxTakesWorkWithoutASignal() throws {
        let wakeUp = try WakeUp()
        let inbox = LoopInbox(wakeUp: wakeUp)
        var batch: [LoopInbox.Work] = []
        var jobs = JobQueue()
        #expect(inbox.submitIfAwake {})
        #expect(!inbox.fallAsleep(), "there is work")
        _ = inbox.drain(into: &batch, &jobs)
        #expect(batch.count == 1)
        #expect(inbox.fallAsleep())
        #expect(!inbox.submitIfAwake {})
        #expect(inbox.submit {})
        // The sleeper is awake from the signal on.
        #expect(inbox.submitIfAwake {})
        #expect(try signalCount(wakeUp) == 1)
        inbox.wake(closing: true)
        batch = []
        _ = inbox.drain(into: &batch, &jobs)
        #expect(batch.count == 2)
        #expect(inbox.close())
        #expect(!inbox.submitIfAwake {})
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
        #expect(inbox.drain(into: &batch, &jobs) == .closing)
        #expect(batch.count == 2)
        #expect(inbox.close())
        #expect(!inbox.submit {})
    }

    @Test func theEventDescriptorClosesWithItsLastHolder() throws {
        let inbox: LoopInbox
        weak var weakWakeUp: WakeUp?
        do {
            let wakeUp = try WakeUp()
            weakWakeUp = wakeUp
            inbox = LoopInbox(wakeUp: wakeUp)
        }
        #expect(weakWakeUp != nil)
        #expect(inbox.close())
        #expect(weakWakeUp == nil)
    }
}
