// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The order of a stream task's operations (U-7.16).
///
/// Reads come one after the other, and so do writes; the two do not wait for each other, or a program that asks for the
/// answer before it has written the question would wait for ever. What concerns both halves (closing one, TLS, handing the
/// streams out) waits for everything that was asked for before, and holds back everything behind it.
///
/// Pure: bytes are counts, time is an argument, and whoever drives it performs what comes back, in order.
struct StreamMachine: Sendable {
    /// To read at least `minimum` and at most `maximum` bytes.
    struct Read: Hashable, Sendable {
        let id: Int
        let minimum: Int
        let maximum: Int
        let timeout: Interval?

        /// The largest length counts where the two contradict each other; what is to wait for nothing waits for a byte.
        init(_ id: Int, minimum: Int, maximum: Int, timeout: Interval? = nil) {
            self.id = id
            self.maximum = max(0, maximum)
            self.minimum = min(max(1, minimum), self.maximum)
            self.timeout = timeout
        }
    }

    /// To write so many bytes.
    struct Write: Hashable, Sendable {
        let id: Int
        let count: Int
        var timeout: Interval?
    }

    /// What concerns both halves.
    enum Barrier: Hashable, Sendable { case closeRead, closeWrite, startSecure, stopSecure, capture }

    enum Half: Hashable, Sendable { case reading, writing }

    enum Event: Hashable, Sendable {
        case read(Read)
        case write(Write)
        case barrier(Barrier)
        /// The connection stands.
        case connected
        /// So many bytes were read for the read at hand.
        case received(Int)
        /// There is nothing more to read for now.
        case readDry
        /// The peer's half has been read to its end.
        case receivedEnd
        /// The peer has closed its half; what came before may not have been read yet.
        case peerCloses
        /// So many bytes of the write at hand were taken.
        case wrote(Int)
        /// What was taken has gone to the kernel.
        case flushed
        /// Writing is not possible any more; what the peer has sent is still read.
        case writeFailed(StreamFault)
        /// The time of the operation at hand is over.
        case timeout(Half)
        /// TLS stands.
        case secured
        /// No bytes are to move for now, or they may move again.
        case held(Bool)
        /// It is over, because of that.
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
        /// Our half ends.
        case closeWriting
        case startTLS
        /// The streams are handed out: the machine has nothing more to say.
        case capture
        /// The connection closes and the task completes.
        case end(StreamFault?)
    }

    enum Phase: Hashable, Sendable {
        case connecting  // → open, ended
        case open  // → securing, captured, ended
        case securing  // → open, ended
        case captured
        case ended
    }

    /// How far one half has come.
    private enum Lane: Hashable, Sendable {
        case open  // → ended, closed, failed
        /// The peer's end was read.
        case ended
        /// The program has closed it.
        case closed
        case failed(StreamFault)
    }

    /// An operation under way: how much it lacks, and until when it may take.
    private struct Active<Operation: Hashable & Sendable>: Hashable, Sendable {
        let operation: Operation
        var moved = 0
        var deadline: Instant?
        /// What was left of its time when it was held.
        var left: Interval?
    }

    /// What was asked for between two barriers, and the one behind it.
    private struct Batch: Hashable, Sendable {
        var reads: ArraySlice<Read> = []
        var writes: ArraySlice<Write> = []
        var barrier: Barrier?
    }

    private(set) var phase = Phase.connecting
    private var reading = Lane.open
    private var writing = Lane.open
    private var read: Active<Read>?
    private var write: Active<Write>?
    private var batches = [Batch()]
    private var isHeld = false
    private var isSecure = false
    private var hasToldReadClosed = false
    /// What went wrong first in one of the halves.
    private var fault: StreamFault?

    /// - Parameter writeFault: Why nothing can be written from the beginning; nil where that is possible.
    init(writeFault: StreamFault? = nil) {
        if let writeFault { writing = .failed(writeFault) }
    }

    /// Which read is at hand, and how many bytes it still takes; nil when none is.
    var readPlace: (id: Int, room: Int)? {
        guard phase == .open, !isHeld, let read else { return nil }
        return (read.operation.id, read.operation.maximum - read.moved)
    }

    /// Which write is at hand, and from which of its bytes on it goes on; nil when none is. One that has gone whole waits for
    /// `flushed`.
    var writePlace: (id: Int, from: Int)? {
        guard phase == .open, !isHeld, let write else { return nil }
        return (write.operation.id, write.moved)
    }

    /// Whether what the peer has sent was read to its end.
    var isReadToEnd: Bool { reading == .ended }

    /// The only writer of the state.
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

    /// Begins what has its turn, until something has to be waited for.
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

    /// A read for which nothing has to be waited for.
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
            // What is written next was not to be read by everybody.
            guard reading == .open, writing == .open else { return end(.cannotSecure, &actions) }
            phase = .securing
            actions.append(.startTLS)
        case .stopSecure:
            guard isSecure else { return }
            // In front of plain text nobody could tell what is still TLS's: the goodbye is the end of the connection.
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

    /// The time of an operation stands still while it is held.
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

    /// Both halves are over, and everybody has an answer.
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
        // The task's completion says it.
        phase = .ended
        failReading(fault, &actions)
        failWriting(fault, &actions)
        actions.append(.end(fault))
    }

    /// The streams are somebody else's: what was asked for behind that has no answer but this.
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
    /// It took longer than it might.
    case timedOut
    /// That half is closed, or the streams have been handed out.
    case closed
    /// The stream is the content of a response: nothing can be sent to its server any more.
    case onlyContent
    /// There is no way to speak TLS, for one half is over.
    case cannotSecure
    /// The connection failed, or never came about.
    case lost(TransportError)
    /// The load that the content comes from failed, or the task was cancelled.
    case ended(StreamEnding)
}

/// The error that a task ended with.
struct StreamEnding: Error, Hashable {
    let error: any Error

    /// Errors of the program's own need not be comparable: domain and code stand for them.
    static func == (left: StreamEnding, right: StreamEnding) -> Bool {
        let (left, right) = (left.error as NSError, right.error as NSError)
        return left.domain == right.domain && left.code == right.code
    }
    func hash(into hasher: inout Hasher) { hasher.combine((error as NSError).code) }
}
