// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineHTTP

/// Tests that each codec reads what the other has written, wherever the octets are cut. The random exchanges have fixed seeds.
@Suite struct RoundTripTests {
    struct Message: Equatable {
        var fields: Fields
        var content: [UInt8] = []
        var trailers = Fields()
    }

    /// Generates random heads and bodies.
    struct MessageGenerator {
        var random: SeededRandom

        mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        /// Returns random octets of one of the classes of `OctetClass`.
        mutating func octets(_ class: UInt8, _ count: Int) -> [UInt8] {
            let allowed = (0...255).map(UInt8.init).filter { OctetClass.contains($0, `class`) }
            return (0..<count).map { _ in allowed[number(below: allowed.count)] }
        }

        mutating func token() throws -> String {
            let token = octets(OctetClass.token, 1 + number(below: 20))
            return token.span.text(0..<token.count)
        }

        mutating func fields(_ prefix: String) throws -> Fields {
            var fields = Fields()
            for _ in 0..<number(below: 12) {
                let value = octets(OctetClass.value, number(below: 60))
                try fields.append(FieldName(prefix + token()), value.span)
            }
            return fields
        }

        /// Returns content in up to four pieces.
        mutating func pieces() -> [[UInt8]] {
            (0..<number(below: 5)).map { _ in
                let count = number(below: 40)
                return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        }

        /// Returns no body for empty content; else a known or an unknown length, chosen at random.
        mutating func body(for content: [UInt8]) -> OutgoingBody {
            if content.isEmpty { return .none }
            return number(below: 2) == 0 ? .known(Int64(content.count)) : .unknown
        }

        /// Cuts `octets` into pieces of random lengths.
        mutating func split(_ octets: [UInt8]) -> [[UInt8]] {
            var pieces: [[UInt8]] = []
            var remaining = octets[...]
            let longest = 1 + number(below: 50)
            while !remaining.isEmpty {
                let count = min(remaining.count, 1 + number(below: longest))
                pieces.append(Array(remaining.prefix(count)))
                remaining = remaining.dropFirst(count)
            }
            return pieces
        }
    }

    @Test(arguments: UInt64(0)..<150) func exchanges(_ seed: UInt64) throws {
        var generator = MessageGenerator(random: SeededRandom(seed: seed))
        var client = ClientCodec()
        var server = ServerCodec()
        for _ in 0..<4 where client.maySendRequest {
            let method = try Method(["GET", "POST", "HEAD", "PUT", "X!"][generator.number(below: 5)])
            try transferRequest(method, &generator, &client, &server)
            try transferResponse(method, &generator, &client, &server)
            #expect(client.maySendRequest == server.mayContinue)
        }
    }

    private func transferRequest(
        _ method: Method, _ generator: inout MessageGenerator, _ client: inout ClientCodec,
        _ server: inout ServerCodec
    ) throws {
        var sent = Message(fields: try generator.fields("X-"))
        let target = generator.octets(OctetClass.target, generator.number(below: 30)).filter { $0 != 0x23 }
        let head = RequestHead(
            method: method, target: .origin("/" + target.span.text(0..<target.count)),
            authority: try Authority(host: "a.example", port: 8080), fields: sent.fields)
        let pieces = generator.pieces()
        sent.content = pieces.flatMap(\.self)
        let body = generator.body(for: sent.content)
        if body == .unknown { sent.trailers = try generator.fields("T-") }

        var wire: [UInt8] = []
        try client.send(head, body: body, into: &wire)
        if body != .none {
            for piece in pieces {
                try client.sendContent(piece.count, into: &wire)
                wire += piece
            }
            try client.sendEnd(trailers: sent.trailers, into: &wire)
        }

        var received = Message(fields: Fields())
        var hasEnded = false
        var buffer: [UInt8] = []
        for piece in generator.split(wire) {
            buffer += piece
            reading: while true {
                let (event, consumed) = try server.next(buffer.span)
                switch event {
                case .needMore: break
                case .head(let read, _, let keepAlive):
                    #expect(read.method == method)
                    #expect(read.target == head.target)
                    #expect(keepAlive)
                    received.fields = read.fields
                case .content(let range): received.content += buffer[range]
                case .end(let trailers):
                    received.trailers = trailers
                    hasEnded = true
                }
                buffer.removeFirst(consumed)
                if case .needMore = event { break reading }
            }
        }
        #expect(hasEnded && buffer.isEmpty)
        #expect(received.fields[.host] == "a.example:8080")
        for name in [FieldName.host, .contentLength, .transferEncoding] { received.fields.remove(name) }
        #expect(received == sent)
    }

    private func transferResponse(
        _ method: Method, _ generator: inout MessageGenerator, _ client: inout ClientCodec,
        _ server: inout ServerCodec
    ) throws {
        var sent = Message(fields: try generator.fields("X-"))
        let reason = generator.octets(OctetClass.value, generator.number(below: 20)).filter { $0 < 0x80 }
        let status = Status([200, 201, 204, 304, 404, 599][generator.number(below: 6)])
        let head = ResponseHead(
            status: status, reason: reason.span.text(0..<reason.count), fields: sent.fields)
        let pieces = generator.pieces()
        let content = pieces.flatMap(\.self)
        let body = generator.body(for: content)

        var wire: [UInt8] = []
        for _ in 0..<generator.number(below: 3) {
            try server.sendInterim(ResponseHead(status: Status(103)), into: &wire)
        }
        try server.send(head, body: body, close: generator.number(below: 8) == 0, into: &wire)
        if !server.omitsContent {
            sent.content = content
            if body == .unknown { sent.trailers = try generator.fields("T-") }
        }
        if body != .none {
            for piece in pieces {
                try server.sendContent(piece.count, into: &wire)
                if !server.omitsContent { wire += piece }
            }
            try server.sendEnd(trailers: sent.trailers, into: &wire)
        }

        var received = Message(fields: Fields())
        var hasEnded = false
        for piece in generator.split(wire) {
            var buffer = piece[...]
            reading: while true {
                let octets = Array(buffer)
                let (event, consumed) = try client.next(octets.span)
                switch event {
                case .needMore, .interim: break
                case .head(let read, _, let keepAlive):
                    #expect(read.status == status)
                    #expect(read.reason == head.reason)
                    #expect(keepAlive == server.mayContinue)
                    received.fields = read.fields
                case .content(let range): received.content += octets[range]
                case .end(let trailers):
                    received.trailers = trailers
                    hasEnded = true
                case .handover: Issue.record("a handover")
                }
                buffer = buffer.dropFirst(consumed)
                if case .needMore = event { break reading }
            }
            #expect(buffer.isEmpty)
        }
        #expect(hasEnded)
        for name in [FieldName.contentLength, .transferEncoding, .connection] { received.fields.remove(name) }
        #expect(received == sent)
    }
}
