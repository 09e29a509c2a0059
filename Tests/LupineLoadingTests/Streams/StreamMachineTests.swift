// SPDX-License-Identifier: MIT

import LupineTransport
import Testing

@testable import LupineLoading

/// The order in which the operations of a stream task are performed, and their results.
struct StreamMachineTests {
    typealias Event = StreamMachine.Event
    typealias Action = StreamMachine.Action

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        var writeFault: StreamFault?

        init(_ name: String, writeFault: StreamFault? = nil, _ steps: Step...) {
            testDescription = name
            self.steps = steps
            self.writeFault = writeFault
        }
    }

    struct Step: Sendable {
        let event: Event
        let actions: [Action]
        let second: Int64

        init(_ event: Event, at second: Int64 = 0, _ actions: Action...) {
            self.event = event
            self.actions = actions
            self.second = second
        }
    }

    private static func instant(_ second: Int64) -> Instant { .zero + .seconds(second) }

    private static func read(
        _ id: Int, _ minimum: Int = 1, _ maximum: Int = 100, timeout: Int64? = nil
    ) -> Event {
        .read(.init(id: id, minimum: minimum, maximum: maximum, timeout: timeout.map { .seconds($0) }))
    }

    private static func write(_ id: Int, _ count: Int, timeout: Int64? = nil) -> Event {
        .write(.init(id: id, count: count, timeout: timeout.map { .seconds($0) }))
    }

    private static let lost = StreamFault.connectionFailed(
        .connectionLost(host: "a", port: 1, .connectionReset))

    static let rows = [
        Row(
            "[U-7.16] operations before the connection is established wait for it",
            Step(read(1)), Step(write(2, 0)), Step(.connected, .finishWrite(2)),
            Step(.received(1)), Step(.readWouldBlock, .finishRead(1, atEnd: false))),
        Row(
            "[U-7.16] a read ends with its minimum when no more bytes are available",
            Step(.connected), Step(read(1, 4, 10)), Step(.received(3)), Step(.readWouldBlock),
            Step(.received(2)), Step(.readWouldBlock, .finishRead(1, atEnd: false))),
        Row(
            "[U-7.16] a read ends at once when it has its maximum",
            Step(.connected), Step(read(1, 1, 3)), Step(.received(3), .finishRead(1, atEnd: false))),
        Row(
            "[U-7.16] a maximum below the minimum applies",
            Step(.connected), Step(read(1, 9, 2)), Step(.received(2), .finishRead(1, atEnd: false))),
        Row(
            "[U-7.16] a read with maximum 0 ends with no bytes, and one with minimum 0 waits for a byte",
            Step(.connected), Step(read(1, 0, 0), .finishRead(1, atEnd: false)),
            Step(read(2, -1, -1), .finishRead(2, atEnd: false)), Step(read(3, 0, 5)), Step(.readWouldBlock),
            Step(.received(1)), Step(.readWouldBlock, .finishRead(3, atEnd: false))),
        Row(
            "[U-7.16] reads are served one after the other",
            Step(.connected), Step(read(1, 2, 2)), Step(read(2, 2, 2)),
            Step(.received(2), .finishRead(1, atEnd: false)),
            Step(.received(2), .finishRead(2, atEnd: false))),
        Row(
            "[U-7.16] at the end a read gets less than its minimum, and later ones get nothing",
            Step(.connected), Step(read(1, 5, 9)), Step(read(2)), Step(.received(2)),
            Step(.receivedEnd, .finishRead(1, atEnd: true), .reportReadClosed, .finishRead(2, atEnd: true)),
            Step(read(3), .finishRead(3, atEnd: true))),
        Row(
            "[U-7.16] writes are performed one after the other, each until the kernel has its bytes",
            Step(.connected), Step(write(1, 3)), Step(write(2, 1)), Step(.wrote(2)), Step(.flushed),
            Step(.wrote(1)), Step(.flushed, .finishWrite(1)), Step(.wrote(1)), Step(.flushed, .finishWrite(2))
        ),
        Row(
            "[U-7.16] a waiting read does not delay writes",
            Step(.connected), Step(read(1)), Step(write(2, 1)), Step(.wrote(1)),
            Step(.flushed, .finishWrite(2))),
        Row(
            "[U-7.16] closing the write half waits for earlier operations, and holds back later ones",
            Step(.connected), Step(read(1)), Step(write(2, 1)), Step(.barrier(.closeWrite)), Step(read(3)),
            Step(.wrote(1)), Step(.flushed, .finishWrite(2)), Step(.received(1)),
            Step(.readWouldBlock, .finishRead(1, atEnd: false), .closeWriting, .reportWriteClosed),
            Step(write(4, 1), .failWrite(4, .closed)),
            Step(.receivedEnd, .finishRead(3, atEnd: true), .reportReadClosed, .end(nil))),
        Row(
            "[U-7.16] closing the read half keeps the other; closing both ends the task",
            Step(.connected), Step(.barrier(.closeRead), .reportReadClosed),
            Step(read(1), .failRead(1, .closed)), Step(write(2, 1)), Step(.wrote(1)),
            Step(.flushed, .finishWrite(2)),
            Step(.barrier(.closeWrite), .closeWriting, .reportWriteClosed, .end(nil)),
            Step(write(3, 1), .failWrite(3, .closed))),
        Row(
            "[U-7.16] TLS starts after earlier operations, and holds back later ones",
            Step(.connected), Step(write(1, 1)), Step(.barrier(.startSecure)), Step(write(2, 1)),
            Step(.wrote(1)), Step(.flushed, .finishWrite(1), .startTLS), Step(.wrote(0)),
            Step(.secured), Step(.wrote(1)), Step(.flushed, .finishWrite(2)),
            Step(.barrier(.startSecure)),
            Step(.barrier(.stopSecure), .closeWriting, .reportWriteClosed, .reportReadClosed, .end(nil))),
        Row(
            "[U-7.16] without TLS, ending it has no effect",
            Step(.connected), Step(.barrier(.stopSecure)), Step(write(1, 0), .finishWrite(1))),
        Row(
            "[U-7.16] if TLS cannot start, nothing is sent without it",
            Step(.connected), Step(.barrier(.closeRead), .reportReadClosed), Step(write(1, 1)),
            Step(.barrier(.startSecure)), Step(write(2, 1)), Step(.wrote(1)),
            Step(.flushed, .finishWrite(1), .failWrite(2, .cannotSecure), .end(.cannotSecure))),
        Row(
            "[U-7.16] a fault during the TLS handshake fails waiting operations",
            Step(.connected), Step(.barrier(.startSecure), .startTLS), Step(read(1)),
            Step(.failed(lost), .failRead(1, lost), .end(lost)), Step(.secured)),
        Row(
            "[U-7.16] a read that times out fails, and so do the other reads; writes continue",
            Step(.connected), Step(read(1, timeout: 5), at: 1, .setTimer(.reading, instant(6))),
            Step(read(2)),
            Step(
                .timeout(.reading), .cancelTimer(.reading), .failRead(1, .timedOut), .reportReadClosed,
                .failRead(2, .timedOut)),
            Step(read(3), .failRead(3, .timedOut)), Step(write(4, 1)), Step(.wrote(1)),
            Step(.flushed, .finishWrite(4)),
            Step(.barrier(.closeWrite), .closeWriting, .reportWriteClosed, .end(.timedOut))),
        Row(
            "[U-7.16] a write that times out fails, and so do the other writes; reads continue",
            Step(.connected), Step(write(1, 9, timeout: 5), .setTimer(.writing, instant(5))), Step(.wrote(3)),
            Step(write(2, 1)),
            Step(
                .timeout(.writing), .cancelTimer(.writing), .failWrite(1, .timedOut), .reportWriteClosed,
                .failWrite(2, .timedOut)),
            Step(read(3)),
            Step(.receivedEnd, .finishRead(3, atEnd: true), .reportReadClosed, .end(.timedOut))),
        Row(
            "[U-7.16] an operation's time-out runs only while the operation is performed",
            Step(.connected), Step(read(1, 1, 1)), Step(read(2, 1, 1, timeout: 5)),
            Step(.received(1), at: 7, .finishRead(1, atEnd: false), .setTimer(.reading, instant(12))),
            Step(.received(1), at: 8, .cancelTimer(.reading), .finishRead(2, atEnd: false)),
            Step(.timeout(.reading), at: 9)),
        Row(
            "[U-6.4] while the task is suspended nothing is transferred, and no time-out runs",
            Step(.connected), Step(read(1, timeout: 5), .setTimer(.reading, instant(5))),
            Step(.suspended(true), at: 2, .cancelTimer(.reading)), Step(write(2, 0), at: 3),
            Step(.suspended(false), at: 100, .setTimer(.reading, instant(103)), .finishWrite(2))),
        Row(
            "[U-7.16] a write that is impossible fails; the peer's bytes are still read",
            Step(.connected), Step(write(1, 2)), Step(write(2, 2)),
            Step(.writeFailed(lost), .failWrite(1, lost), .reportWriteClosed, .failWrite(2, lost)),
            Step(read(3)), Step(.received(1)), Step(.readWouldBlock, .finishRead(3, atEnd: false)),
            Step(read(4)), Step(.receivedEnd, .finishRead(4, atEnd: true), .reportReadClosed, .end(lost))),
        Row(
            "[U-7.16] a fault fails all operations, also those behind barriers",
            Step(.connected), Step(read(1, timeout: 1), .setTimer(.reading, instant(1))), Step(write(2, 1)),
            Step(.barrier(.capture)), Step(read(3)), Step(write(4, 1)),
            Step(
                .failed(lost), .cancelTimer(.reading), .failRead(1, lost), .failRead(3, lost),
                .failWrite(2, lost), .failWrite(4, lost), .end(lost)),
            Step(read(5), .failRead(5, lost)), Step(.failed(.timedOut))),
        Row(
            "[U-7.16] a fault before the connection is established",
            Step(write(1, 1)), Step(.failed(lost), .failWrite(1, lost), .end(lost)), Step(.connected)),
        Row(
            "[U-7.16] the peer's closing is reported once, before its last bytes are read",
            Step(.connected), Step(.peerCloses, .reportReadClosed), Step(.peerCloses), Step(read(1)),
            Step(.received(1)), Step(.receivedEnd, .finishRead(1, atEnd: true))),
        Row(
            "[U-7.16] the streams are captured after earlier operations, and later ones are not performed",
            Step(.connected), Step(write(1, 1)), Step(.barrier(.capture)), Step(read(2)), Step(.wrote(1)),
            Step(.flushed, .finishWrite(1), .capture, .failRead(2, .closed)),
            Step(read(3), .failRead(3, .closed)), Step(write(4, 1), .failWrite(4, .closed)),
            Step(.barrier(.closeRead)), Step(.failed(lost)), Step(.peerCloses)),
        Row(
            "[U-7.16] the content of a response: reads go, writes fail, and the end is the end",
            writeFault: .readOnly,
            Step(.connected), Step(write(1, 1), .failWrite(1, .readOnly)), Step(.barrier(.closeWrite)),
            Step(read(2, 9, 9)), Step(.received(4)),
            Step(.receivedEnd, .finishRead(2, atEnd: true), .reportReadClosed, .end(nil)),
            Step(read(3), .finishRead(3, atEnd: true))),
    ]

    @Test(arguments: rows) func orderOfOperations(_ row: Row) {
        var machine = StreamMachine(writeFault: row.writeFault)
        for (index, step) in row.steps.enumerated() {
            let actions = machine.handle(step.event, at: Self.instant(step.second))
            #expect(actions == step.actions, "step \(index): \(step.event)")
        }
    }

    @Test("[U-7.16] the available bytes, and how many remain") func places() {
        var machine = StreamMachine()
        _ = machine.handle(Self.read(1, 1, 10), at: .zero)
        _ = machine.handle(Self.write(2, 5), at: .zero)
        #expect(machine.activeRead == nil && machine.activeWrite == nil)
        _ = machine.handle(.connected, at: .zero)
        _ = machine.handle(.received(4), at: .zero)
        _ = machine.handle(.wrote(2), at: .zero)
        #expect(machine.activeRead?.id == 1 && machine.activeRead?.room == 6)
        #expect(machine.activeWrite?.id == 2 && machine.activeWrite?.from == 2)
        _ = machine.handle(.suspended(true), at: .zero)
        #expect(machine.activeRead == nil && machine.activeWrite == nil)
    }
}
