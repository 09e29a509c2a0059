// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The load of a stream task, or the sink of a response that became a stream. A `StreamDriver` calls it on its loop;
/// implementations must not block.
protocol StreamOwner: AnyObject, Sendable {
    /// Appends a job to the delegate queue.
    func post(_ job: @escaping @Sendable () -> Void)
    /// Called when bytes were received or sent.
    func streamTransferred(received: Int, sent: Int)
    /// Called when nothing more can be read, or nothing more can be written.
    func streamClosed(_ half: StreamMachine.Half)
    /// Called when the program has asked for the streams (`captureStreams()`). The driver then does nothing more.
    func streamCaptured(_ streams: CapturedStreams)
    /// Called once, when the wire is closed, unless the streams were captured. `isReadToEnd` tells whether all of the peer's data
    /// was read.
    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool)
    /// An object that the captured streams keep alive, because they need it.
    var retainedByCapturedStreams: (any Sendable)? { get }
    /// The error that the program gets for a fault.
    func error(for fault: StreamFault) -> any Error
}

/// Performs a stream task's operations, in the order that `StreamMachine` decides, on the event loop of its wire. A wire is a
/// connection, or the content of a response that is read as a stream.
final class StreamDriver: RawConnectionHandler {
    /// Receives the bytes, whether the peer's data has ended, and the error.
    typealias ReadHandler = @Sendable (Data?, Bool, (any Error)?) -> Void
    /// Receives the error; nil if all bytes were written.
    typealias WriteHandler = @Sendable ((any Error)?) -> Void

    /// An operation that the program requests of a stream task.
    enum Operation: Sendable {
        case read(minimum: Int, maximum: Int, timeout: Interval?, ReadHandler)
        case write([UInt8], timeout: Interval?, WriteHandler)
        case barrier(StreamMachine.Barrier)
    }

    private let loop: EventLoop
    private let owner: any StreamOwner
    private var machine: StreamMachine
    /// The connection attempt, while it runs.
    private var dial: RawDial?
    /// The connection, or the content of a response; nil before the connection is established and after the end.
    private var wire: (any StreamWire)?
    /// The handlers of unfinished reads, with the bytes received so far, by the id of the operation.
    private var unfinishedReads: [Int: (handler: ReadHandler, bytes: [UInt8])] = [:]
    /// The handlers of unfinished writes, with their bytes, by the id of the operation.
    private var unfinishedWrites: [Int: (handler: WriteHandler, bytes: [UInt8])] = [:]
    /// The timers of the active operations, by the half on which they run.
    private var timers: [StreamMachine.Half: EventLoop.TimerToken] = [:]
    /// The id of the last operation.
    private var lastID = 0
    /// Whether `transfer` is running. The machine's actions can call it again meanwhile, which then does nothing.
    private var isTransferring = false
    /// Whether the current pass of `transfer` has read or written, so that another pass is worthwhile.
    private var hasProgressed = false
    private let nextTurn: NextTurn
    /// How often the current call of `transfer` has called `receive`.
    private var readCount = 0
    /// How often the current call of `transfer` has called `send` or `flush` for a write.
    private var writeCount = 0

    /// The most calls of `receive`, or of `send` and `flush`, before the loop's other connections run.
    private static let maxCallsPerTurn = 16

    /// - Parameter writeFault: Why nothing can be written; nil if writing is possible.
    init(on loop: EventLoop, for owner: any StreamOwner, writeFault: StreamFault? = nil) {
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.owner = owner
        machine = StreamMachine(writeFault: writeFault)
    }

    // MARK: connecting

    /// Starts a connection attempt, unless the stream has ended. Once the attempt has succeeded, opens the wire that `makeWire`
    /// creates from the connection.
    func dial(_ dial: RawDial, _ makeWire: @escaping (RawConnection) -> ConnectionWire) {
        guard machine.phase == .connecting else { return }
        self.dial = dial
        dial.start { [self] outcome in
            self.dial = nil
            switch outcome {
            case .success(let connection):
                // If the stream has ended meanwhile, nothing uses the connection.
                guard machine.phase == .connecting else { return connection.close() }
                open(makeWire(connection))
            case .failure(let error): fail(.connectionFailed(error))
            }
        }
    }

    /// Starts the operations on this wire.
    func open(_ wire: any StreamWire) {
        self.wire = wire
        wire.handler = self
        handle(.connected)
        transfer()
    }

    // MARK: called by the task

    /// Adds an operation, which runs in the order that the machine decides.
    func enqueue(_ operation: Operation) {
        lastID += 1
        switch operation {
        case .read(let minimum, let maximum, let timeout, let handler):
            unfinishedReads[lastID] = (handler, [])
            handle(.read(.init(id: lastID, minimum: minimum, maximum: maximum, timeout: timeout)))
        case .write(let bytes, let timeout, let handler):
            unfinishedWrites[lastID] = (handler, bytes)
            handle(.write(.init(id: lastID, count: bytes.count, timeout: timeout)))
        case .barrier(let barrier): handle(.barrier(barrier))
        }
        transfer()
    }

    /// Suspends or resumes the transfer of bytes.
    func setSuspended(_ isSuspended: Bool) {
        handle(.suspended(isSuspended))
        transfer()
    }

    /// Fails all operations and closes the wire.
    func fail(_ fault: StreamFault) { handle(.failed(fault)) }

    // MARK: called by the wire

    func connectionIsReady() {
        if wire?.peerIsClosing == true { handle(.peerCloses) }
        transfer()
    }

    func connectionIsSecure() {
        handle(.secured)
        transfer()
    }

    func connectionEnded(_ error: TransportError) { fail(.connectionFailed(error)) }

    // MARK: bytes

    /// Transfers bytes in both directions until the wire blocks or no operation is active.
    private func transfer() {
        guard !isTransferring else { return }
        isTransferring = true
        (readCount, writeCount) = (0, 0)
        repeat {
            hasProgressed = false
            sendBytes()
            receiveBytes()
        } while hasProgressed
        isTransferring = false
    }

    /// Performs the active writes until the wire blocks.
    private func sendBytes() {
        while let (id, start) = machine.activeWrite, let wire, let write = unfinishedWrites[id] {
            writeCount += 1
            if writeCount > Self.maxCallsPerTurn { return continueInNextTurn() }
            do throws(StreamFault) {
                // A write is finished when the kernel, and not only the wire, has accepted its bytes.
                if start == write.bytes.count {
                    guard try wire.flush() else { return }
                    handle(.flushed)
                } else {
                    guard case .bytes(let count) = try wire.send(write.bytes.span.extracting(start...))
                    else {
                        return
                    }
                    owner.streamTransferred(received: 0, sent: count)
                    handle(.wrote(count))
                }
                hasProgressed = true
            } catch { failWriting(error) }
        }
        // Data that TLS has buffered is sent even without a write. If the kernel does not accept all of it, the wire calls
        // `connectionIsReady` later, so the result is ignored.
        do throws(StreamFault) { _ = try wire?.flush() } catch { failWriting(error) }
    }

    /// Ends this pass of `transfer`, and calls it again after the loop's other connections.
    private func continueInNextTurn() {
        hasProgressed = false
        nextTurn.schedule { self.transfer() }
    }

    /// Called when `send` or `flush` has failed. If the connection was lost, ends only the writing half, because data that the
    /// peer has sent before may still be readable. Otherwise fails the stream.
    private func failWriting(_ fault: StreamFault) {
        if case .connectionFailed(.connectionLost) = fault {
            handle(.writeFailed(fault))
        } else {
            fail(fault)
        }
    }

    /// Performs the active reads until the wire blocks.
    private func receiveBytes() {
        guard machine.activeRead != nil else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        while let (id, room) = machine.activeRead, let wire {
            readCount += 1
            if readCount > Self.maxCallsPerTurn { return continueInNextTurn() }
            do throws(StreamFault) {
                let outcome: ReadOutcome
                // The spans borrow `buffer`. Their scope ends before `buffer` is read.
                do {
                    var whole = buffer.mutableSpan
                    var space = whole._mutatingExtracting(first: min(room, whole.count))
                    outcome = try wire.receive(into: &space)
                }
                switch outcome {
                case .bytes(let count):
                    unfinishedReads[id]?.bytes.append(contentsOf: buffer[..<count])
                    owner.streamTransferred(received: count, sent: 0)
                    handle(.received(count))
                    hasProgressed = true
                case .wouldBlock:
                    handle(.readWouldBlock)
                    // If the read is still active, it waits for more bytes. Otherwise the machine has completed it, and this
                    // continues with the next read.
                    if machine.activeRead?.id == id { return }
                    hasProgressed = true
                case .end:
                    handle(.receivedEnd)
                    hasProgressed = true
                }
            } catch { fail(error) }
        }
    }

    // MARK: actions of the machine

    /// Passes an event to the machine, and performs the actions that it returns.
    private func handle(_ event: StreamMachine.Event) {
        for action in machine.handle(event, at: loop.now) { perform(action) }
    }

    /// Performs an action of the machine.
    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .finishRead(let id, let isAtEnd):
            guard let read = unfinishedReads.removeValue(forKey: id) else { return }
            // If the data has ended and there are no more bytes, the handler gets nil.
            let data = isAtEnd && read.bytes.isEmpty ? nil : Data(read.bytes)
            owner.post { [handler = read.handler] in handler(data, isAtEnd, nil) }
        case .failRead(let id, let fault):
            guard let read = unfinishedReads.removeValue(forKey: id) else { return }
            let error = owner.error(for: fault)
            owner.post { [handler = read.handler] in handler(nil, false, error) }
        case .finishWrite(let id):
            guard let write = unfinishedWrites.removeValue(forKey: id) else { return }
            owner.post { [handler = write.handler] in handler(nil) }
        case .failWrite(let id, let fault):
            guard let write = unfinishedWrites.removeValue(forKey: id) else { return }
            let error = owner.error(for: fault)
            owner.post { [handler = write.handler] in handler(error) }
        case .setTimer(let half, let instant):
            timers[half] = loop.schedule(at: instant) { [weak self] reason in
                guard let self else { return }
                timers[half] = nil
                guard reason == .due else { return }
                handle(.timeout(half))
                transfer()
            }
        case .cancelTimer(let half):
            if let timer = timers.removeValue(forKey: half) { loop.cancel(timer) }
        case .reportReadClosed: owner.streamClosed(.reading)
        case .reportWriteClosed: owner.streamClosed(.writing)
        case .closeWriting: wire?.closeWriting()
        case .startTLS: wire?.startTLS()
        case .capture:
            guard let wire = wire.take() else { return }
            owner.streamCaptured(CapturedStreams(wire, on: loop, retaining: owner.retainedByCapturedStreams))
        case .end(let fault):
            let dial = dial.take()
            let wire = wire.take()
            dial?.cancel(.cancelled)
            // After a regular end, the close waits until the peer has received all bytes.
            if fault == nil { wire?.closeGently() } else { wire?.close() }
            owner.streamEnded(fault, isReadToEnd: machine.isReadToEnd)
        }
    }
}
