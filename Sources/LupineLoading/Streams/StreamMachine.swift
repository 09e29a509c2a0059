// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Decides in which order the operations of a stream task run (U-7.16).
///
/// Reads are performed one after the other, and so are writes. Reads and writes do not wait for each other, otherwise a program
/// that starts reading the response before it writes the request would deadlock. A barrier is an operation that concerns both
/// halves of the connection: closing a half, starting or ending TLS, capturing the streams. A barrier waits for all earlier
/// operations, and all later operations wait for the barrier.
///
/// The machine is a value without side effects: it gets the numbers of bytes and the time as arguments, and its driver performs
/// the returned actions in order. The wire is what the driver reads and writes: a connection, or the content of a response.
struct StreamMachine: Sendable {
    /// An operation that reads at least `minimum` and at most `maximum` bytes.
    struct Read: Hashable, Sendable {
        let id: Int
        let minimum: Int
        let maximum: Int
        let timeout: Interval?

        /// Creates a read. A `minimum` above `maximum` is reduced to it; a minimum of 0 becomes 1.
        init(id: Int, minimum: Int, maximum: Int, timeout: Interval? = nil) {
            self.id = id
            self.maximum = max(0, maximum)
            self.minimum = min(max(1, minimum), self.maximum)
            self.timeout = timeout
        }
    }

    /// An operation that writes `count` bytes.
    struct Write: Hashable, Sendable {
        let id: Int
        let count: Int
        var timeout: Interval?
    }

    /// An operation that concerns both halves.
    enum Barrier: Hashable, Sendable { case closeRead, closeWrite, startSecure, stopSecure, capture }

    /// One direction of the connection, as the task sees it.
    enum Half: Hashable, Sendable { case reading, writing }

    /// What the driver reports to the machine.
    enum Event: Hashable, Sendable {
        /// The program requests a read.
        case read(Read)
        /// The program requests a write.
        case write(Write)
        /// The program requests an operation on both halves.
        case barrier(Barrier)
        /// The connection is established.
        case connected
        /// This many bytes were received for the active read.
        case received(Int)
        /// The wire has no more bytes to read for now (`EWOULDBLOCK`).
        case readWouldBlock
        /// The end of the peer's data was read.
        case receivedEnd
        /// The peer has closed its half; earlier data may still be unread.
        case peerCloses
        /// The wire has accepted this many bytes of the active write.
        case wrote(Int)
        /// The kernel has accepted all bytes that the wire had buffered.
        case flushed
        /// Writing has failed; the peer's data is still read.
        case writeFailed(StreamFault)
        /// The active operation of this half has timed out.
        case timeout(Half)
        /// The TLS handshake is complete.
        case secured
        /// Transfers are suspended (true) or resumed (false).
        case suspended(Bool)
        /// The connection has failed.
        case failed(StreamFault)
    }

    /// What the machine asks the driver to do.
    enum Action: Hashable, Sendable {
        /// Calls the handler of the read with this id. At the end of the peer's data, the bytes may be fewer than `minimum`.
        case finishRead(Int, atEnd: Bool)
        /// Calls the handler of the read with this id, with the fault.
        case failRead(Int, StreamFault)
        /// Calls the handler of the write with this id.
        case finishWrite(Int)
        /// Calls the handler of the write with this id, with the fault.
        case failWrite(Int, StreamFault)
        /// Starts the timer of this half, which expires at this time.
        case setTimer(Half, Instant)
        /// Cancels the timer of this half.
        case cancelTimer(Half)
        /// Tells the delegate that the reading half is closed.
        case reportReadClosed
        /// Tells the delegate that the writing half is closed.
        case reportWriteClosed
        /// Shuts down our half of the connection.
        case closeWriting
        /// Starts the TLS handshake.
        case startTLS
        /// Passes the streams to the delegate; afterwards the machine only fails operations.
        case capture
        /// Closes the connection and completes the task, with this fault or successfully.
        case end(StreamFault?)
    }

    /// The phase of the connection. The comments name the possible next phases.
    enum Phase: Hashable, Sendable {
        case connecting  // → open, ended
        case open  // → securing, captured, ended
        case securing  // → open, ended
        case captured
        case ended
    }

    /// The state of one half. The comment names the possible next states.
    private enum HalfState: Hashable, Sendable {
        case open  // → ended, closed, failed
        /// The end of the peer's data was read.
        case ended
        /// The program has closed this half.
        case closed
        /// Reading or writing has failed with this fault.
        case failed(StreamFault)
    }

    /// The active operation of a half: its progress and its deadline.
    private struct ActiveOperation<Operation: Hashable & Sendable>: Hashable, Sendable {
        let operation: Operation
        /// The number of bytes received or accepted so far.
        var transferredCount = 0
        var deadline: Instant?
        /// The time from the suspension of transfers to the deadline; nil before the first suspension.
        var remainingTime: Interval?
    }

    /// The operations between two barriers, and the barrier after them.
    private struct Batch: Hashable, Sendable {
        var reads: ArraySlice<Read> = []
        var writes: ArraySlice<Write> = []
        var barrier: Barrier?
    }

    private(set) var phase = Phase.connecting
    private var reading = HalfState.open
    private var writing = HalfState.open
    /// The active read.
    private var read: ActiveOperation<Read>?
    /// The active write.
    private var write: ActiveOperation<Write>?
    /// The operations that have not started. There is always at least one batch, and only the last may have no barrier.
    private var batches = [Batch()]
    private var isSuspended = false
    private var isSecure = false
    private var hasReportedReadClosed = false
    /// The first fault of either half.
    private var fault: StreamFault?

    /// - Parameter writeFault: Why nothing can be written from the start; nil if writing is possible.
    init(writeFault: StreamFault? = nil) {
        // `fault` stays nil, so that the task can complete without an error.
        if let writeFault { writing = .failed(writeFault) }
    }

    /// The read to perform now, and the number of bytes that it still accepts; nil if nothing may be read.
    var activeRead: (id: Int, room: Int)? {
        guard phase == .open, !isSuspended, let read else { return nil }
        return (read.operation.id, read.operation.maximum - read.transferredCount)
    }

    /// The write to perform now, and the offset at which it continues; nil if nothing may be written. A write whose bytes the
    /// wire has accepted remains active until `flushed`.
    var activeWrite: (id: Int, from: Int)? {
        guard phase == .open, !isSuspended, let write else { return nil }
        return (write.operation.id, write.transferredCount)
    }

    /// Whether the peer's data was read to its end.
    var isReadToEnd: Bool { reading == .ended }

    /// Handles an event, and returns the actions to perform. The only function that changes the state.
    mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .read(let read):
            enqueue({ $0.reads.append(read) }, refuse: { $0.complete(read, &$1) }, &actions)
        case .write(let write):
            enqueue({ $0.writes.append(write) }, refuse: { $0.complete(write, &$1) }, &actions)
        // A barrier has no handler, so refusing it does nothing.
        case .barrier(let barrier): enqueue({ $0.barrier = barrier }, refuse: { _, _ in }, &actions)
        case .connected: if phase == .connecting { phase = .open }
        case .received(let count): handleReceived(count, &actions)
        case .readWouldBlock:
            if let read, read.transferredCount >= read.operation.minimum {
                finishRead(atEnd: false, &actions)
            }
        case .receivedEnd: handleReceivedEnd(&actions)
        case .peerCloses: reportReadClosed(&actions)
        case .wrote(let count): write?.transferredCount += count
        case .flushed:
            guard let write, write.transferredCount == write.operation.count else { break }
            self.write = nil
            if write.deadline != nil { actions.append(.cancelTimer(.writing)) }
            actions.append(.finishWrite(write.operation.id))
        case .writeFailed(let fault): failWriting(fault, &actions)
        case .timeout(.reading): if read != nil { failReading(.timedOut, &actions) }
        case .timeout(.writing): if write != nil { failWriting(.timedOut, &actions) }
        case .secured:
            guard phase == .securing else { break }
            phase = .open
            isSecure = true
        case .suspended(let isSuspended): setSuspended(isSuspended, at: now, &actions)
        case .failed(let fault): end(fault, &actions)
        }
        advance(at: now, &actions)
        return actions
    }

    // MARK: the queue

    /// Adds an operation to the last batch by calling `addToBatch`. Calls `refuse` instead if the streams were captured or the
    /// machine has ended.
    private mutating func enqueue(
        _ addToBatch: (inout Batch) -> Void, refuse: (inout StreamMachine, inout [Action]) -> Void,
        _ actions: inout [Action]
    ) {
        switch phase {
        case .captured, .ended: return refuse(&self, &actions)
        case .connecting, .open, .securing: break
        }
        if batches[batches.count - 1].barrier != nil { batches.append(Batch()) }
        addToBatch(&batches[batches.count - 1])
    }

    /// Starts operations until a read, a write or a barrier has to wait.
    private mutating func advance(at now: Instant, _ actions: inout [Action]) {
        while phase == .open, !isSuspended {
            if read == nil, let next = batches[0].reads.popFirst() {
                begin(next, at: now, &actions)
            } else if write == nil, let next = batches[0].writes.popFirst() {
                begin(next, at: now, &actions)
            } else if isReadyForBarrier, let barrier = batches[0].barrier {
                batches.removeFirst()
                if batches.isEmpty { batches = [Batch()] }
                perform(barrier, &actions)
            } else {
                return endIfFinished(&actions)
            }
        }
    }

    /// Whether all operations before the next barrier are complete.
    private var isReadyForBarrier: Bool {
        read == nil && write == nil && batches[0].reads.isEmpty && batches[0].writes.isEmpty
    }

    /// Makes a read the active one, or completes it if nothing has to be read.
    private mutating func begin(_ next: Read, at now: Instant, _ actions: inout [Action]) {
        guard reading == .open, next.maximum > 0 else { return complete(next, &actions) }
        let deadline = next.timeout.map { now + $0 }
        read = ActiveOperation(operation: next, deadline: deadline)
        if let deadline { actions.append(.setTimer(.reading, deadline)) }
    }

    /// Makes a write the active one, or completes it if nothing has to be written.
    private mutating func begin(_ next: Write, at now: Instant, _ actions: inout [Action]) {
        guard writing == .open, next.count > 0 else { return complete(next, &actions) }
        let deadline = next.timeout.map { now + $0 }
        write = ActiveOperation(operation: next, deadline: deadline)
        if let deadline { actions.append(.setTimer(.writing, deadline)) }
    }

    /// Completes a read at once, because it asks for no bytes, or because the reading half is closed or its streams are captured.
    private func complete(_ read: Read, _ actions: inout [Action]) {
        switch reading {
        case .open where phase == .captured: actions.append(.failRead(read.id, .closed))
        case .open: actions.append(.finishRead(read.id, atEnd: false))
        case .ended: actions.append(.finishRead(read.id, atEnd: true))
        case .closed: actions.append(.failRead(read.id, .closed))
        case .failed(let fault): actions.append(.failRead(read.id, fault))
        }
    }

    /// Completes a write at once, because it has no bytes, or because the writing half is closed or its streams are captured.
    private func complete(_ write: Write, _ actions: inout [Action]) {
        switch writing {
        case .open where phase == .captured: actions.append(.failWrite(write.id, .closed))
        case .open: actions.append(.finishWrite(write.id))
        case .ended, .closed: actions.append(.failWrite(write.id, .closed))
        case .failed(let fault): actions.append(.failWrite(write.id, fault))
        }
    }

    /// Performs an operation on both halves.
    private mutating func perform(_ barrier: Barrier, _ actions: inout [Action]) {
        switch barrier {
        case .closeRead:
            guard reading == .open || reading == .ended else { return }
            reading = .closed
            reportReadClosed(&actions)
        case .closeWrite:
            guard writing == .open else { return }
            writing = .closed
            actions += [.closeWriting, .reportWriteClosed]
        case .startSecure:
            if isSecure { return }
            // The program's next data must not be sent in the clear, so the task fails.
            guard reading == .open, writing == .open else { return end(.cannotSecure, &actions) }
            phase = .securing
            actions.append(.startTLS)
        case .stopSecure:
            guard isSecure else { return }
            // After the close_notify alert, plain text cannot be distinguished from TLS records. So both halves are closed.
            if writing == .open {
                writing = .closed
                actions += [.closeWriting, .reportWriteClosed]
            }
            reading = .closed
            reportReadClosed(&actions)
        case .capture:
            phase = .captured
            actions.append(.capture)
            failQueuedOperations(&actions)
        }
    }

    // MARK: reading

    /// Counts bytes of the active read, and completes it if it has its maximum.
    private mutating func handleReceived(_ count: Int, _ actions: inout [Action]) {
        guard read != nil else { return }
        read?.transferredCount += count
        if let read, read.transferredCount >= read.operation.maximum { finishRead(atEnd: false, &actions) }
    }

    /// Completes the active read, if there is one.
    private mutating func finishRead(atEnd: Bool, _ actions: inout [Action]) {
        guard let finished = read.take() else { return }
        if finished.deadline != nil { actions.append(.cancelTimer(.reading)) }
        actions.append(.finishRead(finished.operation.id, atEnd: atEnd))
    }

    /// Ends the reading half at the end of the peer's data.
    private mutating func handleReceivedEnd(_ actions: inout [Action]) {
        guard reading == .open else { return }
        reading = .ended
        finishRead(atEnd: true, &actions)
        reportReadClosed(&actions)
    }

    /// Reports to the delegate that the reading half is closed, once and only while the connection is open.
    private mutating func reportReadClosed(_ actions: inout [Action]) {
        guard phase == .open, !hasReportedReadClosed else { return }
        hasReportedReadClosed = true
        actions.append(.reportReadClosed)
    }

    /// Closes the reading half with a fault, and fails the active read and all queued ones.
    private mutating func failReading(_ fault: StreamFault, _ actions: inout [Action]) {
        if let failed = read.take() {
            if failed.deadline != nil { actions.append(.cancelTimer(.reading)) }
            actions.append(.failRead(failed.operation.id, fault))
        }
        if reading == .open {
            reading = .failed(fault)
            self.fault = self.fault ?? fault
            reportReadClosed(&actions)
        }
        // Because the half is not open, `complete` fails the queued reads, or reports the end if it was read.
        for index in batches.indices {
            for read in batches[index].reads { complete(read, &actions) }
            batches[index].reads = []
        }
    }

    // MARK: writing

    /// Closes the writing half with a fault, and fails the active write and all queued ones.
    private mutating func failWriting(_ fault: StreamFault, _ actions: inout [Action]) {
        if let failed = write.take() {
            if failed.deadline != nil { actions.append(.cancelTimer(.writing)) }
            actions.append(.failWrite(failed.operation.id, fault))
        }
        if writing == .open {
            writing = .failed(fault)
            self.fault = self.fault ?? fault
            if phase == .open { actions.append(.reportWriteClosed) }
        }
        // Because the half is not open, `complete` fails the queued writes.
        for index in batches.indices {
            for write in batches[index].writes { complete(write, &actions) }
            batches[index].writes = []
        }
    }

    // MARK: time

    /// Suspends or resumes transfers. The timeouts of operations do not run while transfers are suspended.
    private mutating func setSuspended(_ isSuspended: Bool, at now: Instant, _ actions: inout [Action]) {
        guard isSuspended != self.isSuspended else { return }
        self.isSuspended = isSuspended
        Self.adjustDeadline(isSuspended, &read, .reading, at: now, &actions)
        Self.adjustDeadline(isSuspended, &write, .writing, at: now, &actions)
    }

    /// Stops the timer of the active operation when transfers are suspended, and restarts it with the remaining time when they
    /// resume.
    private static func adjustDeadline<Operation>(
        _ isSuspended: Bool, _ active: inout ActiveOperation<Operation>?, _ half: Half, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard var updated = active else { return }
        if isSuspended, let deadline = updated.deadline {
            updated.remainingTime = deadline - now
            actions.append(.cancelTimer(half))
        } else if !isSuspended, let remaining = updated.remainingTime {
            updated.deadline = now + remaining
            actions.append(.setTimer(half, now + remaining))
        }
        active = updated
    }

    // MARK: the end

    /// Ends the task once both halves are closed and no operation is active.
    private mutating func endIfFinished(_ actions: inout [Action]) {
        guard reading != .open, writing != .open, read == nil, write == nil else { return }
        phase = .ended
        actions.append(.end(fault))
    }

    /// Ends the task with a fault, and fails all operations.
    private mutating func end(_ fault: StreamFault, _ actions: inout [Action]) {
        switch phase {
        case .captured, .ended: return
        case .connecting, .open, .securing: break
        }
        // The phase changes first, so that the calls below report no closed half to the delegate: the task completes instead.
        phase = .ended
        failReading(fault, &actions)
        failWriting(fault, &actions)
        actions.append(.end(fault))
    }

    /// Fails the queued operations, because the program uses the captured streams instead.
    private mutating func failQueuedOperations(_ actions: inout [Action]) {
        // In the phase `captured`, `complete` fails the operations of an open half.
        for batch in batches {
            for read in batch.reads { complete(read, &actions) }
            for write in batch.writes { complete(write, &actions) }
        }
        batches = [Batch()]
    }
}

/// Why an operation of a stream task failed.
enum StreamFault: Error, Hashable, Sendable {
    /// The operation timed out.
    case timedOut
    /// The half is closed, or the streams were captured.
    case closed
    /// The stream reads the content of a response, so it cannot be written to: the request is complete.
    case readOnly
    /// TLS is not possible because one half is closed.
    case cannotSecure
    /// The connection failed, or could not be established.
    case connectionFailed(TransportError)
    /// The load that supplies the content has failed, or the task was cancelled.
    case taskEnded(StreamEnding)
}

/// The error with which a task has ended.
struct StreamEnding: Error, Hashable {
    let error: any Error

    /// Compares domain and code, because the program's errors need not be `Equatable`.
    static func == (left: StreamEnding, right: StreamEnding) -> Bool {
        let (left, right) = (left.error as NSError, right.error as NSError)
        return left.domain == right.domain && left.code == right.code
    }
    func hash(into hasher: inout Hasher) { hasher.combine((error as NSError).code) }
}
