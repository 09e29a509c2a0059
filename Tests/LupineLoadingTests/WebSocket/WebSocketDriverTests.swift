// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// The client side of a WebSocket connection, against a server's codec in memory.
struct WebSocketDriverTests {
    private static func open(
        limit: Int = 1 << 20, deflate: DeflateAgreement? = nil, acceptsMessages: Bool = true
    ) -> Scene { Scene(limit: limit, deflate: deflate, acceptsMessages: acceptsMessages) }

    private static func text(_ text: String) -> WebSocketMessage { WebSocketMessage(.text, Array(text.utf8)) }

    @Test("[U-8.5] each frame is masked with a fresh key") func masked() throws {
        let scene = Self.open()
        #expect(scene.client.send(Self.text("hello"), number: 1))
        let first = scene.wire.takeSent()
        #expect(scene.client.send(Self.text("hello"), number: 2))
        let second = scene.wire.takeSent()
        #expect(first[1] & 0x80 != 0 && first.count == 11 && first != second)
        #expect(
            try scene.server(first + second) == [.message(Self.text("hello")), .message(Self.text("hello"))])
    }

    @Test("[U-8.4] a send is reported when it has been written", arguments: [true, false]) func written(
        _ atOnce: Bool
    ) {
        let scene = Self.open()
        scene.wire.isFull = !atOnce
        #expect(scene.client.send(Self.text("a"), number: 1))
        #expect(scene.client.send(Self.text("b"), number: 2))
        #expect(scene.owner.written.withLock { $0 } == (atOnce ? [1, 2] : []))
        scene.client.drained()
        #expect(scene.owner.written.withLock { $0 } == (atOnce ? [1, 2] : [2]))
    }

    @Test("[U-8.5] fragments are joined, cut at every byte, also with control frames between them")
    func fragments() throws {
        var bytes: [UInt8] = []
        let scene = Self.open()
        scene.server.send(.text, Array("hel".utf8).span, isFinal: false, mask: nil, into: &bytes)
        scene.server.sendPing(Array("p".utf8).span, mask: nil, into: &bytes)
        scene.server.send(.text, Array("lo".utf8).span, mask: nil, into: &bytes)
        for cut in 0...bytes.count {
            let scene = Self.open()
            _ = scene.client.received(Array(bytes[..<cut]).span)
            _ = scene.client.received(Array(bytes[cut...]).span)
            #expect(scene.owner.messages.withLock { $0 } == [Self.text("hello")], "cut at \(cut)")
            #expect(try scene.server(scene.wire.takeSent()) == [.pong(Array("p".utf8))], "cut at \(cut)")
        }
    }

    /// Octets that cannot be compressed, so the message remains long.
    private static let long: [UInt8] = {
        var random = SeededRandom(seed: 1)
        return (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    private func compressed(_ scene: Scene, _ octets: [UInt8], behind tail: [UInt8] = []) throws -> [UInt8] {
        var coded: [UInt8] = []
        var bytes: [UInt8] = []
        try MessageDeflater(windowBits: 15, keepsContext: false).deflate(octets.span, into: &coded)
        coded += tail
        scene.server.send(.binary, coded.span, isCompressed: true, mask: nil, into: &bytes)
        return bytes
    }

    @Test(
        "[U-8.5] a message that takes long to decompress yields, and later bytes wait",
        arguments: [0, 1, 2])
    func givesWay(_ kind: Int) throws {
        let scene = Self.open(deflate: DeflateAgreement())
        scene.wire.isLate = true
        var bytes = try compressed(scene, Self.long)
        scene.server.send(.text, Array("b".utf8).span, mask: nil, into: &bytes)
        let demand = scene.client.received(bytes.span)
        guard case .pause = demand else {
            Issue.record("it goes on reading")
            return
        }
        var more: [UInt8] = []
        scene.server.send(.text, Array("c".utf8).span, mask: nil, into: &more)
        _ = scene.client.received(more.span)
        if kind == 1 { scene.client.pause() }
        if kind == 2 {
            scene.client.pause()
            scene.client.resume()
        }
        var turns = 0
        while let step = scene.wire.steps.popLast() {
            #expect(scene.owner.messages.withLock { $0.isEmpty } && scene.wire.resumes == 0)
            step()
            turns += 1
        }
        #expect(turns == 6)
        let large = WebSocketMessage(.binary, Self.long)
        if kind == 1 {
            #expect(scene.owner.messages.withLock { $0 } == [large] && scene.wire.resumes == 0)
            scene.client.resume()
        }
        #expect(scene.owner.messages.withLock { $0 } == [large, Self.text("b"), Self.text("c")])
        #expect(scene.wire.resumes == 1)
    }

    @Test("[U-8.5] an error at the end of a message that takes long to decompress fails the connection")
    func wrongAtItsEnd() throws {
        let scene = Self.open(deflate: DeflateAgreement())
        scene.wire.isLate = true
        // A block of an invalid type (RFC 1951 §3.2.3).
        let bytes = try compressed(scene, Self.long, behind: [0xFF, 0xFF])
        _ = scene.client.received(bytes.span)
        #expect(scene.wire.takeSent().isEmpty && !scene.wire.steps.isEmpty)
        while let step = scene.wire.steps.popLast() { step() }
        #expect(scene.owner.messages.withLock { $0.isEmpty })
        guard case .close? = try scene.server(scene.wire.takeSent()).first else {
            Issue.record("the peer hears nothing of it")
            return
        }
    }

    @Test("[U-8.9] unwanted messages are not decompressed") func dropped() throws {
        let scene = Self.open(deflate: DeflateAgreement())
        scene.owner.demand.withLock { $0 = .enough }
        var bytes: [UInt8] = []
        scene.server.send(.text, Array("a".utf8).span, mask: nil, into: &bytes)
        // Octets that are not deflate data.
        for _ in 0..<3 {
            scene.server.send(.text, [0xFF, 0xFF].span, isCompressed: true, mask: nil, into: &bytes)
        }
        scene.server.sendPing(Array("p".utf8).span, mask: nil, into: &bytes)
        _ = scene.client.received(bytes.span)
        #expect(scene.owner.messages.withLock { $0 } == [Self.text("a")])
        #expect(scene.owner.outcomes.withLock { $0.isEmpty } && !scene.wire.isClosed)
        #expect(try scene.server(scene.wire.takeSent()) == [.pong(Array("p".utf8))])
    }

    @Test("[U-8.7] of several pings in one read the last is answered, also before a close")
    func pingsAtOnce() throws {
        for closes in [false, true] {
            let scene = Self.open()
            var bytes: [UInt8] = []
            for name in ["1", "2", "3"] {
                scene.server.sendPing(Array(name.utf8).span, mask: nil, into: &bytes)
            }
            if closes {
                _ = scene.server.close(
                    .close(try WebSocketCloseFrame(WebSocketCloseCode(rawValue: 4001))), mask: nil,
                    into: &bytes)
            }
            _ = scene.client.received(bytes.span)
            let events = try scene.server(scene.wire.takeSent())
            #expect(events.first == .pong(Array("3".utf8)) && events.count == (closes ? 2 : 1))
        }
    }

    @Test("[U-8.7] while output waits, only the last ping is answered") func manyPings() throws {
        let scene = Self.open()
        scene.wire.isFull = true
        _ = scene.client.send(Self.text("long"), number: 1)
        var bytes: [UInt8] = []
        for name in ["1", "2", "3"] { scene.server.sendPing(Array(name.utf8).span, mask: nil, into: &bytes) }
        _ = scene.client.received(bytes.span)
        scene.wire.isFull = false
        scene.client.drained()
        #expect(
            try scene.server(scene.wire.takeSent()) == [.message(Self.text("long")), .pong(Array("3".utf8))])
    }

    @Test("a pong is reported") func pong() {
        let scene = Self.open()
        var bytes: [UInt8] = []
        scene.server.sendPong([UInt8]().span, mask: nil, into: &bytes)
        _ = scene.client.received(bytes.span)
        #expect(scene.owner.pongs.withLock { $0 } == 1)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let code: UInt16
        var deflates = false
    }

    static let faults = [
        Fault(testDescription: "[U-8.5] a masked frame", bytes: [0x81, 0x81, 1, 2, 3, 4, 5], code: 1002),
        Fault(testDescription: "[U-8.5] a reserved bit", bytes: [0xC1, 0x00], code: 1002),
        Fault(testDescription: "[U-8.5] a reserved opcode", bytes: [0x83, 0x00], code: 1002),
        Fault(
            testDescription: "[U-8.5] a control frame of 126 bytes", bytes: [0x89, 0x7E, 0, 126], code: 1002),
        Fault(testDescription: "[U-8.5] a fragmented control frame", bytes: [0x09, 0x00], code: 1002),
        Fault(testDescription: "[U-8.5] text that is not UTF-8", bytes: [0x81, 0x01, 0xFF], code: 1007),
        Fault(
            testDescription: "[U-8.6] a message over the limit", bytes: [0x82, 0x7E, 0x04, 0x01], code: 1009),
        Fault(
            testDescription: "[U-8.5] a message that does not decompress", bytes: [0xC1, 0x01, 0xFF],
            code: 1007,
            deflates: true),
    ]

    @Test(arguments: faults) func aProtocolErrorClosesWithItsCode(_ fault: Fault) throws {
        let scene = Self.open(limit: 1024, deflate: fault.deflates ? DeflateAgreement() : nil)
        _ = scene.client.received(fault.bytes.span)
        let code = WebSocketCloseCode(rawValue: fault.code)
        #expect(try scene.server(scene.wire.takeSent()) == [.close(try WebSocketCloseFrame(code))])
        #expect(scene.wire.isClosed)
        guard case .failed? = scene.owner.outcomes.withLock({ $0 }).first else {
            Issue.record("\(scene.owner.outcomes.withLock { $0 })")
            return
        }
        #expect(scene.owner.messages.withLock { $0 }.isEmpty && !scene.client.ping())
    }

    @Test("[U-8.6] the limit applies to the decompressed length", arguments: [1024, 1025])
    func decompressedLimit(_ size: Int) throws {
        let scene = Self.open(limit: 1024, deflate: DeflateAgreement())
        var compressed: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: size)
        try MessageDeflater().deflate(zeros.span, into: &compressed)
        var bytes: [UInt8] = []
        scene.server.send(.binary, compressed.span, isCompressed: true, mask: nil, into: &bytes)
        _ = scene.client.received(bytes.span)
        if size > 1024 {
            #expect(scene.owner.outcomes.withLock { $0 } == [.failed(.messageTooBig(limit: 1024))])
        } else {
            #expect(scene.owner.messages.withLock { $0 } == [WebSocketMessage(.binary, zeros)])
        }
    }

    @Test("messages are compressed if that was negotiated and saves bytes") func compresses() throws {
        let scene = Self.open(deflate: DeflateAgreement())
        let long = String(repeating: "lupine ", count: 100)
        _ = scene.client.send(Self.text(long), number: 1)
        let sent = scene.wire.takeSent()
        #expect(sent.count < 100)
        guard case .message(let message)? = try scene.server(sent).first, message.isCompressed else {
            Issue.record("it was sent as it is")
            return
        }
        let inflated = try MessageInflater().inflate(message.octets.span, limit: 1 << 20)
        #expect(String(decoding: inflated, as: UTF8.self) == long)
    }

    @Test("[U-8.4] unsent messages are not reported as written, and the peer's frames still count")
    func lastWords() throws {
        let scene = Self.open()
        scene.wire.isBroken = true
        #expect(scene.client.send(Self.text("a"), number: 1))
        let closure = try WebSocketCloseFrame(WebSocketCloseCode(rawValue: 4001), reason: Array("bye".utf8))
        var bytes: [UInt8] = []
        scene.server.sendPing(Array("p".utf8).span, mask: nil, into: &bytes)
        _ = scene.server.close(.close(closure), mask: nil, into: &bytes)
        _ = scene.client.received(bytes.span)
        scene.client.closed(.connectionLost(host: "h", port: 1, .brokenPipe))
        #expect(scene.owner.outcomes.withLock { $0 } == [.peerClosed(closure)])
        #expect(scene.owner.written.withLock { $0 } == [])
        #expect(scene.wire.isClosed && scene.wire.timer == nil)
    }

    @Test("[U-8.8] the peer's close frame is answered with the same code") func peerCloses() throws {
        let scene = Self.open()
        let closure = try WebSocketCloseFrame(WebSocketCloseCode(rawValue: 4001), reason: Array("bye".utf8))
        var bytes: [UInt8] = []
        _ = scene.server.close(.close(closure), mask: nil, into: &bytes)
        _ = scene.client.received(bytes.span)
        let answer = try scene.server(scene.wire.takeSent())
        #expect(answer == [.close(try WebSocketCloseFrame(WebSocketCloseCode(rawValue: 4001)))])
        #expect(scene.owner.outcomes.withLock { $0 } == [.peerClosed(closure)])
        // The server closes the connection; otherwise the timer does.
        #expect(!scene.wire.isClosed && scene.wire.timer != nil)
        scene.wire.timer?()
        #expect(scene.wire.isClosed)
        #expect(scene.owner.outcomes.withLock { $0 }.count == 1)
    }

    @Test(
        "[U-8.9] after our close frame the driver waits for the peer's, up to a time-out",
        arguments: [true, false])
    func weClose(_ isAnswered: Bool) throws {
        let scene = Self.open()
        let closure = try WebSocketCloseFrame(.goingAway, reason: Array("done".utf8))
        _ = scene.client.send(Self.text("last"), number: 1)
        scene.client.close(closure)
        #expect(try scene.server(scene.wire.takeSent()) == [.message(Self.text("last")), .close(closure)])
        #expect(!scene.client.send(Self.text("late"), number: 2))
        #expect(scene.owner.outcomes.withLock { $0 }.isEmpty)
        var bytes: [UInt8] = []
        _ = scene.server.close(.received(closure), mask: nil, into: &bytes)
        if isAnswered { _ = scene.client.received(bytes.span) } else { scene.wire.timer?() }
        let answer = isAnswered ? try WebSocketCloseFrame(.goingAway) : nil
        #expect(scene.owner.outcomes.withLock { $0 } == [.locallyClosed(closure, answer: answer)])
    }

    @Test("[U-8.11] a connection that closes without a close frame is lost") func lost() {
        let scene = Self.open()
        scene.client.closed(.connectionLost(host: "a", port: 1, .connectionReset))
        #expect(scene.owner.outcomes.withLock { $0 } == [.lost])
        scene.client.closed(nil)
        #expect(scene.owner.outcomes.withLock { $0 }.count == 1)
    }

    @Test("[U-8.10] an aborted driver reports nothing") func aborted() {
        let scene = Self.open()
        scene.client.abort()
        #expect(scene.wire.isClosed && scene.wire.takeSent().isEmpty)
        #expect(scene.owner.outcomes.withLock { $0 }.isEmpty)
    }

    @Test("an owner that answers `.enough` stops reading, and no message is lost") func pauses() {
        let scene = Self.open(acceptsMessages: false)
        var bytes: [UInt8] = []
        for name in ["1", "2", "3"] {
            scene.server.send(.text, Array(name.utf8).span, mask: nil, into: &bytes)
        }
        guard case .pause = scene.client.received(bytes.span) else {
            Issue.record("it reads on")
            return
        }
        #expect(scene.owner.messages.withLock { $0 } == [Self.text("1")])
        scene.client.resume()
        #expect(scene.owner.messages.withLock { $0 } == [Self.text("1"), Self.text("2")])
        #expect(scene.wire.resumes == 0)
        scene.owner.acceptsMessages.withLock { $0 = true }
        scene.client.resume()
        #expect(scene.owner.messages.withLock { $0 }.count == 3 && scene.wire.resumes == 1)
    }
}

/// A driver with its wire and owner, and a server's codec.
private final class Scene {
    let wire = MemoryWire()
    let owner: RecordingOwner
    let client: WebSocketDriver
    var server = WebSocketCodec(.server, allowsCompression: true)

    init(limit: Int, deflate: DeflateAgreement?, acceptsMessages: Bool) {
        owner = RecordingOwner(acceptsMessages: acceptsMessages)
        client = WebSocketDriver(
            over: wire, WebSocketAgreement(deflate: deflate), messageLimit: limit, owner: owner)
    }

    /// Returns the events that a server reads from these bytes.
    func server(_ bytes: [UInt8]) throws -> [WebSocketEvent] {
        var events: [WebSocketEvent] = []
        var start = 0
        while true {
            let (event, consumed) = try server.next(bytes.span.extracting(start...))
            if event == .needMore { return events }
            start += consumed
            events.append(event)
        }
    }
}

private final class MemoryWire: WebSocketWire {
    private var sent: [UInt8] = []
    var isFull = false
    /// True if sending fails.
    var isBroken = false
    var isClosed = false
    var resumes = 0
    var timer: (() -> Void)?

    func takeSent() -> [UInt8] {
        defer { sent = [] }
        return sent
    }

    func send(_ bytes: [UInt8]) -> Int? {
        if isBroken { return nil }
        sent += bytes
        return isFull ? bytes.count : 0
    }
    func resume() { resumes += 1 }
    var isLate = false
    var steps: [() -> Void] = []
    func runInNextTurn(_ step: @escaping () -> Void) { steps.append(step) }
    func close() { isClosed = true }
    func startTimer(_ body: @escaping () -> Void) { timer = body }
    func cancelTimer() { timer = nil }
}

private final class RecordingOwner: WebSocketOwner {
    let acceptsMessages: Lock<Bool>
    let messages = Lock<[WebSocketMessage]>([])
    let pongs = Lock(0)
    let written = Lock<[Int]>([])
    let outcomes = Lock<[WebSocketClosing.Outcome]>([])

    /// The demand that is returned for the next messages instead, if any.
    let demand = Lock<Demand?>(nil)

    init(acceptsMessages: Bool) { self.acceptsMessages = Lock(acceptsMessages) }

    func webSocketReceived(_ message: WebSocketMessage) -> Demand {
        messages.withLock { $0.append(message) }
        if let demand = demand.withLock({ $0 }) { return demand }
        return acceptsMessages.withLock { $0 } ? .more : .pause
    }
    func webSocketReceivedPong() { pongs.withLock { $0 += 1 } }
    func webSocketWrote(through number: Int) { written.withLock { $0.append(number) } }
    func webSocketEnded(_ outcome: WebSocketClosing.Outcome, _ error: TransportError?) {
        outcomes.withLock { $0.append(outcome) }
    }
}
