// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Lupine
internal import LupineTransport

/// Passes the heads that a session's transfers send and receive, and the HTTP/2 events between them, to the reporters of their
/// tasks, in order.
///
/// Tasks are identified by `taskIdentifier`. The events of a task are stored until a reporter is assigned to the task. Events are
/// reported, and reporters are assigned, on the thread of the session's observers. This preserves the order.
final class WireReporter: TransferObserver {
    /// An event that a reporter prints.
    private enum Event: Sendable {
        /// A request was sent, with this head.
        case sent([UInt8], hasContent: Bool)
        case notice(HTTP2Notice)
        /// A response head was received.
        case received(TransferHead)

        /// Calls the reporter's method for this event.
        func report(to reporter: FetchReporter) {
            switch self {
            case .sent(let head, let hasContent): reporter.printRequest(head, hasContent: hasContent)
            case .notice(let notice): reporter.printNotice(notice)
            case .received(let head): reporter.printResponseHead(head)
            }
        }
    }

    private struct State {
        /// The reporters that are assigned to tasks.
        var reporters: [Int: FetchReporter] = [:]
        /// The events of tasks that have no reporter yet.
        var pendingEvents: [Int: [Event]] = [:]
        /// The running transfers, with their tasks and with whether they send content.
        var transfers: [TransferID: (task: Int, hasContent: Bool)] = [:]
    }

    /// The reporter of all tasks to which none is assigned.
    private let defaultReporter: FetchReporter?
    private let state = Guarded(State())

    init(_ defaultReporter: FetchReporter? = nil) { self.defaultReporter = defaultReporter }

    /// Assigns a reporter to a task, in place of an earlier one, and reports the task's earlier events to it.
    func assign(_ task: Int, of session: Session, to reporter: FetchReporter) {
        // The closure runs on the observers' thread, after the events so far.
        session.session.whenObserversHaveHeard {
            let events = self.state.withLock { state in
                state.reporters[task] = reporter
                return state.pendingEvents.removeValue(forKey: task) ?? []
            }
            for event in events { event.report(to: reporter) }
        }
    }

    /// Removes a task's reporter, once the task is complete.
    func removeReporter(of task: Int, of session: Session) {
        // The closure runs on the observers' thread, after the events so far.
        session.session.whenObserversHaveHeard {
            self.state.withLock { state in
                state.reporters[task] = nil
                state.pendingEvents[task] = nil
            }
        }
    }

    /// Blocks until all events of the session so far have been reported. Must not be called on the observers' thread, which would
    /// wait for itself.
    static func blockUntilEventsAreReported(of session: Session) {
        let semaphore = DispatchSemaphore(value: 0)
        session.session.whenObserversHaveHeard { semaphore.signal() }
        semaphore.wait()
    }

    /// Suspends the caller until all events of the session so far have been reported.
    static func suspendUntilEventsAreReported(of session: Session) async {
        await withCheckedContinuation { continuation in
            session.session.whenObserversHaveHeard { continuation.resume() }
        }
    }

    // MARK: TransferObserver

    func transfer(_ id: TransferID, didStart start: TransferStart) {
        guard let task = start.taskIdentifier else { return }
        // A length of nil stands for content of unknown length.
        state.withLock { $0.transfers[id] = (task, start.contentLength != 0) }
    }

    func transfer(_ id: TransferID, didLease lease: TransferLease) {
        // The octets of the request head are known once the transfer has a connection.
        report(id) { .sent(lease.requestHead, hasContent: $0) }
    }

    func transfer(_ id: TransferID, didHear notice: HTTP2Notice) { report(id) { _ in .notice(notice) } }

    func transfer(_ id: TransferID, didReceive head: TransferHead) { report(id) { _ in .received(head) } }

    func transfer(_ id: TransferID, didEnd end: TransferEnd) {
        state.withLock { $0.transfers[id] = nil }
    }

    /// Reports an event of a transfer, or stores it if the task has no reporter yet. The reporter is called without the lock.
    private func report(_ id: TransferID, _ makeEvent: (_ hasContent: Bool) -> Event) {
        let eventAndReporter = state.withLock { state -> (event: Event, reporter: FetchReporter)? in
            // nil: there is nothing to report now.
            guard let (task, hasContent) = state.transfers[id] else { return nil }
            let event = makeEvent(hasContent)
            if let reporter = state.reporters[task] ?? defaultReporter { return (event, reporter) }
            state.pendingEvents[task, default: []].append(event)
            return nil
        }
        if let (event, reporter) = eventAndReporter { event.report(to: reporter) }
    }
}
