// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Conversations of this library's machines with sessions of nghttp2.
@Suite struct ConversationTests {
    static let rows = HTTP2Role.allCases.flatMap { role in (0..<16 as Range<UInt64>).map { (role, $0) } }

    @Test("[H-6.13] what goes between this end and nghttp2 arrives, and the windows add up", arguments: rows)
    func talk(_ role: HTTP2Role, _ seed: UInt64) throws {
        var conversation = try Conversation(role, seed: seed)
        for _ in 0..<250 { try conversation.step() }
        if seed % 4 == 0 { try conversation.leave() }
        try conversation.finish()
        Self.requireSameMessages(conversation, atLeast: 5)
        let (machine, session) = (conversation.machine, conversation.session)
        #expect(machine.streamCount == 0)
        #expect(machine.sendRoom == session.windowSize - session.takenOctets)
        // A session that is over no longer reads WINDOW_UPDATE.
        if !session.isOver { #expect(session.sendRoom == machine.receiveRoom) }
        #expect(machine.pendingWindowIncrement + machine.receiveRoom == machine.windowTarget)
        #expect(machine.receiveRoom > machine.windowTarget / 2)
    }

    @Test("what comes before the transport breaks is what was sent", arguments: rows)
    func cut(_ role: HTTP2Role, _ seed: UInt64) throws {
        var conversation = try Conversation(role, seed: seed + 1_000)
        for _ in 0..<(20 + Int(seed) * 7) { try conversation.step() }
        try conversation.cut()
        Self.requireSameMessages(conversation, atLeast: 0)
    }

    /// Checks the streams that neither end has broken: messages that have ended are complete, the others are the beginning of
    /// what was sent.
    private static func requireSameMessages(_ conversation: Conversation, atLeast least: Int) {
        var whole = 0
        for (sent, received) in [
            (conversation.ownSent, conversation.otherReceived),
            (conversation.otherSent, conversation.ownReceived),
        ] {
            for (stream, message) in received where !conversation.broken.contains(stream) {
                let original = sent[stream] ?? Conversation.Message()
                #expect(message.head == original.head, "stream \(stream)")
                #expect(message.count <= original.count, "stream \(stream)")
                guard message.isOver else { continue }
                whole += 1
                #expect(message == original, "stream \(stream)")
            }
        }
        #expect(whole >= least)
    }
}
