// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import Testing

@testable import LupineTLS

/// Tests of post-handshake messages that arrive in two pieces while the client wants to write.
@Suite struct EngineHalfMessageTests {
    /// Returns a connected pair whose tickets span several records, since they contain the client's certificate.
    private static func established() throws -> EnginePair {
        var server = try TLSServerConfiguration.test()
        server.clientCertificates = .required(
            roots: try FixtureIdentity.certificates("client-root.pem"))
        var client = TLSConfiguration.test(.v1_3)
        client.identity = try FixtureIdentity.load("client-rsa")
        let pair = try EnginePair(client, server)
        let length = 512
        try #require(
            unsafe SSL_ctrl(pair.server.connection, SSL_CTRL_SET_MAX_SEND_FRAGMENT, length, nil) == 1)
        pair.runHandshakes()
        try #require(pair.clientIsDone && pair.serverIsDone)
        return pair
    }

    /// Checks writing when the received bytes end within the second record of the first ticket.
    @Test(arguments: [534, 600, 700, 900])
    func aWriteWaitsForTheRemainderOfATicket(_ cut: Int) throws {
        let pair = try Self.established()
        let tickets = pair.toClient.takeAll()
        try #require(tickets.count > 1200)
        pair.toClient.put(Array(tickets[..<cut]))
        #expect(try pair.read(client: true) == .wouldBlock)
        // While OpenSSL is in the middle of a message, `write` takes nothing, and nothing is lost.
        #expect(try pair.client.write([1, 2, 3].span) == 0)
        #expect(!pair.client.hasPendingOutput)
        pair.toClient.put(Array(tickets[cut...]))
        #expect(try pair.transfer([1, 2, 3], fromClient: true) == [1, 2, 3])
        #expect(try pair.transfer([4], fromClient: false) == [4])
        #expect(pair.client.takeSessions().count == 2)
    }

    /// Checks that a write reports the end of the connection if OpenSSL reads the remainder of the message in that call.
    @Test func anEndWithinATicketIsReported() throws {
        let pair = try Self.established()
        let tickets = pair.toClient.takeAll()
        pair.toClient.put(Array(tickets[..<700]))
        #expect(try pair.read(client: true) == .wouldBlock)
        pair.toClient.isClosed = true
        #expect(throws: TLSError.truncated) { try pair.client.write([1].span) }
    }
}
