// SPDX-License-Identifier: MIT

package import LupineTransport

/// Records the events of transfers, and wakes tests that wait for them.
package final class RecordingObserver: TransferObserver {
    /// One call.
    package struct Event: Sendable {
        /// The method that was called, with its argument.
        package enum Kind: Sendable {
            case start(TransferStart)
            case dial(TransferDial)
            case lease(TransferLease)
            case notice(HTTP2Notice)
            case head(TransferHead)
            case end(TransferEnd)

            /// The method's name.
            package var name: String {
                switch self {
                case .start: "start"
                case .dial: "dial"
                case .lease: "lease"
                case .notice: "notice"
                case .head: "head"
                case .end: "end"
                }
            }
        }

        package let id: TransferID
        package let kind: Kind
    }

    private struct State {
        var events: [Event] = []
        var waiting: [(isEnough: @Sendable ([Event]) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())
    private let onEvent: @Sendable (Event) -> Void

    /// Creates an observer. `onEvent` is called first for each event, on the thread of the call.
    package init(onEvent: @escaping @Sendable (Event) -> Void = { _ in }) { self.onEvent = onEvent }

    // MARK: recorded events

    package var events: [Event] { state.withLock { $0.events } }

    /// The names of the events of each transfer, in the order in which the transfers started, without notices of HTTP/2.
    package var names: [[String]] {
        let events = events.filter { $0.kind.name != "notice" }
        let ids = events.filter { $0.kind.name == "start" }.map(\.id)
        return ids.map { id in events.filter { $0.id == id }.map(\.kind.name) }
    }

    package var starts: [(id: TransferID, start: TransferStart)] {
        events.compactMap { if case .start(let start) = $0.kind { ($0.id, start) } else { nil } }
    }

    package var dials: [TransferDial] {
        events.compactMap { if case .dial(let dial) = $0.kind { dial } else { nil } }
    }

    package var leases: [TransferLease] {
        events.compactMap { if case .lease(let lease) = $0.kind { lease } else { nil } }
    }

    /// The notices of HTTP/2 to transfers, in order.
    package var notices: [HTTP2Notice] {
        events.compactMap { if case .notice(let notice) = $0.kind { notice } else { nil } }
    }

    package var heads: [TransferHead] {
        events.compactMap { if case .head(let head) = $0.kind { head } else { nil } }
    }

    package var ends: [TransferEnd] {
        events.compactMap { if case .end(let end) = $0.kind { end } else { nil } }
    }

    /// Descriptions of the transfers that violate the contract: exactly one start, which is first; exactly one end, which is
    /// last; at most one head, not before the lease.
    package var violations: [String] {
        let events = events
        var found: [String] = []
        for id in Set(events.map(\.id)) {
            let names = events.filter { $0.id == id }.map(\.kind.name)
            let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
            let isInOrder = names.first == "start" && names.last == "end"
            let head = names.firstIndex(of: "head") ?? names.count
            let lease = names.firstIndex(of: "lease") ?? names.count
            let isOnce = counts["start"] == 1 && counts["end"] == 1 && counts["head"] ?? 0 <= 1
            if !isInOrder || !isOnce || head < lease { found.append("\(id): \(names)") }
        }
        return found
    }

    /// Waits until `count` transfers have ended.
    package func waitForEnds(_ count: Int) async {
        await wait { events in events.count { $0.kind.name == "end" } >= count }
    }

    /// Waits until `count` events of that name have occurred.
    package func waitForEvents(_ name: String, _ count: Int = 1) async {
        await wait { events in events.count { $0.kind.name == name } >= count }
    }

    /// Waits until the recorded events fulfil a condition.
    private func wait(_ isEnough: @escaping @Sendable ([Event]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isFulfilled = state.withLock { state -> Bool in
                if isEnough(state.events) { return true }
                state.waiting.append((isEnough, continuation))
                return false
            }
            if isFulfilled { continuation.resume() }
        }
    }

    // MARK: the observer

    /// Records an event, and wakes the tests whose condition it fulfils.
    private func record(_ id: TransferID, _ kind: Event.Kind) {
        let event = Event(id: id, kind: kind)
        onEvent(event)
        let woken = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.events.append(event)
            let ready = state.waiting.filter { $0.isEnough(state.events) }.map(\.wake)
            state.waiting.removeAll { $0.isEnough(state.events) }
            return ready
        }
        for continuation in woken { continuation.resume() }
    }

    package func transfer(_ id: TransferID, didStart start: TransferStart) { record(id, .start(start)) }
    package func transfer(_ id: TransferID, didDial dial: TransferDial) { record(id, .dial(dial)) }
    package func transfer(_ id: TransferID, didLease lease: TransferLease) { record(id, .lease(lease)) }
    package func transfer(_ id: TransferID, didHear notice: HTTP2Notice) { record(id, .notice(notice)) }
    package func transfer(_ id: TransferID, didReceive head: TransferHead) { record(id, .head(head)) }
    package func transfer(_ id: TransferID, didEnd end: TransferEnd) { record(id, .end(end)) }
}
