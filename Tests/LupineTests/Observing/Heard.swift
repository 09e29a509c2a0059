// SPDX-License-Identifier: MIT

@testable import Lupine

/// What was heard in a test, in order, by several threads; to be waited for.
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

    /// Lets go of everything that was heard.
    func forget() { state.write { $0.all = [] } }

    /// Returns what there is as soon as that many have come.
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
    /// Returns what there is as soon as `element` is among it.
    @discardableResult
    func wait(untilHeard element: Element) async -> [Element] {
        // One look at a time: what comes between two would be waited for in vain.
        var heard = all
        while !heard.contains(element) { heard = await wait(for: heard.count + 1) }
        return heard
    }
}
