// SPDX-License-Identifier: MIT

@testable import Lupine

/// The values that a test records, in the order of the calls of `add`. Any thread may add values; a test can wait for them.
final class ValueLog<Element: Sendable>: Sendable {
    private struct State {
        var all: [Element] = []
        /// The waiting tasks, each with the number of elements that it waits for.
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Protected(State())

    var all: [Element] { state.read { $0.all } }

    func add(_ element: Element) {
        let ready = state.write { state in
            state.all.append(element)
            let count = state.all.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Removes and releases all elements.
    func removeAll() { state.write { $0.all = [] } }

    /// Returns all elements as soon as there are at least `count`.
    @discardableResult
    func wait(for count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isReady = state.write { state in
                if state.all.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
        return all
    }
}

extension ValueLog where Element: Equatable {
    /// Returns all elements as soon as `element` is among them.
    @discardableResult
    func wait(untilRecorded element: Element) async -> [Element] {
        // Each wait is for one more element than the last copy has, so that no element is missed in between.
        var elements = all
        while !elements.contains(element) { elements = await wait(for: elements.count + 1) }
        return elements
    }
}
