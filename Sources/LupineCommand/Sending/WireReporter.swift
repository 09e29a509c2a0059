// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Lupine
internal import LupineTransport

/// Passes on what the transfers of a session send and receive, in order, to the reporters: the heads of requests and responses,
/// and the HTTP/2 events between them.
///
/// Tasks are identified by their number. Events of a task are kept until it is given a reporter. All of this runs on the thread
/// of the session's observers, which preserves the order.
final class WireReporter: TransferObserver {
    private enum Step: Sendable {
        case sent([UInt8], hasContent: Bool)
        case notice(HTTP2Notice)
        case received(TransferHead)

        func report(to reporter: FetchReporter) {
            switch self {
            case .sent(let head, let hasContent): reporter.sent(head, hasContent: hasContent)
            case .notice(let notice): reporter.received(notice)
            case .received(let head): reporter.received(head)
            }
        }
    }

    private struct State {
        var reporters: [Int: FetchReporter] = [:]
        /// The events of tasks that have no reporter yet.
        var kept: [Int: [Step]] = [:]
        /// The running transfers: their tasks, and whether they send content.
        var transfers: [TransferID: (task: Int, hasContent: Bool)] = [:]
    }

    /// The reporter of all tasks that have none of their own.
    private let defaultReporter: FetchReporter?
    private let state = Guarded(State())

    init(_ defaultReporter: FetchReporter? = nil) { self.defaultReporter = defaultReporter }

    /// Sets the reporter of the task, and reports its earlier events.
    func assign(_ task: Int, of session: Session, to reporter: FetchReporter) {
        session.session.whenObserversHaveHeard {
            let kept = self.state.withLock { state in
                state.reporters[task] = reporter
                return state.kept.removeValue(forKey: task) ?? []
            }
            for step in kept { step.report(to: reporter) }
        }
    }

    /// Removes the task's reporter; no more events are expected.
    func forget(_ task: Int, of session: Session) {
        session.session.whenObserversHaveHeard {
            self.state.withLock { state in
                state.reporters[task] = nil
                state.kept[task] = nil
            }
        }
    }

    /// Blocks until all events of the session so far have been reported. Must not be called on the observers' thread.
    static func waitForEvents(of session: Session) {
        let reported = DispatchSemaphore(value: 0)
        session.session.whenObserversHaveHeard { reported.signal() }
        reported.wait()
    }

    /// Returns when all events of the session so far have been reported.
    static func eventsReported(of session: Session) async {
        await withCheckedContinuation { reported in
            session.session.whenObserversHaveHeard { reported.resume() }
        }
    }

    // MARK: TransferObserver

    func transfer(_ id: TransferID, didStart start: TransferStart) {
        guard let task = start.taskIdentifier else { return }
        state.withLock { $0.transfers[id] = (task, start.contentLength != 0) }
    }

    func transfer(_ id: TransferID, didLease lease: TransferLease) {
        add(id) { .sent(lease.requestHead, hasContent: $0) }
    }

    func transfer(_ id: TransferID, didHear notice: HTTP2Notice) { add(id) { _ in .notice(notice) } }

    func transfer(_ id: TransferID, didReceive head: TransferHead) { add(id) { _ in .received(head) } }

    func transfer(_ id: TransferID, didEnd end: TransferEnd) {
        state.withLock { $0.transfers[id] = nil }
    }

    private func add(_ id: TransferID, _ make: (_ hasContent: Bool) -> Step) {
        let reported = state.withLock { state -> (Step, FetchReporter)? in
            guard let (task, hasContent) = state.transfers[id] else { return nil }
            let step = make(hasContent)
            if let reporter = state.reporters[task] ?? defaultReporter { return (step, reporter) }
            state.kept[task, default: []].append(step)
            return nil
        }
        if let (step, reporter) = reported { step.report(to: reporter) }
    }
}
