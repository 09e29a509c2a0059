// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Lets a client's machine and a server's machine exchange frames in random steps with fixed seeds. Each end must accept
/// everything that the other sends; in the end, the windows must account for all consumed octets.
@Suite struct ConversationTests {
    /// One end of the conversation.
    struct End {
        var machine: HTTP2Machine
        var wire: [UInt8] = []
        /// Octets of content received but not yet consumed, by stream; closed streams are included.
        var unconsumed: [StreamID: Int] = [:]
        /// Octets of content received, by stream.
        var received: [StreamID: Int] = [:]
        /// Octets of content sent, by stream.
        var sent: [StreamID: Int] = [:]
        /// The streams that the other end has ended.
        var ended: Set<StreamID> = []
        /// The streams that either end has reset, or that have failed.
        var aborted: Set<StreamID> = []

        /// Passes octets from the other end to the machine, in pieces of at most `piece` octets.
        mutating func receive(_ octets: [UInt8], piece: Int) throws(HTTP2ConnectionError) {
            var start = 0
            while start < octets.count {
                let end = min(start + piece, octets.count)
                var unread = octets[start..<end]
                while true {
                    let (event, consumed) = try machine.next(unread.span, at: .zero)
                    record(event)
                    unread = unread.dropFirst(consumed)
                    if event == .needMore { break }
                }
                start = end
            }
        }

        private mutating func record(_ event: HTTP2Event) {
            switch event {
            case .content(let stream, let range):
                unconsumed[stream, default: 0] += range.count
                received[stream, default: 0] += range.count
            case .end(let stream, _): ended.insert(stream)
            case .reset(let stream, _), .refused(let stream), .failed(let stream, _): aborted.insert(stream)
            case .needMore, .request, .interim, .response, .windowOpened, .settings, .settingsAcknowledged,
                .pong, .goAway, .priority:
                return
            }
        }

        // MARK: random steps

        mutating func send(on streams: [StreamID], _ numbers: inout SeededNumbers) {
            guard let stream = streams.randomElement(using: &numbers) else { return }
            let wanted = [0, 1, 50, 5_000, 40_000].randomElement(using: &numbers) ?? 0
            let ends = Int.random(in: 0..<4, using: &numbers) == 0
            guard let count = try? machine.sendContent(wanted, on: stream, endsStream: ends, into: &wire)
            else { return }
            wire += [UInt8](repeating: 0x78, count: count)
            sent[stream, default: 0] += count
        }

        mutating func consume(_ numbers: inout SeededNumbers) {
            let all = unconsumed.sorted { $0.key < $1.key }
            guard let (stream, count) = all.randomElement(using: &numbers) else { return }
            let part = Int.random(in: 0...count, using: &numbers)
            machine.consumed(part, on: stream)
            unconsumed[stream] = count == part ? nil : count - part
        }

        mutating func cancel(_ numbers: inout SeededNumbers) {
            guard let stream = machine.openStreams.randomElement(using: &numbers) else { return }
            machine.reset(stream, .cancel)
            aborted.insert(stream)
        }

        mutating func change(_ numbers: inout SeededNumbers) {
            var settings = machine.settings
            settings.initialWindowSize = [0, 1, 100, 65_535, 1 << 20].randomElement(using: &numbers) ?? 0
            settings.headerTableSize = [0, 64, 4_096, 10_000].randomElement(using: &numbers) ?? 0
            settings.maxFrameSize = [16_384, 20_000, 1 << 20].randomElement(using: &numbers) ?? 16_384
            settings.maxConcurrentStreams = Int.random(in: 1...20, using: &numbers)
            machine.change(settings, at: .zero)
        }

        /// Consumes all content, and ends this side of all streams.
        mutating func drain() {
            for (stream, count) in unconsumed { machine.consumed(count, on: stream) }
            unconsumed = [:]
            for stream in machine.openStreams {
                _ = try? machine.sendContent(0, on: stream, endsStream: true, into: &wire)
            }
        }
    }

    struct Conversation {
        var client: End
        var server: End
        var numbers: SeededNumbers
        var answered: Set<StreamID> = []
        private(set) var opened = 0

        init(seed: UInt64) {
            var numbers = SeededNumbers(seed: seed)
            func end(_ role: HTTP2Role) -> End {
                var settings = HTTP2Machine.defaultSettings
                settings.initialWindowSize = [0, 1, 100, 65_535, 1 << 20].randomElement(using: &numbers) ?? 0
                settings.headerTableSize = [0, 64, 4_096, 10_000].randomElement(using: &numbers) ?? 0
                settings.maxConcurrentStreams = Int.random(in: 1...20, using: &numbers)
                return End(
                    machine: HTTP2Machine(
                        role, settings: settings, window: Int.random(in: 65_535...200_000, using: &numbers),
                        limits: limits, at: .zero))
            }
            var limits = HTTP2Limits()
            // Both ends are well-behaved, but the clock stands still, so allowances are not restored.
            limits.windowUpdates = Allowance(atOnce: .max, perSecond: 0)
            limits.settings = Allowance(atOnce: .max, perSecond: 0)
            limits.resets = Allowance(atOnce: .max, perSecond: 0)
            limits.provokedResets = Allowance(atOnce: .max, perSecond: 0)
            limits.lateFrames = Allowance(atOnce: .max, perSecond: 0)
            client = end(.client)
            server = end(.server)
            self.numbers = numbers
        }

        /// Delivers to each end what the other has sent.
        mutating func deliver() throws {
            client.machine.takeOutput(into: &client.wire)
            server.machine.takeOutput(into: &server.wire)
            let piece = [13, 1_000, 100_000].randomElement(using: &numbers) ?? 1
            let (fromClient, fromServer) = (client.wire, server.wire)
            (client.wire, server.wire) = ([], [])
            try server.receive(fromClient, piece: piece)
            try client.receive(fromServer, piece: piece)
        }

        mutating func step() throws {
            switch Int.random(in: 0..<100, using: &numbers) {
            case 0..<20: open()
            case 20..<35: try answer()
            case 35..<55: client.send(on: client.machine.openStreams, &numbers)
            case 55..<75:
                let streams = server.machine.openStreams.filter { answered.contains($0) }
                server.send(on: streams, &numbers)
            case 75..<85:
                client.consume(&numbers)
                server.consume(&numbers)
            case 85..<87: client.cancel(&numbers)
            case 87..<88: server.cancel(&numbers)
            case 88..<90: client.change(&numbers)
            case 90..<92: server.change(&numbers)
            case 92: client.machine.sendPing(1)
            default: try deliver()
            }
        }

        private mutating func open() {
            var list = HeaderList()
            for (name, value) in [(":method", "POST"), (":scheme", "http"), (":authority", "a")] {
                list.append(name, value)
            }
            list.append(":path", "/\(opened % 7)")
            list.append("x-number", "\(opened % 50)")
            guard (try? client.machine.open(list, method: .post, endsStream: false)) != nil else { return }
            opened += 1
        }

        private mutating func answer() throws {
            let waiting = server.machine.openStreams.filter { !answered.contains($0) }
            guard let stream = waiting.first else { return }
            answered.insert(stream)
            var list = HeaderList()
            list.append(":status", "200")
            list.append("x-number", "\(stream.rawValue % 50)")
            try server.machine.send(list, on: stream, endsStream: false)
        }

        /// Consumes all content, and answers and ends all streams.
        mutating func finish() throws {
            for _ in 0..<2_000 {
                try deliver()
                for stream in server.machine.openStreams where !answered.contains(stream) { try answer() }
                client.drain()
                server.drain()
                if client.machine.streamCount == 0, server.machine.streamCount == 0 { break }
            }
            // One more exchange, whose header blocks announce the final table sizes.
            open()
            try deliver()
            try answer()
            for _ in 0..<4 {
                try deliver()
                client.drain()
                server.drain()
            }
        }
    }

    @Test(
        "[H-6.13] credit equals the consumed octets, and no stream is left",
        arguments: 0..<24 as Range<UInt64>)
    func conversation(_ seed: UInt64) throws {
        var conversation = Conversation(seed: seed)
        for _ in 0..<400 { try conversation.step() }
        try conversation.finish()
        let (client, server) = (conversation.client, conversation.server)
        #expect(client.machine.streamCount == 0)
        #expect(server.machine.streamCount == 0)
        #expect(conversation.opened > 3)
        for stream in server.ended.subtracting(server.aborted).subtracting(client.aborted) {
            #expect(server.received[stream, default: 0] == client.sent[stream, default: 0])
        }
        for stream in client.ended.subtracting(client.aborted).subtracting(server.aborted) {
            #expect(client.received[stream, default: 0] == server.sent[stream, default: 0])
        }
        // The credit not yet returned is less than half of a window, and none is lost.
        for (sender, receiver) in [(client.machine, server.machine), (server.machine, client.machine)] {
            #expect(sender.sendRoom == receiver.receiveRoom)
            #expect(receiver.receiveRoom > receiver.windowTarget / 2)
            #expect(receiver.pendingWindowIncrement + receiver.receiveRoom == receiver.windowTarget)
        }
        #expect(client.machine.headerTableSizes.encoder == server.machine.headerTableSizes.decoder)
        #expect(server.machine.headerTableSizes.encoder == client.machine.headerTableSizes.decoder)
    }
}
