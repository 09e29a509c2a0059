// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineLoading

/// The state of a `NetworkReachabilityManager`: the listener, the last reported status, and the watch.
///
/// Queries are coalesced: changes within 50 ms of the first one cause a single query.
final class ReachabilityCore: Sendable {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    private struct State {
        /// The number of starts and stops, by which late answers are recognized.
        var turn = 0
        var listener: (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)?
        var last: Status?
        var end: NetworkView.End?
        /// Whether a query is scheduled.
        var isDue = false
        /// The number of queries, and the number of the query that was reported last: answers may arrive out of order.
        var looks = 0
        var told = 0
    }

    private let host: String?
    private let view: NetworkView
    private let queue: DispatchQueue
    private let state = Protected(State())

    init(host: String?, view: NetworkView, queue: DispatchQueue) {
        self.host = host
        self.view = view
        self.queue = queue
    }

    /// Returns the present flags. Waits up to two seconds; if a name takes longer, returns the empty set.
    func flags() -> SCNetworkReachabilityFlags? {
        // A name that takes longer is treated as having no address.
        Self.wait(look) ?? (host == nil ? nil : [])
    }

    private static func wait<Answer: Sendable>(
        _ ask: (_ found: @escaping @Sendable (Answer) -> Void) -> Void
    ) -> Answer? {
        let answer = Protected<Answer?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        ask { found in
            answer.write { $0 = found }
            arrived.signal()
        }
        _ = arrived.wait(timeout: .now() + .seconds(2))
        return answer.read { $0 }
    }

    private func look(_ found: @escaping @Sendable (SCNetworkReachabilityFlags?) -> Void) {
        if let host {
            view.findRoutes(host) { found(SCNetworkReachabilityFlags($0)) }
        } else {
            view.takeSnapshot { found($0.map(SCNetworkReachabilityFlags.init)) }
        }
    }

    func start(
        on listenerQueue: DispatchQueue, _ listener: @escaping NetworkReachabilityManager.Listener
    ) -> Bool {
        stop()
        // The kernel answers about the whole network at once, while looking up a name may take long.
        guard let answer = Self.wait(view.takeSnapshot), answer != nil else { return false }
        // Another thread may have started meanwhile; this start then replaces that one. The old state is released outside of the
        // lock, because the listener belongs to the program.
        let (turn, old) = state.write { state in
            let old = state
            state = State(turn: state.turn + 1, listener: (listenerQueue, listener))
            return (state.turn, old)
        }
        old.end?()
        let end = view.watch { [weak self] in self?.changed(turn) }
        let isLate = state.write { state in
            guard state.turn == turn else { return true }
            state.end = end
            return false
        }
        if isLate { end() }
        lookNow(turn)
        if host != nil { lookAgain(turn) }
        return true
    }

    func stop() {
        let old = state.write { state in
            let old = state
            state = State(turn: state.turn + 1)
            return old
        }
        old.end?()
    }

    private func changed(_ turn: Int) {
        let isFirst = state.write { state in
            guard state.turn == turn, !state.isDue else { return false }
            state.isDue = true
            return true
        }
        guard isFirst else { return }
        queue.after(0.05) { [weak self] in self?.lookNow(turn) }
    }

    private func lookNow(_ turn: Int) {
        let number = state.write { state -> Int in
            if state.turn == turn { state.isDue = false }
            state.looks += 1
            return state.looks
        }
        look { [weak self] flags in
            guard let self, let flags else { return }
            queue.async { [weak self] in self?.tell(flags, turn, number) }
        }
    }

    /// Looks up an unreachable name every 30 seconds, because it may get an address without a local change.
    private func lookAgain(_ turn: Int) {
        queue.after(30) { [weak self] in
            guard let self else { return }
            let (isOn, last) = state.read { ($0.turn == turn, $0.last) }
            guard isOn else { return }
            if last == .notReachable { lookNow(turn) }
            lookAgain(turn)
        }
    }

    private func tell(_ flags: SCNetworkReachabilityFlags, _ turn: Int, _ number: Int) {
        let status = Status(flags)
        let listener = state.write {
            state -> (queue: DispatchQueue, body: NetworkReachabilityManager.Listener)? in
            guard state.turn == turn, number > state.told else { return nil }
            state.told = number
            guard state.last != status else { return nil }
            state.last = status
            return state.listener
        }
        guard let listener else { return }
        listener.queue.async { listener.body(status) }
    }
}
