// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// Actions that were decided under a lock are performed outside it, in the order of the decisions and by one thread at a time
/// (O-6).
@Suite struct HostileOrderTests {
    /// Two threads, each with actions to take, in single steps: a step is what happens under the lock, or the beginning or the
    /// end of an action that is performed outside it.
    struct Model: Hashable {
        enum Place: Hashable {
            case free
            case holding(Int)
            case performing(Int)
            case asksForNext
        }

        var actions: [Int] = []
        var isPerforming = false
        var places = [Place.free, Place.free]
        var wishes: [[Int]]
        var taken: [Int] = []
        var performed: [Int] = []
        /// An action that another action takes while it is performed.
        var nested: [Int: Int]
    }

    /// Runs the real queue beside the model's threads, in every order of the steps.
    private struct Explorer {
        var queue = OrderedActions<Int>()
        var model: Model
        var orders = 0

        mutating func explore(_ check: (Model) -> Void) {
            var moved = false
            for thread in 0..<2 {
                guard let next = step(thread) else { continue }
                moved = true
                var explorer = next
                explorer.explore(check)
                orders += explorer.orders
            }
            if !moved {
                check(model)
                orders += 1
            }
        }

        func step(_ thread: Int) -> Explorer? {
            var next = self
            next.orders = 0
            switch model.places[thread] {
            case .free:
                guard !model.wishes[thread].isEmpty else { return nil }
                let wish = next.model.wishes[thread].removeFirst()
                next.take(wish, thread)
            case .holding(let wish):
                next.model.performed.append(wish)
                next.model.places[thread] = .performing(wish)
                if let nested = next.model.nested.removeValue(forKey: wish) {
                    // Taken by the action that is being performed, on the same thread: actions are never performed within each
                    // other.
                    next.model.taken.append(nested)
                    #expect(next.queue.enqueue(nested) == nil)
                }
            case .performing: next.model.places[thread] = .asksForNext
            case .asksForNext: next.model.places[thread] = next.queue.next().map { .holding($0) } ?? .free
            }
            let busy = next.model.places.filter { $0 != .free }
            #expect(busy.count <= 1, "one thread at a time performs")
            return next
        }

        mutating func take(_ wish: Int, _ thread: Int) {
            model.taken.append(wish)
            if let mine = queue.enqueue(wish) { model.places[thread] = .holding(mine) }
        }
    }

    @Test(
        "[O-6] in every order of the steps of two threads, actions are performed in the order in which they were taken",
        arguments: [[:], [1: 10], [1: 10, 5: 11]] as [[Int: Int]])
    func everyOrder(nested: [Int: Int]) {
        var explorer = Explorer(model: Model(wishes: [[1, 2, 3], [5, 6, 7]], nested: nested))
        explorer.explore { model in
            #expect(model.performed == model.taken)
            #expect(model.performed.count == 6 + nested.count)
            #expect(model.places == [.free, .free])
        }
        #expect(explorer.orders > 100)
    }

    /// A task that records the calls, and how many threads are in one at once.
    final class NotingTask: URLSessionDataTask, @unchecked Sendable {
        struct Notes {
            var calls: [String] = []
            var inside = 0
            var overlaps = 0
        }

        let notes = Protected(Notes())
        let onCall = Protected<(@Sendable (String) -> Void)?>(nil)

        private func note(_ call: String) {
            notes.write { notes in
                notes.calls.append(call)
                notes.inside += 1
                if notes.inside > 1 { notes.overlaps += 1 }
            }
            onCall.read { $0 }?(call)
            notes.write { $0.inside -= 1 }
        }

        override var state: State { .suspended }
        override func resume() { note("resume") }
        override func suspend() { note("suspend") }
        override func cancel() { note("cancel") }
    }

    /// A monitor that records the events, whose order is that of the machine's actions.
    final class Taken: EventMonitor {
        let queue = DispatchQueue(label: "hostile.taken")
        let calls = Protected<[String]>([])

        func request(_ request: Request, didResumeTask task: URLSessionTask) {
            calls.write { $0.append("resume") }
        }
        func request(_ request: Request, didSuspendTask task: URLSessionTask) {
            calls.write { $0.append("suspend") }
        }
        func request(_ request: Request, didCancelTask task: URLSessionTask) {
            calls.write { $0 += ["resume", "cancel"] }
        }
    }

    /// Runs `body` with a request whose task records its calls.
    private func withTask(
        _ body: (DataRequest, NotingTask, Taken) async throws -> Void
    ) async throws {
        try await withPipeline { stage in
            let request = stage.get(resumes: false)
            let (task, taken) = (NotingTask(), Taken())
            request.eventMonitor(taken)
            await stage.session.rootQueue.flush()
            stage.session.rootQueue.sync {
                _ = request.beginAttempt()
                request.didCreateTask(task)
            }
            try await body(request, task, taken)
            await stage.settle()
            await taken.queue.flush()
            #expect(task.notes.read { $0.overlaps } == 0)
            #expect(task.notes.read { $0.calls } == taken.calls.read { $0 })
            request.cancel()
        }
    }

    @Test(
        "[O-6] [R-9] what two threads want of a request reaches its task in the order in which it was taken")
    func twoThreads() async throws {
        for _ in 0..<20 {
            try await withTask { request, task, _ in
                DispatchQueue.concurrentPerform(iterations: 2) { thread in
                    for _ in 0..<200 {
                        if thread == 0 { request.resume() } else { request.suspend() }
                    }
                }
                request.cancel()
            }
        }
    }

    @Test("[O-6] what the task's own call wants of the request is done when that call is over")
    func withinItsOwnCall() async throws {
        try await withTask { request, task, _ in
            task.onCall.write { [weak request] call in
                if call == "resume", request?.isResumed == true { request?.suspend() }
            }
            request.resume()
            #expect(task.notes.read { $0.calls } == ["resume", "suspend"])
            #expect(request.isSuspended)
            task.onCall.write(nil)
        }
    }
}
