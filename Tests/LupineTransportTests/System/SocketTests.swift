// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineTransport

@Suite struct SocketTests {
    private func readToEnd(from socket: borrowing Socket) throws -> [UInt8] {
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
        let firstSend = try client.send(one.span, more: true)
        #expect(firstSend == .bytes(3))
        let secondSend = try client.send(one.span, three.span)
        #expect(secondSend == .bytes(8))
        let thirdSend = try client.send(one.span, nothing.span, three.span)
        #expect(thirdSend == .bytes(8))
        try client.shutdownWrite()
        #expect(String(decoding: try readToEnd(from: server), as: UTF8.self) == "oneonethreeonethree")
        let sendError = thrown { () throws(Errno) in _ = try client.send(one.span) }
        #expect(sendError == Errno.brokenPipe)
    }

    @Test func receivingFillsOnlyTheFreeCapacity() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let message = Array("abcdef".utf8)
        let emptyPeek = try server.peek()
        #expect(emptyPeek == .wouldBlock)
        _ = try client.send(message.span)
        let peek = try server.peek()
        #expect(peek == .bytes(1))
        let first = try [UInt8](capacity: 4) { output throws(Errno) in
            output.append(UInt8(ascii: ">"))
            let firstReceive = try server.receive(into: &output)
            #expect(firstReceive == .bytes(3))
        }
        #expect(first == Array(">abc".utf8))
        var rest: [UInt8] = Array("......".utf8)
        var span = rest.mutableSpan
        let secondReceive = try server.receive(into: &span)
        #expect(secondReceive == .bytes(3))
        let thirdReceive = try server.receive(into: &span)
        #expect(thirdReceive == .wouldBlock)
        #expect(rest == Array("def...".utf8))
        client.close()
        let finalPeek = try server.peek()
        #expect(finalPeek == .end)
    }

    @Test func aFullSocketWouldBlock() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let block = [UInt8](repeating: 7, count: 1 << 20)
        var sent = 0
        while case .bytes(let count) = try client.send(block.span) { sent += count }
        #expect(sent > 0)
        try client.shutdownWrite()
        let receivedCount = try readToEnd(from: server).count
        #expect(receivedCount == sent)
    }

    @Test func theKernelSendsAndReceivesAFile() throws {
        let path = "/tmp/lupine-socket-test-\(UInt64.random(in: 0...UInt64.max))"
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        let source = try Descriptor.writing(path: path)
        let written = try source.write(content.span)
        #expect(written == .bytes(content.count))
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
        let sendAtEnd = try client.send(file: source, offset: &offset, count: 1)
        #expect(sendAtEnd == .end, "the file has no more")
        let fillWhenEmpty = try pipe.fill(from: server, count: 1)
        #expect(fillWhenEmpty == .wouldBlock)
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
        let noDelay = try client.option(6, 1)
        #expect(noDelay != 0, "TCP_NODELAY")
        let keepAlive = try client.option(1, 9)
        #expect(keepAlive != 0, "SO_KEEPALIVE")
        let keepIdle = try client.option(6, 4)
        #expect(keepIdle == 61, "TCP_KEEPIDLE")
        let keepInterval = try client.option(6, 5)
        #expect(keepInterval == 13, "TCP_KEEPINTVL")
        let keepCount = try client.option(6, 6)
        #expect(keepCount == 4, "TCP_KEEPCNT")
    }

    /// A client that waits to connect with its first bytes must also connect if they are late or never sent.
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

    @Test func aRefusedConnectIsATypedError() throws {
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
        let connectError = thrown { () throws(Errno) in _ = try unix.connect(to: missing) }
        #expect(connectError == Errno.noSuchFile)
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
        let localHost = try client.localAddress()?.host
        #expect(localHost == "127.0.0.2")
        let peer = try client.peerAddress()
        #expect(peer == target)
    }

    @Test func runningOutOfDescriptorsIsATypedError() {
        for error in [Errno.tooManyDescriptors, .tooManyDescriptorsInSystem] {
            SyscallFaults.inject([error], in: .socket)
            do throws(Errno) {
                _ = try Socket.stream(for: .loopback)
                Issue.record("the injected fault was not used")
            } catch {
                #expect(TransportError(connecting: .loopback, error) == .outOfDescriptors(error))
            }
        }
        #expect(
            TransportError(connecting: .loopback, .connectionRefused)
                == .connect(to: .loopback, .connectionRefused))
    }

    /// Injects interruptions and refusals in the calls that transfer bytes or create something: interruptions are retried,
    /// refusals thrown.
    @Test func interruptionsAreRetriedAndRefusalsThrown() throws {
        let (clientEnd, serverEnd) = try connectedPair(.loopback)
        let client = clientEnd.take()
        let server = serverEnd.take()
        let byte: [UInt8] = [1]

        SyscallFaults.inject([.interrupted, .interrupted], in: .send)
        let interruptedSend = try client.send(byte.span)
        #expect(interruptedSend == .bytes(1))
        SyscallFaults.inject([.wouldBlock, .connectionReset], in: .send)
        let blockedSend = try client.send(byte.span, byte.span)
        #expect(blockedSend == .wouldBlock)
        let sendError = thrown { () throws(Errno) in _ = try client.send(byte.span) }
        #expect(sendError == Errno.connectionReset)

        SyscallFaults.inject([.interrupted], in: .receive)
        let interruptedPeek = try server.peek()
        #expect(interruptedPeek == .bytes(1))
        SyscallFaults.inject([.interrupted, .noMemory], in: .receive)
        let peekError = thrown { () throws(Errno) in _ = try server.peek() }
        #expect(peekError == Errno.noMemory)

        SyscallFaults.inject([.connectionAborted, .tooManyDescriptors], in: .accept)
        let acceptError = thrown { () throws(Errno) in _ = try server.accept() }
        #expect(acceptError == Errno.tooManyDescriptors)
        SyscallFaults.inject([.wouldBlock], in: .accept)
        switch try server.accept() {
        case .none: break
        case .some: Issue.record("a connection was accepted")
        }

        SyscallFaults.inject([.noMemory], in: .peerAddress)
        #expect(SyscallFaults.removeUnused(.peerAddress) == 1)
        let peerAddress = try client.peerAddress()
        let expected = try server.localAddress()
        #expect(peerAddress == expected)
    }
}
