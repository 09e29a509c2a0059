// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineTransport

@Suite struct SocketTests {
    private func everything(from socket: borrowing Socket) throws -> [UInt8] {
        var received: [UInt8] = []
        while true {
            var outcome = ReadOutcome.wouldBlock
            received += try [UInt8](capacity: 4096) { output throws(Errno) in
                outcome = try socket.receive(into: &output)
            }
            if outcome == .end { return received }
        }
    }

    @Test func piecesArriveInOrder() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let one = Array("one".utf8)
        let nothing: [UInt8] = []
        let three = Array("three".utf8)
        let outcome24 = try client.send(one.span, more: true)
        #expect(outcome24 == .bytes(3))
        let outcome26 = try client.send(one.span, three.span)
        #expect(outcome26 == .bytes(8))
        let outcome28 = try client.send(one.span, nothing.span, three.span)
        #expect(outcome28 == .bytes(8))
        try client.shutdownWrite()
        #expect(String(decoding: try everything(from: server), as: UTF8.self) == "oneonethreeonethree")
        let failure32 = thrown { () throws(Errno) in _ = try client.send(one.span) }
        #expect(failure32 == Errno.brokenPipe)
    }

    @Test func receivingFillsOnlyWhatIsFree() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let message = Array("abcdef".utf8)
        let outcome41 = try server.peek()
        #expect(outcome41 == .wouldBlock)
        _ = try client.send(message.span)
        let outcome44 = try server.peek()
        #expect(outcome44 == .bytes(1))
        let first = try [UInt8](capacity: 4) { output throws(Errno) in
            output.append(UInt8(ascii: ">"))
            let outcome48 = try server.receive(into: &output)
            #expect(outcome48 == .bytes(3))
        }
        #expect(first == Array(">abc".utf8))
        var rest: [UInt8] = Array("......".utf8)
        var span = rest.mutableSpan
        let outcome54 = try server.receive(into: &span)
        #expect(outcome54 == .bytes(3))
        let outcome56 = try server.receive(into: &span)
        #expect(outcome56 == .wouldBlock)
        #expect(rest == Array("def...".utf8))
        client.close()
        let outcome60 = try server.peek()
        #expect(outcome60 == .end)
    }

    @Test func aFullSocketSaysWouldBlock() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let block = [UInt8](repeating: 7, count: 1 << 20)
        var sent = 0
        while case .bytes(let count) = try client.send(block.span) { sent += count }
        #expect(sent > 0)
        try client.shutdownWrite()
        let outcome73 = try everything(from: server).count
        #expect(outcome73 == sent)
    }

    @Test func aFileGoesOutAndComesInWithoutUs() throws {
        let path = "/tmp/lupine-socket-test-\(UInt64.random(in: 0...UInt64.max))"
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        let source = try Descriptor.writing(path: path)
        let outcome81 = try source.write(content.span)
        #expect(outcome81 == .bytes(content.count))
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let target = try Descriptor.writing(path: path + "-copy")
        let pipe = try SplicePipe()

        var offset: Int64 = 1000
        var inPipe = 0
        var arrived = 0
        var sending = true
        while arrived < content.count - 1000 {
            if sending, try client.send(file: source, offset: &offset, count: 1 << 20) == .end {
                sending = false
                #expect(offset == Int64(content.count))
            }
            if case .bytes(let count) = try pipe.fill(from: server, count: 1 << 20) { inPipe += count }
            if inPipe > 0, case .bytes(let count) = try pipe.drain(into: target, count: inPipe) {
                inPipe -= count
                arrived += count
            }
        }
        let outcome104 = try client.send(file: source, offset: &offset, count: 1)
        #expect(outcome104 == .end, "the file has no more")
        let outcome106 = try pipe.fill(from: server, count: 1)
        #expect(outcome106 == .wouldBlock)
        let copy = try Descriptor.reading(path: path + "-copy")
        let copied = try [UInt8](capacity: 400_000) { output throws(Errno) in
            while case .bytes = try copy.read(into: &output) {}
        }
        #expect(copied == Array(content[1000...]))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: path + "-copy")
    }

    @Test func optionsReachTheKernel() throws {
        let (clientEnd, _) = try connectedPair(.loopback)
        let client = clientEnd.take()
        try client.setNoDelay()
        try client.setKeepAlive(KeepAliveProbes(idle: 61, interval: 13, count: 4))
        let outcome122 = try client.option(6, 1)
        #expect(outcome122 != 0, "TCP_NODELAY")
        let outcome124 = try client.option(1, 9)
        #expect(outcome124 != 0, "SO_KEEPALIVE")
        let outcome126 = try client.option(6, 4)
        #expect(outcome126 == 61, "TCP_KEEPIDLE")
        let outcome128 = try client.option(6, 5)
        #expect(outcome128 == 13, "TCP_KEEPINTVL")
        let outcome130 = try client.option(6, 6)
        #expect(outcome130 == 4, "TCP_KEEPCNT")
    }

    /// A client that waits to connect with its first bytes must connect all the same when they are late, or never come.
    @Test func connectingWithDataNeedsNone() throws {
        let listener = try Socket.stream(for: .loopback)
        try listener.bind(to: .loopback)
        try listener.listen()
        let address = try #require(try listener.localAddress())
        let client = try Socket.stream(for: address)
        try client.setConnectsWithData()
        let quick = try client.option(6, 12)
        #expect(quick == 0, "TCP_QUICKACK")
        _ = try client.connect(to: address)
        try client.finishConnect()
        // Without bytes to carry, the packet that completes the handshake is sent after a delay.
        var server = try listener.accept()
        while server == nil { server = try listener.accept() }
        #expect(try server?.peerAddress() == client.localAddress())
    }

    @Test func nobodyListeningIsATypedError() throws {
        let unused = try Socket.stream(for: .loopback)
        try unused.bind(to: .loopback)
        let target = try #require(try unused.localAddress())
        let client = try Socket.stream(for: target)
        let refused: Errno?
        do throws(Errno) {
            if try client.connect(to: target) == .inProgress { try client.finishConnect() }
            refused = nil
        } catch {
            refused = error
        }
        #expect(refused == .connectionRefused)
        let missing = SocketAddress.unix(path: "/tmp/lupine-no-such-socket")
        let unix = try Socket.stream(for: missing)
        let failure149 = thrown { () throws(Errno) in _ = try unix.connect(to: missing) }
        #expect(failure149 == Errno.noSuchFile)
    }

    @Test func aClientBoundLocallyConnectsFromThere() throws {
        let listener = try Socket.stream(for: .loopback)
        try listener.bind(to: .loopback)
        try listener.listen()
        let target = try #require(try listener.localAddress())
        let client = try Socket.stream(for: target)
        try client.setBindAddressNoPort()
        let source = SocketAddress.ipv4(IPv4Address(rawValue: 0x7f00_0002), port: 0)
        try client.bind(to: source)
        _ = try client.connect(to: target)
        let outcome163 = try client.localAddress()?.host
        #expect(outcome163 == "127.0.0.2")
        let outcome165 = try client.peerAddress()
        #expect(outcome165 == target)
    }

    @Test func runningOutOfDescriptorsIsATypedError() {
        for error in [Errno.tooManyDescriptors, .tooManyDescriptorsInSystem] {
            SyscallFaults.inject([error], in: .socket)
            do throws(Errno) {
                _ = try Socket.stream(for: .loopback)
                Issue.record("the fault was not met")
            } catch {
                #expect(TransportError(connecting: .loopback, error) == .outOfDescriptors(error))
            }
        }
        #expect(
            TransportError(connecting: .loopback, .connectionRefused)
                == .connect(to: .loopback, .connectionRefused))
    }

    /// Plants interruptions and refusals in the calls that transfer bytes or create something: interruptions are retried,
    /// refusals thrown.
    @Test func interruptionsAreRetriedAndRefusalsThrown() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let byte: [UInt8] = [1]

        SyscallFaults.inject([.interrupted, .interrupted], in: .send)
        let outcome192 = try client.send(byte.span)
        #expect(outcome192 == .bytes(1))
        SyscallFaults.inject([.wouldBlock, .connectionReset], in: .send)
        let outcome195 = try client.send(byte.span, byte.span)
        #expect(outcome195 == .wouldBlock)
        let failure197 = thrown { () throws(Errno) in _ = try client.send(byte.span) }
        #expect(failure197 == Errno.connectionReset)

        SyscallFaults.inject([.interrupted], in: .receive)
        let outcome201 = try server.peek()
        #expect(outcome201 == .bytes(1))
        SyscallFaults.inject([.interrupted, .noMemory], in: .receive)
        let failure204 = thrown { () throws(Errno) in _ = try server.peek() }
        #expect(failure204 == Errno.noMemory)

        SyscallFaults.inject([.connectionAborted, .tooManyDescriptors], in: .accept)
        let failure208 = thrown { () throws(Errno) in _ = try server.accept() }
        #expect(failure208 == Errno.tooManyDescriptors)
        SyscallFaults.inject([.wouldBlock], in: .accept)
        switch try server.accept() {
        case .none: break
        case .some: Issue.record("nobody connected")
        }

        SyscallFaults.inject([.noMemory], in: .peerAddress)
        #expect(SyscallFaults.removeUnused(.peerAddress) == 1)
        let outcome218 = try client.peerAddress()
        let expected = try server.localAddress()
        #expect(outcome218 == expected)
    }
}
