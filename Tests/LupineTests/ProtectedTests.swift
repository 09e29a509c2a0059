// SPDX-License-Identifier: MIT

import Dispatch
import Glibc
import Testing

@testable import Lupine

struct ProtectedTests {
    private struct Refusal: Error {}

    @Test("what is written is what is read")
    func readsWhatWasWritten() {
        let protected = Protected("a")
        #expect(protected.read { $0 } == "a")
        protected.write("b")
        #expect(protected.read { $0 } == "b")
        protected.write { $0 += "c" }
        #expect(protected.read { $0.count } == 2)
        let old = protected.write { value -> String in
            defer { value = "d" }
            return value
        }
        #expect(old == "bc")
        #expect(protected.read { $0 } == "d")
    }

    @Test("an error is thrown on, what was changed before stays changed, and the lock is open again")
    func errorsOpenTheLock() {
        let protected = Protected(1)
        #expect(throws: Refusal.self) { try protected.read { _ in throw Refusal() } }
        #expect(throws: Refusal.self) {
            try protected.write { value in
                value = 2
                throw Refusal()
            }
        }
        #expect(protected.read { $0 } == 2)
    }

    @Test("ten thousand writes at the same time lose nothing, and reads see whole values")
    func manyWritesAndReads() {
        struct Pair {
            var left = 0
            var right = 0
        }
        let protected = Protected(Pair())
        let torn = Protected(0)
        DispatchQueue.concurrentPerform(iterations: 10_000) { _ in
            protected.write { pair in
                // Without mutual exclusion, another thread could interleave here.
                let next = pair.left + 1
                pair.left = next
                sched_yield()
                pair.right = next
            }
            if protected.read({ $0.left != $0.right }) { torn.write { $0 += 1 } }
        }
        #expect(protected.read { [$0.left, $0.right] } == [10_000, 10_000])
        #expect(torn.read { $0 } == 0)
    }

    @Test("a value that is replaced goes away after the lock is open again")
    func replacedValueMayUseTheLock() {
        final class Reader {
            let onEnd: () -> Void
            init(onEnd: @escaping () -> Void) { self.onEnd = onEnd }
            deinit { onEnd() }
        }
        let protected = Protected<Reader?>(nil)
        var seen = false
        protected.write(Reader { [unowned protected] in seen = protected.read { $0 == nil } })
        protected.write(nil)
        #expect(seen)
    }

    @Test("two are equal when their values are, and hash as they do")
    func equality() {
        #expect(Protected(1) == Protected(1))
        #expect(Protected(1) != Protected(2))
        let same = Protected(3)
        #expect(same == same)
        #expect(Set([Protected("a"), Protected("b"), Protected("a")]).count == 2)
        #expect(Protected("a").hashValue == "a".hashValue)
    }
}
