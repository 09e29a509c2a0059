// SPDX-License-Identifier: MIT

/// Delivers the events of one client or session to its observers, in order, on a separate thread.
///
/// The thread starts with the first event, waits when there are no events, and ends once the reporter is released and its events
/// are delivered. An observer that blocks delays later events and the closures of `whenDelivered`, which a shutdown waits for. If
/// no thread can be created, a task delivers the waiting events, and the next event tries again to create a thread. Any thread
/// may call.
package final class TransferReporter: Sendable {
    private let queue: EventQueue

    /// Creates a reporter; returns nil if there are no observers, so that no events are created.
    package init?(_ observers: [any TransferObserver]) {
        if observers.isEmpty { return nil }
        queue = EventQueue(observers)
    }

    deinit { queue.close() }

    /// Queues an event for the observers.
    func report(_ event: TransferEvent, of id: TransferID) { queue.add(.event(id, event)) }

    /// Calls `completion` when all earlier events have been delivered.
    package func whenDelivered(_ completion: @escaping @Sendable () -> Void) {
        queue.add(.barrier(completion))
    }

    /// The queue of undelivered events, and its thread.
    private final class EventQueue: Sendable {
        /// An element of the queue.
        enum Entry: Sendable {
            case event(TransferID, TransferEvent)
            /// A closure to call when all earlier events have been delivered.
            case barrier(@Sendable () -> Void)
        }

        private struct State {
            /// The entries that have not been delivered.
            var waiting: [Entry] = []
            /// Whether there is a thread, or a task in its place, that delivers events.
            var isDelivering = false
            /// Whether the thread waits for the semaphore.
            var waitsForSignal = false
            /// Whether the reporter has been released.
            var isClosed = false

            /// Returns whether the thread waits for the semaphore, and sets the flag to false. If the result is true, the caller
            /// must signal the semaphore.
            mutating func takeWaitsForSignal() -> Bool {
                defer { waitsForSignal = false }
                return waitsForSignal
            }
        }

        /// What the thread does next.
        private enum NextStep {
            case deliver([Entry])
            case wait
            case end
        }

        private let observers: [any TransferObserver]
        private let state = Lock(State())
        /// The thread waits for it when there are no entries.
        private let semaphore = Semaphore()

        init(_ observers: [any TransferObserver]) { self.observers = observers }

        /// Queues an entry, and starts or wakes the thread.
        func add(_ entry: Entry) {
            let (needsThread, needsSignal) = state.withLock { state -> (Bool, Bool) in
                state.waiting.append(entry)
                // The result below is computed before the `defer` changes the flag.
                defer { state.isDelivering = true }
                return (!state.isDelivering, state.takeWaitsForSignal())
            }
            if needsSignal { semaphore.signal() }
            if needsThread { startThread() }
        }

        /// Lets the thread end once all entries are delivered. No entry may be added afterwards.
        func close() {
            let needsSignal = state.withLock { state in
                state.isClosed = true
                return state.takeWaitsForSignal()
            }
            if needsSignal { semaphore.signal() }
        }

        /// Starts the thread, or a task if no thread can be created.
        private func startThread() {
            do throws(Errno) {
                try NativeThread.startDetached(name: "lupine-observer") { self.run() }
            } catch {
                Task.detached { self.runUntilEmpty() }
            }
        }

        /// The body of the thread.
        private func run() {
            while true {
                let nextStep = state.withLock { state -> NextStep in
                    if let batch = Self.takeBatch(&state) { return .deliver(batch) }
                    if state.isClosed { return .end }
                    state.waitsForSignal = true
                    return .wait
                }
                switch nextStep {
                case .deliver(let batch): deliver(batch)
                case .wait: semaphore.wait()
                case .end: return
                }
            }
        }

        /// The body of the task that replaces the thread: delivers entries until none is waiting.
        private func runUntilEmpty() {
            while true {
                let batch = state.withLock { state -> [Entry]? in
                    let batch = Self.takeBatch(&state)
                    if batch == nil { state.isDelivering = false }
                    return batch
                }
                guard let batch else { return }
                deliver(batch)
            }
        }

        /// Removes and returns all waiting entries; nil if there are none.
        private static func takeBatch(_ state: inout State) -> [Entry]? {
            if state.waiting.isEmpty { return nil }
            var batch: [Entry] = []
            swap(&batch, &state.waiting)
            return batch
        }

        /// Calls the observers, or the closures of `whenDelivered`, for each entry.
        private func deliver(_ batch: [Entry]) {
            for entry in batch {
                assertNoLockIsHeld()
                assertNotOnLoop()
                switch entry {
                case .event(let id, let event):
                    for observer in observers { event.deliver(to: observer, of: id) }
                case .barrier(let completion): completion()
                }
            }
        }
    }
}
