// SPDX-License-Identifier: MIT

@testable import Lupine

/// Values that a test records, in order and from several threads, and can wait for.
final class Heard<Element: Sendable>: Sendable {
    private struct State {
        var all: [Element] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Protected(State())

    var all: [Element] { state.read { $0.all } }

    func add(_ element: Element) {
        let ready = state.write { state in
            state.all.append(element)
            let count = state.all.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }
        }
        for waiting in ready { waiting.continuation.resume() }
    }

    /// Releases everything that was recorded.
    func forget() { state.write { $0.all = [] } }

    /// Returns all elements as soon as there are at least `count`.
    @discardableResult
    func wait(for count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isThere = state.write { state in
                if state.all.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return all
    }
}

extension Heard where Element: Equatable {
    /// Returns all elements as soon as `element` is among them.
    @discardableResult
    func wait(untilHeard element: Element) async -> [Element] {
        // Each wait is for one more element than the last copy has, so that no element is missed in between.
        var heard = all
        while !heard.contains(element) { heard = await wait(for: heard.count + 1) }
        return heard
    }
}
