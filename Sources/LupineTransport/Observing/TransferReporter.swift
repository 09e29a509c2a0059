// SPDX-License-Identifier: MIT

/// Brings the events of one client or session to its observers, in order, on a thread of its own.
///
/// The thread starts with the first event, waits while there are none, and ends once the reporter and everything that it was to
/// tell are gone: nothing waits for it, so an observer that blocks holds up nobody's shutdown but that of `whenTold`. Where the
/// system has no thread to give, a task tells what there is, and the next event tries again. Any thread.
package final class TransferReporter: Sendable {
    private let mailbox: Mailbox

    /// Nil where nobody listens: then nothing is made, and nothing told.
    package init?(_ observers: [any TransferObserver]) {
        if observers.isEmpty { return nil }
        mailbox = Mailbox(observers)
    }

    deinit { mailbox.close() }

    /// What an exchange at this place is to tell its steps to.
    package func observation(at place: TransferPlace) -> TransferObservation {
        TransferObservation(place, reporter: self)
    }

    /// Tells the observers, soon.
    func report(_ event: TransferEvent, of id: TransferID) { mailbox.add(.event(id, event)) }

    /// Calls `done` when everything before has been told.
    package func whenTold(_ done: @escaping @Sendable () -> Void) { mailbox.add(.mark(done)) }

    /// What waits to be told, and who tells it.
    private final class Mailbox: Sendable {
        enum Entry: Sendable {
            case event(TransferID, TransferEvent)
            case mark(@Sendable () -> Void)
        }

        private struct State {
            var waiting: [Entry] = []
            /// Whether there is a thread, or a task in the place of one.
            var isServed = false
            /// Whether that thread waits for the bell.
            var waitsForBell = false
            var isClosed = false

            /// Whether the bell is to be rung.
            mutating func wakes() -> Bool {
                defer { waitsForBell = false }
                return waitsForBell
            }
        }

        private enum Turn {
            case tell([Entry])
            case wait
            case end
        }

        private let observers: [any TransferObserver]
        private let state = Lock(State())
        private let bell = Semaphore()

        init(_ observers: [any TransferObserver]) { self.observers = observers }

        func add(_ entry: Entry) {
            let (needsThread, wakes) = state.withLock { state -> (Bool, Bool) in
                state.waiting.append(entry)
                defer { state.isServed = true }
                return (!state.isServed, state.wakes())
            }
            if wakes { bell.signal() }
            if needsThread { startThread() }
        }

        /// Nothing is added any more.
        func close() {
            let wakes = state.withLock { state in
                state.isClosed = true
                return state.wakes()
            }
            if wakes { bell.signal() }
        }

        private func startThread() {
            do throws(Errno) {
                try NativeThread.startDetached(name: "lupine-observer") { self.run() }
            } catch {
                Task.detached { self.runOnce() }
            }
        }

        private func run() {
            while true {
                let turn = state.withLock { state -> Turn in
                    if let batch = Self.take(&state) { return .tell(batch) }
                    if state.isClosed { return .end }
                    state.waitsForBell = true
                    return .wait
                }
                switch turn {
                case .tell(let batch): tell(batch)
                case .wait: bell.wait()
                case .end: return
                }
            }
        }

        private func runOnce() {
            while true {
                let batch = state.withLock { state -> [Entry]? in
                    let batch = Self.take(&state)
                    if batch == nil { state.isServed = false }
                    return batch
                }
                guard let batch else { return }
                tell(batch)
            }
        }

        private static func take(_ state: inout State) -> [Entry]? {
            if state.waiting.isEmpty { return nil }
            var batch: [Entry] = []
            swap(&batch, &state.waiting)
            return batch
        }

        private func tell(_ batch: [Entry]) {
            for entry in batch {
                assertNoLockIsHeld()
                assertNotOnLoop()
                switch entry {
                case .event(let id, let event): for observer in observers { event.tell(observer, of: id) }
                case .mark(let done): done()
                }
            }
        }
    }
}
