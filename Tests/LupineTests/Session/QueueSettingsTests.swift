// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Testing

@testable import Lupine

struct QueueSettingsTests {
    @Test("a closure runs on its queue, not before its time", arguments: [0, 0.01, -1])
    func delayed(_ delay: TimeInterval) async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        let begin = DispatchTime.now()
        let onQueue = await withCheckedContinuation { continuation in
            queue.after(delay) { continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true) }
        }
        #expect(onQueue)
        #expect(Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) >= delay * 1e9)
    }

    @Test("an operation queue has the settings that it is made with")
    func settings() {
        let below = DispatchQueue(label: "below")
        let queue = OperationQueue(
            qualityOfService: .utility, maxConcurrentOperationCount: 3, underlyingQueue: below, name: "ours",
            startSuspended: true)
        #expect(queue.qualityOfService == .utility)
        #expect(queue.maxConcurrentOperationCount == 3)
        #expect(unsafe queue.underlyingQueue === below)
        #expect(queue.name == "ours")
        #expect(queue.isSuspended)
    }

    @Test("an operation queue is a usual one unless it is told otherwise")
    func defaults() {
        let queue = OperationQueue(name: "ours")
        #expect(queue.qualityOfService == .default)
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
        #expect(unsafe queue.underlyingQueue == nil)
        #expect(!queue.isSuspended)
    }

    @Test("operations run on the queue below, one at a time when that is one at a time")
    func runsBelow() {
        let key = DispatchSpecificKey<Bool>()
        let below = DispatchQueue(label: "below")
        below.setSpecific(key: key, value: true)
        let queue = OperationQueue(maxConcurrentOperationCount: 1, underlyingQueue: below)
        let seen = Protected<[Bool]>([])
        for _ in 0..<3 {
            queue.addOperation { seen.write { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.read { $0 } == [true, true, true])
    }
}
