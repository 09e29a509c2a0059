// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Testing

@testable import Lupine

/// Delayed blocks of dispatch queues, and the settings of operation queues.
struct QueueSettingsTests {
    @Test("a delayed closure runs on its queue, and not too early", arguments: [0, 0.01, -1])
    func delayed(_ delay: TimeInterval) async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        let start = DispatchTime.now()
        let isOnQueue = await withCheckedContinuation { continuation in
            queue.after(delay) { continuation.resume(returning: DispatchQueue.getSpecific(key: key) == true) }
        }
        #expect(isOnQueue)
        #expect(Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) >= delay * 1e9)
    }

    @Test("an operation queue has the settings of its initializer")
    func settings() {
        let underlying = DispatchQueue(label: "underlying")
        let queue = OperationQueue(
            qualityOfService: .utility, maxConcurrentOperationCount: 3, underlyingQueue: underlying,
            name: "ours",
            startSuspended: true)
        #expect(queue.qualityOfService == .utility)
        #expect(queue.maxConcurrentOperationCount == 3)
        #expect(unsafe queue.underlyingQueue === underlying)
        #expect(queue.name == "ours")
        #expect(queue.isSuspended)
    }

    @Test("an operation queue has Foundation's settings by default")
    func defaults() {
        let queue = OperationQueue(name: "ours")
        #expect(queue.qualityOfService == .default)
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
        #expect(unsafe queue.underlyingQueue == nil)
        #expect(!queue.isSuspended)
    }

    @Test("operations run on the underlying queue")
    func runsOnUnderlyingQueue() {
        let key = DispatchSpecificKey<Bool>()
        let underlying = DispatchQueue(label: "underlying")
        underlying.setSpecific(key: key, value: true)
        let queue = OperationQueue(maxConcurrentOperationCount: 1, underlyingQueue: underlying)
        let seen = Protected<[Bool]>([])
        for _ in 0..<3 {
            queue.addOperation { seen.write { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.read { $0 } == [true, true, true])
    }
}
