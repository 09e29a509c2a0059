// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The owner of a stream's conversation. Called on its loop; implementations must not block.
protocol StreamOwner: AnyObject, Sendable {
    /// Runs a job on the delegate queue, after those posted before.
    func post(_ job: @escaping @Sendable () -> Void)
    /// Called when bytes were received or sent.
    func streamMoved(received: Int, sent: Int)
    /// Called when a half is closed.
    func streamClosed(_ half: StreamMachine.Half)
    /// Called when the streams are captured, which ends the conversation.
    func streamCaptured(_ streams: CapturedStreams)
    /// Called once when the conversation has ended and the wire is closed, except after the streams were captured. `isReadToEnd`
    /// tells whether all the peer's data was read.
    func streamEnded(_ fault: StreamFault?, isReadToEnd: Bool)
    /// An object that has to live as long as captured streams.
    var streamKeeper: (any Sendable)? { get }
    /// The error that the program gets for a fault.
    func error(for fault: StreamFault) -> any Error
}

/// Performs a stream task's operations, in the order that `StreamMachine` decides, on the loop of its wire.
final class StreamDriver: RawConnectionHandler {
    typealias Reader = @Sendable (Data?, Bool, (any Error)?) -> Void
    typealias Writer = @Sendable ((any Error)?) -> Void

    /// An operation that the program requests.
    enum Order: Sendable {
        case read(minimum: Int, maximum: Int, timeout: Interval?, Reader)
        case write([UInt8], timeout: Interval?, Writer)
        case barrier(StreamMachine.Barrier)
    }

    private let loop: EventLoop
    private let owner: any StreamOwner
    private var machine: StreamMachine
    private var dial: RawDial?
    private var wire: (any StreamWire)?
    private var readers: [Int: (handler: Reader, bytes: [UInt8])] = [:]
    private var writers: [Int: (handler: Writer, bytes: [UInt8])] = [:]
    private var timers: [StreamMachine.Half: EventLoop.TimerToken] = [:]
    private var lastID = 0
    private var isMoving = false
    private var hasChanged = false
    private let nextTurn: NextTurn
    /// The number of reads, and of writes, in the current turn.
    private var reads = 0
    private var writes = 0

    /// The most reads, or writes, before other connections of the loop get their turn.
    private static let turns = 16

    /// - Parameter writeFault: Why nothing can be written; nil if writing is possible.
    init(on loop: EventLoop, for owner: any StreamOwner, writeFault: StreamFault? = nil) {
        self.loop = loop
        nextTurn = NextTurn(on: loop)
        self.owner = owner
        machine = StreamMachine(writeFault: writeFault)
    }

    // MARK: beginning

    /// Starts a dial and waits for its connection.
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

    /// Uses this wire from now on.
    func open(_ wire: any StreamWire) {
        self.wire = wire
        wire.handler = self
        handle(.connected)
        move()
    }

    // MARK: the task's side

    /// Accepts an operation of the program's.
    func take(_ order: Order) {
        lastID += 1
        switch order {
        case .read(let minimum, let maximum, let timeout, let handler):
            readers[lastID] = (handler, [])
            handle(.read(.init(lastID, minimum: minimum, maximum: maximum, timeout: timeout)))
        case .write(let bytes, let timeout, let handler):
            writers[lastID] = (handler, bytes)
            handle(.write(.init(id: lastID, count: bytes.count, timeout: timeout)))
        case .barrier(let barrier): handle(.barrier(barrier))
        }
        move()
    }

    /// While held, no bytes are transferred.
    func setHeld(_ isHeld: Bool) {
        handle(.held(isHeld))
        move()
    }

    /// Ends the conversation with a fault.
    func fail(_ fault: StreamFault) { handle(.failed(fault)) }

    // MARK: the wire's side

    func connectionIsReady() {
        if wire?.peerIsClosing == true { handle(.peerCloses) }
        move()
    }

    func connectionIsSecure() {
        handle(.secured)
        move()
    }

    func connectionEnded(_ error: TransportError) { fail(.lost(error)) }

    // MARK: bytes

    /// Transfers bytes in both directions until nothing more can be done.
    private func move() {
        guard !isMoving else { return }
        isMoving = true
        (reads, writes) = (0, 0)
        repeat {
            hasChanged = false
            push()
            pull()
        } while hasChanged
        isMoving = false
    }

    private func push() {
        while let (id, start) = machine.writePlace, let wire, let writer = writers[id] {
            writes += 1
            if writes > Self.turns { return giveWay() }
            do throws(StreamFault) {
                if start == writer.bytes.count {
                    guard try wire.flush() else { return }
                    handle(.flushed)
                } else {
                    guard case .bytes(let count) = try wire.send(writer.bytes.span.extracting(start...))
                    else {
                        return
                    }
                    owner.streamMoved(received: 0, sent: count)
                    handle(.wrote(count))
                }
                hasChanged = true
            } catch { failWriting(error) }
        }
        // Data that TLS has buffered is sent even without a write.
        do throws(StreamFault) { _ = try wire?.flush() } catch { failWriting(error) }
    }

    private func giveWay() {
        hasChanged = false
        nextTurn.ask { self.move() }
    }

    /// A connection that accepts no more bytes may still have data to read.
    private func failWriting(_ fault: StreamFault) {
        if case .lost(.connectionLost) = fault { handle(.writeFailed(fault)) } else { fail(fault) }
    }

    private func pull() {
        guard machine.readPlace != nil else { return }
        var buffer = loop.borrowReadBuffer()
        defer { loop.giveBack(readBuffer: buffer) }
        while let (id, room) = machine.readPlace, let wire {
            reads += 1
            if reads > Self.turns { return giveWay() }
            do throws(StreamFault) {
                let outcome: ReadOutcome
                do {
                    var whole = buffer.mutableSpan
                    var space = whole._mutatingExtracting(first: min(room, whole.count))
                    outcome = try wire.receive(into: &space)
                }
                switch outcome {
                case .bytes(let count):
                    readers[id]?.bytes.append(contentsOf: buffer[..<count])
                    owner.streamMoved(received: count, sent: 0)
                    handle(.received(count))
                    hasChanged = true
                case .wouldBlock:
                    handle(.readDry)
                    // The next read may need fewer bytes.
                    if machine.readPlace?.id == id { return }
                    hasChanged = true
                case .end:
                    handle(.receivedEnd)
                    hasChanged = true
                }
            } catch { fail(error) }
        }
    }

    // MARK: what the machine wants

    private func handle(_ event: StreamMachine.Event) {
        for action in machine.handle(event, at: loop.now) { perform(action) }
    }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .finishRead(let id, let isAtEnd):
            guard let reader = readers.removeValue(forKey: id) else { return }
            // The end may come without any bytes.
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
                move()
            }
        case .cancelTimer(let half):
            if let timer = timers.removeValue(forKey: half) { loop.cancel(timer) }
        case .tellReadClosed: owner.streamClosed(.reading)
        case .tellWriteClosed: owner.streamClosed(.writing)
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
