// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Orders the operations of a stream task (U-7.16).
///
/// Reads are performed one after the other, and so are writes. Reads and writes do not wait for each other, otherwise a program
/// that starts reading the response before it writes the request would deadlock. Operations on both halves (closing one, TLS,
/// capturing the streams) wait for all earlier operations, and later ones wait for them.
///
/// Pure: bytes are counts, time is an argument, and the caller performs the returned actions in order.
struct StreamMachine: Sendable {
    /// Reads at least `minimum` and at most `maximum` bytes.
    struct Read: Hashable, Sendable {
        let id: Int
        let minimum: Int
        let maximum: Int
        let timeout: Interval?

        /// If the two contradict each other, `maximum` wins; a minimum of 0 becomes 1.
        init(_ id: Int, minimum: Int, maximum: Int, timeout: Interval? = nil) {
            self.id = id
            self.maximum = max(0, maximum)
            self.minimum = min(max(1, minimum), self.maximum)
            self.timeout = timeout
        }
    }

    /// Writes `count` bytes.
    struct Write: Hashable, Sendable {
        let id: Int
        let count: Int
        var timeout: Interval?
    }

    /// An operation that concerns both halves.
    enum Barrier: Hashable, Sendable { case closeRead, closeWrite, startSecure, stopSecure, capture }

    enum Half: Hashable, Sendable { case reading, writing }

    enum Event: Hashable, Sendable {
        case read(Read)
        case write(Write)
        case barrier(Barrier)
        /// The connection is established.
        case connected
        /// So many bytes were received for the active read.
        case received(Int)
        /// Nothing more can be read for now.
        case readDry
        /// The end of the peer's data was read.
        case receivedEnd
        /// The peer has closed its half; earlier data may still be unread.
        case peerCloses
        /// So many bytes of the active write were accepted.
        case wrote(Int)
        /// The accepted bytes were written to the kernel.
        case flushed
        /// Writing has failed; the peer's data is still read.
        case writeFailed(StreamFault)
        /// The active operation has timed out.
        case timeout(Half)
        /// The TLS handshake is complete.
        case secured
        /// Transfers are suspended or resumed.
        case held(Bool)
        /// The connection has failed.
        case failed(StreamFault)
    }

    enum Action: Hashable, Sendable {
        case finishRead(Int, atEnd: Bool)
        case failRead(Int, StreamFault)
        case finishWrite(Int)
        case failWrite(Int, StreamFault)
        case setTimer(Half, Instant)
        case cancelTimer(Half)
        case tellReadClosed
        case tellWriteClosed
        /// Shuts down our half of the connection.
        case closeWriting
        case startTLS
        /// Hands the streams out; no further actions follow.
        case capture
        /// Closes the connection and completes the task.
        case end(StreamFault?)
    }

    enum Phase: Hashable, Sendable {
        case connecting  // → open, ended
        case open  // → securing, captured, ended
        case securing  // → open, ended
        case captured
        case ended
    }

    /// The state of one half.
    private enum HalfState: Hashable, Sendable {
        case open  // → ended, closed, failed
        /// The peer's end was read.
        case ended
        /// The program has closed it.
        case closed
        case failed(StreamFault)
    }

    /// The active operation of a half: its progress and its deadline.
    private struct Active<Operation: Hashable & Sendable>: Hashable, Sendable {
        let operation: Operation
        var moved = 0
        var deadline: Instant?
        /// The remaining time when it was suspended.
        var left: Interval?
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
    private var read: Active<Read>?
    private var write: Active<Write>?
    private var batches = [Batch()]
    private var isHeld = false
    private var isSecure = false
    private var hasToldReadClosed = false
    /// The first fault of either half.
    private var fault: StreamFault?

    /// - Parameter writeFault: Why nothing can be written from the start; nil if writing is possible.
    init(writeFault: StreamFault? = nil) {
        if let writeFault { writing = .failed(writeFault) }
    }

    /// The active read and the number of bytes that it still accepts; nil when there is none.
    var readPlace: (id: Int, room: Int)? {
        guard phase == .open, !isHeld, let read else { return nil }
        return (read.operation.id, read.operation.maximum - read.moved)
    }

    /// The active write and the offset at which it continues; nil when there is none. A write that was accepted completely waits
    /// for `flushed`.
    var writePlace: (id: Int, from: Int)? {
        guard phase == .open, !isHeld, let write else { return nil }
        return (write.operation.id, write.moved)
    }

    /// Whether the peer's data was read to its end.
    var isReadToEnd: Bool { reading == .ended }

    /// The only function that changes the state.
    mutating func handle(_ event: Event, at now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .read(let read): add({ $0.reads.append(read) }, refuse: { $0.answer(read, &$1) }, &actions)
        case .write(let write): add({ $0.writes.append(write) }, refuse: { $0.answer(write, &$1) }, &actions)
        case .barrier(let barrier): add({ $0.barrier = barrier }, refuse: { _, _ in }, &actions)
        case .connected: if phase == .connecting { phase = .open }
        case .received(let count): received(count, &actions)
        case .readDry:
            if let read, read.moved >= read.operation.minimum { finishRead(atEnd: false, &actions) }
        case .receivedEnd: receivedEnd(&actions)
        case .peerCloses: tellReadClosed(&actions)
        case .wrote(let count): write?.moved += count
        case .flushed:
            guard let write, write.moved == write.operation.count else { break }
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
        case .held(let isHeld): hold(isHeld, at: now, &actions)
        case .failed(let fault): end(fault, &actions)
        }
        advance(at: now, &actions)
        return actions
    }

    // MARK: the queue

    private mutating func add(
        _ change: (inout Batch) -> Void, refuse: (inout StreamMachine, inout [Action]) -> Void,
        _ actions: inout [Action]
    ) {
        switch phase {
        case .captured, .ended: return refuse(&self, &actions)
        case .connecting, .open, .securing: break
        }
        if batches[batches.count - 1].barrier != nil { batches.append(Batch()) }
        change(&batches[batches.count - 1])
    }

    /// Starts the next operations, until one has to be waited for.
    private mutating func advance(at now: Instant, _ actions: inout [Action]) {
        while phase == .open, !isHeld {
            if read == nil, let next = batches[0].reads.popFirst() {
                begin(next, at: now, &actions)
            } else if write == nil, let next = batches[0].writes.popFirst() {
                begin(next, at: now, &actions)
            } else if read == nil, write == nil, batches[0].reads.isEmpty, batches[0].writes.isEmpty,
                let barrier = batches[0].barrier
            {
                batches.removeFirst()
                if batches.isEmpty { batches = [Batch()] }
                pass(barrier, &actions)
            } else {
                return endIfOver(&actions)
            }
        }
    }

    private mutating func begin(_ next: Read, at now: Instant, _ actions: inout [Action]) {
        guard reading == .open, next.maximum > 0 else { return answer(next, &actions) }
        let deadline = next.timeout.map { now + $0 }
        read = Active(operation: next, deadline: deadline)
        if let deadline { actions.append(.setTimer(.reading, deadline)) }
    }

    private mutating func begin(_ next: Write, at now: Instant, _ actions: inout [Action]) {
        guard writing == .open, next.count > 0 else { return answer(next, &actions) }
        let deadline = next.timeout.map { now + $0 }
        write = Active(operation: next, deadline: deadline)
        if let deadline { actions.append(.setTimer(.writing, deadline)) }
    }

    /// Answers a read that does not have to wait.
    private func answer(_ read: Read, _ actions: inout [Action]) {
        switch reading {
        case .open where phase == .captured: actions.append(.failRead(read.id, .closed))
        case .open: actions.append(.finishRead(read.id, atEnd: false))
        case .ended: actions.append(.finishRead(read.id, atEnd: true))
        case .closed: actions.append(.failRead(read.id, .closed))
        case .failed(let fault): actions.append(.failRead(read.id, fault))
        }
    }

    private func answer(_ write: Write, _ actions: inout [Action]) {
        switch writing {
        case .open where phase == .captured: actions.append(.failWrite(write.id, .closed))
        case .open: actions.append(.finishWrite(write.id))
        case .ended, .closed: actions.append(.failWrite(write.id, .closed))
        case .failed(let fault): actions.append(.failWrite(write.id, fault))
        }
    }

    private mutating func pass(_ barrier: Barrier, _ actions: inout [Action]) {
        switch barrier {
        case .closeRead:
            guard reading == .open || reading == .ended else { return }
            reading = .closed
            tellReadClosed(&actions)
        case .closeWrite:
            guard writing == .open else { return }
            writing = .closed
            actions += [.closeWriting, .tellWriteClosed]
        case .startSecure:
            if isSecure { return }
            // The data that follows must not be sent in the clear, so the task fails.
            guard reading == .open, writing == .open else { return end(.cannotSecure, &actions) }
            phase = .securing
            actions.append(.startTLS)
        case .stopSecure:
            guard isSecure else { return }
            // After close_notify, plain text could not be told apart from TLS records, so the connection ends with it.
            if writing == .open {
                writing = .closed
                actions += [.closeWriting, .tellWriteClosed]
            }
            reading = .closed
            tellReadClosed(&actions)
        case .capture:
            phase = .captured
            actions.append(.capture)
            refuseWaiting(&actions)
        }
    }

    // MARK: reading

    private mutating func received(_ count: Int, _ actions: inout [Action]) {
        guard read != nil else { return }
        read?.moved += count
        if let read, read.moved >= read.operation.maximum { finishRead(atEnd: false, &actions) }
    }

    private mutating func finishRead(atEnd: Bool, _ actions: inout [Action]) {
        guard let ended = read.take() else { return }
        if ended.deadline != nil { actions.append(.cancelTimer(.reading)) }
        actions.append(.finishRead(ended.operation.id, atEnd: atEnd))
    }

    private mutating func receivedEnd(_ actions: inout [Action]) {
        guard reading == .open else { return }
        reading = .ended
        finishRead(atEnd: true, &actions)
        tellReadClosed(&actions)
    }

    private mutating func tellReadClosed(_ actions: inout [Action]) {
        guard phase == .open, !hasToldReadClosed else { return }
        hasToldReadClosed = true
        actions.append(.tellReadClosed)
    }

    private mutating func failReading(_ fault: StreamFault, _ actions: inout [Action]) {
        if let failed = read.take() {
            if failed.deadline != nil { actions.append(.cancelTimer(.reading)) }
            actions.append(.failRead(failed.operation.id, fault))
        }
        if reading == .open {
            reading = .failed(fault)
            self.fault = self.fault ?? fault
            tellReadClosed(&actions)
        }
        for index in batches.indices {
            for read in batches[index].reads { answer(read, &actions) }
            batches[index].reads = []
        }
    }

    // MARK: writing

    private mutating func failWriting(_ fault: StreamFault, _ actions: inout [Action]) {
        if let failed = write.take() {
            if failed.deadline != nil { actions.append(.cancelTimer(.writing)) }
            actions.append(.failWrite(failed.operation.id, fault))
        }
        if writing == .open {
            writing = .failed(fault)
            self.fault = self.fault ?? fault
            if phase == .open { actions.append(.tellWriteClosed) }
        }
        for index in batches.indices {
            for write in batches[index].writes { answer(write, &actions) }
            batches[index].writes = []
        }
    }

    // MARK: time

    /// The timeout of an operation does not run while it is held.
    private mutating func hold(_ isHeld: Bool, at now: Instant, _ actions: inout [Action]) {
        guard isHeld != self.isHeld else { return }
        self.isHeld = isHeld
        Self.hold(isHeld, &read, .reading, at: now, &actions)
        Self.hold(isHeld, &write, .writing, at: now, &actions)
    }

    private static func hold<Operation>(
        _ isHeld: Bool, _ active: inout Active<Operation>?, _ half: Half, at now: Instant,
        _ actions: inout [Action]
    ) {
        guard var held = active else { return }
        if isHeld, let deadline = held.deadline {
            held.left = deadline - now
            actions.append(.cancelTimer(half))
        } else if !isHeld, let left = held.left {
            held.deadline = now + left
            actions.append(.setTimer(half, now + left))
        }
        active = held
    }

    // MARK: the end

    /// Ends the task once both halves are over and all operations are answered.
    private mutating func endIfOver(_ actions: inout [Action]) {
        guard reading != .open, writing != .open, read == nil, write == nil else { return }
        phase = .ended
        actions.append(.end(fault))
    }

    private mutating func end(_ fault: StreamFault, _ actions: inout [Action]) {
        switch phase {
        case .captured, .ended: return
        case .connecting, .open, .securing: break
        }
        // No read or write closure is reported: the task's completion tells it.
        phase = .ended
        failReading(fault, &actions)
        failWriting(fault, &actions)
        actions.append(.end(fault))
    }

    /// Fails all waiting operations: the streams belong to the program now.
    private mutating func refuseWaiting(_ actions: inout [Action]) {
        for batch in batches {
            for read in batch.reads { answer(read, &actions) }
            for write in batch.writes { answer(write, &actions) }
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
    /// The stream is the content of a response: nothing can be sent to the server any more.
    case onlyContent
    /// TLS is not possible because one half is closed.
    case cannotSecure
    /// The connection failed, or could not be established.
    case lost(TransportError)
    /// The load that the content comes from failed, or the task was cancelled.
    case ended(StreamEnding)
}

/// The error that a task ended with.
struct StreamEnding: Error, Hashable {
    let error: any Error

    /// Errors of the program's need not be comparable, so domain and code are compared.
    static func == (left: StreamEnding, right: StreamEnding) -> Bool {
        let (left, right) = (left.error as NSError, right.error as NSError)
        return left.domain == right.domain && left.code == right.code
    }
    func hash(into hasher: inout Hasher) { hasher.combine((error as NSError).code) }
}
