// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The owner of a `StreamDriver`. The driver calls it on its loop; implementations must not block.
protocol StreamOwner: AnyObject, Sendable {
    /// Runs a job on the delegate queue, after those posted before.
    func post(_ job: @escaping @Sendable () -> Void)
    /// Called when bytes were received or sent.
    func streamTransferred(received: Int, sent: Int)
    /// Called when reading or writing has become impossible.
    func streamClosed(_ half: StreamMachine.Half)
    /// Called when the streams are captured. The driver then does nothing more.
    func streamCaptured(_ streams: CapturedStreams)
    /// Called once, when the wire is closed, unless the streams were captured. `isReadToEnd` tells whether all of the peer's data
    /// was read.
    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool)
    /// An object that captured streams retain.
    var streamKeeper: (any Sendable)? { get }
    /// The error that the program gets for a fault.
    func error(for fault: StreamFault) -> any Error
}

/// Performs a stream task's operations, in the order that `StreamMachine` decides, on the loop of its wire.
final class StreamDriver: RawConnectionHandler {
    typealias Reader = @Sendable (Data?, Bool, (any Error)?) -> Void
    typealias Writer = @Sendable ((any Error)?) -> Void

    /// An operation that the program requests of a stream task.
    enum Operation: Sendable {
        case read(minimum: Int, maximum: Int, timeout: Interval?, Reader)
        case write([UInt8], timeout: Interval?, Writer)
        case barrier(StreamMachine.Barrier)
    }

    private let loop: EventLoop
    private let owner: any StreamOwner
    private var machine: StreamMachine
    private var dial: RawDial?
    private var wire: (any StreamWire)?
    /// The handlers of unfinished reads, with the bytes received so far, by the id of the operation.
    private var readers: [Int: (handler: Reader, bytes: [UInt8])] = [:]
    /// The handlers of unfinished writes, with their bytes, by the id of the operation.
    private var writers: [Int: (handler: Writer, bytes: [UInt8])] = [:]
    private var timers: [StreamMachine.Half: EventLoop.TimerToken] = [:]
    private var lastID = 0
    /// Whether `transfer` is running: the machine's actions can call it again.
    private var isTransferring = false
    /// Whether the current pass of `transfer` has read or written, so that another pass is worthwhile.
    private var hasProgressed = false
    private let nextTurn: NextTurn
    /// The number of reads, and of writes, since `transfer` was called.
    private var reads = 0
    private var writes = 0

    /// The most reads, or writes, before the loop's other connections run.
    private static let maxStepsPerTurn = 16

    /// - Parameter writeFault: Why nothing can be written; nil if writing is possible.
    init(on loop: EventLoop, for owner: any StreamOwner, writeFault: StreamFault? = nil) {
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.owner = owner
        machine = StreamMachine(writeFault: writeFault)
    }

    // MARK: connecting

    /// Starts a dial, and opens the wire that `secure` makes of its connection.
    func dial(_ dial: RawDial, _ secure: @escaping (RawConnection) -> ConnectionWire) {
        guard machine.phase == .connecting else { return }
        self.dial = dial
        dial.start { [self] outcome in
            self.dial = nil
            switch outcome {
            case .success(let connection):
                guard machine.phase == .connecting else { return connection.close() }
                open(secure(connection))
            case .failure(let error): fail(.lost(error))
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

    /// Appends an operation to those of its half.
    func enqueue(_ operation: Operation) {
        lastID += 1
        switch operation {
        case .read(let minimum, let maximum, let timeout, let handler):
            readers[lastID] = (handler, [])
            handle(.read(.init(id: lastID, minimum: minimum, maximum: maximum, timeout: timeout)))
        case .write(let bytes, let timeout, let handler):
            writers[lastID] = (handler, bytes)
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

    func connectionEnded(_ error: TransportError) { fail(.lost(error)) }

    // MARK: bytes

    /// Transfers bytes in both directions until the wire blocks or no operation is active.
    private func transfer() {
        guard !isTransferring else { return }
        isTransferring = true
        (reads, writes) = (0, 0)
        repeat {
            hasProgressed = false
            sendBytes()
            receiveBytes()
        } while hasProgressed
        isTransferring = false
    }

    /// Performs the active writes until the wire blocks.
    private func sendBytes() {
        while let (id, start) = machine.activeWrite, let wire, let writer = writers[id] {
            writes += 1
            if writes > Self.maxStepsPerTurn { return continueInNextTurn() }
            do throws(StreamFault) {
                // A write is finished when the kernel, and not only the wire, has accepted its bytes.
                if start == writer.bytes.count {
                    guard try wire.flush() else { return }
                    handle(.flushed)
                } else {
                    guard case .bytes(let count) = try wire.send(writer.bytes.span.extracting(start...))
                    else {
                        return
                    }
                    owner.streamTransferred(received: 0, sent: count)
                    handle(.wrote(count))
                }
                hasProgressed = true
            } catch { failWriting(error) }
        }
        // Data that TLS has buffered is sent even without a write.
        do throws(StreamFault) { _ = try wire?.flush() } catch { failWriting(error) }
    }

    /// Ends this pass of `transfer`, and calls it again after the loop's other connections.
    private func continueInNextTurn() {
        hasProgressed = false
        nextTurn.schedule { self.transfer() }
    }

    /// Ends only the writing half if the connection was lost, because data that the peer sent before may still be readable.
    private func failWriting(_ fault: StreamFault) {
        if case .lost(.connectionLost) = fault { handle(.writeFailed(fault)) } else { fail(fault) }
    }

    /// Performs the active reads until the wire blocks.
    private func receiveBytes() {
        guard machine.activeRead != nil else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        while let (id, room) = machine.activeRead, let wire {
            reads += 1
            if reads > Self.maxStepsPerTurn { return continueInNextTurn() }
            do throws(StreamFault) {
                let outcome: ReadOutcome
                // The spans end before `buffer` is read.
                do {
                    var whole = buffer.mutableSpan
                    var space = whole._mutatingExtracting(first: min(room, whole.count))
                    outcome = try wire.receive(into: &space)
                }
                switch outcome {
                case .bytes(let count):
                    readers[id]?.bytes.append(contentsOf: buffer[..<count])
                    owner.streamTransferred(received: count, sent: 0)
                    handle(.received(count))
                    hasProgressed = true
                case .wouldBlock:
                    handle(.readWouldBlock)
                    // If that completed the read, the next one may need no more bytes than it has.
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

    private func handle(_ event: StreamMachine.Event) {
        for action in machine.handle(event, at: loop.now) { perform(action) }
    }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .finishRead(let id, let isAtEnd):
            guard let reader = readers.removeValue(forKey: id) else { return }
            // The end of the data without any bytes is reported as nil.
            let data = isAtEnd && reader.bytes.isEmpty ? nil : Data(reader.bytes)
            owner.post { [handler = reader.handler] in handler(data, isAtEnd, nil) }
        case .failRead(let id, let fault):
            guard let reader = readers.removeValue(forKey: id) else { return }
            let error = owner.error(for: fault)
            owner.post { [handler = reader.handler] in handler(nil, false, error) }
        case .finishWrite(let id):
            guard let writer = writers.removeValue(forKey: id) else { return }
            owner.post { [handler = writer.handler] in handler(nil) }
        case .failWrite(let id, let fault):
            guard let writer = writers.removeValue(forKey: id) else { return }
            let error = owner.error(for: fault)
            owner.post { [handler = writer.handler] in handler(error) }
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
            owner.streamCaptured(CapturedStreams(wire, on: loop, keeping: owner.streamKeeper))
        case .end(let fault):
            let dial = dial.take()
            let wire = wire.take()
            dial?.cancel(.cancelled)
            if fault == nil { wire?.closeGently() } else { wire?.close() }
            owner.streamEnded(fault, isReadToEnd: machine.isReadToEnd)
        }
    }
}
