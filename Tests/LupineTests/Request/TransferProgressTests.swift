// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTestKit
import Testing

@testable import Lupine

extension TransferProgress {
    /// Returns the `Progress` object, after creating it if there is none.
    fileprivate mutating func madeObject() -> Progress {
        if let object { return object }
        let new = makeObject()
        #expect(store(new))
        return new
    }
}

struct TransferProgressTests {
    @Test(
        "[R-61] there is no `Progress` until it is used; a new one has the present counts"
    )
    func unobserved() {
        var progress = TransferProgress()
        #expect(progress.update(completed: 3, total: 9) == nil)
        #expect(progress.completed == 3 && progress.total == 9)
        let object = progress.madeObject()
        #expect(object.completedUnitCount == 3 && object.totalUnitCount == 9)
        #expect(progress.madeObject() === object)
    }

    @Test(
        "[R-61] the object is updated with each change, which the present handler receives on its queue")
    func observed() async {
        let queue = DispatchQueue(label: "progress")
        let heard = ValueLog<String>()
        var progress = TransferProgress()
        let object = progress.madeObject()
        progress.handler = .init(queue: queue) { progress in
            dispatchPrecondition(condition: .onQueue(queue))
            heard.add("first \(progress === object)")
        }
        progress.update(completed: 1, total: -1)?.publish()
        #expect(object.completedUnitCount == 1 && object.totalUnitCount == -1)
        progress.handler = .init(queue: queue) { _ in heard.add("second") }
        progress.update(completed: 2, total: 2)?.publish()
        #expect(object.fractionCompleted == 1)
        #expect(await heard.wait(for: 2) == ["first true", "second"])
    }

    @Test("[R-54] a reset sets both counts to zero, and calls no handler")
    func reset() {
        let queue = DispatchQueue(label: "progress")
        let called = Protected(0)
        var progress = TransferProgress()
        #expect(progress.reset() == nil)
        let object = progress.madeObject()
        progress.handler = .init(queue: queue) { _ in called.write { $0 += 1 } }
        progress.update(completed: 1, total: 2)?.publish()
        progress.reset()?.publish()
        #expect(object.completedUnitCount == 0 && object.totalUnitCount == 0)
        #expect(progress.completed == 0 && progress.total == 0)
        queue.sync {}
        #expect(called.read { $0 } == 1)
    }

    @Test("[R-61] no counts that a server may send make the program trap")
    func anyNumbers() {
        var random = SeededRandom(seed: 5)
        let numbers: [Int64] = [-1, 0, 1, 2, 7, 1 << 31, 1 << 40, 12_345_678_901, .max / 2, .max - 1, .max]
        var progress = TransferProgress()
        let object = progress.madeObject()
        for _ in 0..<20_000 {
            let total = numbers.randomElement(using: &random) ?? 0
            let completed = max(0, numbers.randomElement(using: &random) ?? 0)
            progress.update(completed: completed, total: total)?.publish()
            guard object.totalUnitCount == total, object.completedUnitCount == completed else {
                Issue.record("\(completed) of \(total) is not published")
                return
            }
        }
    }
}
