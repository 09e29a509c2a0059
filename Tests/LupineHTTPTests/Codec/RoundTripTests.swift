// SPDX-License-Identifier: MIT

import LupineTestKit
import Testing

@testable import LupineHTTP

/// Tests that each side reads what the other has written, however it is cut: random exchanges, the same in every run.
@Suite struct RoundTripTests {
    struct Message: Equatable {
        var fields: Fields
        var content: [UInt8] = []
        var trailers = Fields()
    }

    /// Generates random heads and bodies.
    struct Maker {
        var random: SeededRandom

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        mutating func octets(_ class: UInt8, _ count: Int) -> [UInt8] {
            let choice = (0...255).map(UInt8.init).filter { OctetClass.contains($0, `class`) }
            return (0..<count).map { _ in choice[below(choice.count)] }
        }

        mutating func token() throws -> String {
            let token = octets(OctetClass.token, 1 + below(20))
            return token.span.text(0..<token.count)
        }

        mutating func fields(_ prefix: String) throws -> Fields {
            var fields = Fields()
            for _ in 0..<below(12) {
                let value = octets(OctetClass.value, below(60))
                try fields.append(FieldName(prefix + token()), value.span)
            }
            return fields
        }

        mutating func pieces() -> [[UInt8]] {
            (0..<below(5)).map { _ in
                let count = below(40)
                return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
        }

        mutating func cut(_ octets: [UInt8]) -> [[UInt8]] {
            var pieces: [[UInt8]] = []
            var rest = octets[...]
            let longest = 1 + below(50)
            while !rest.isEmpty {
                let count = min(rest.count, 1 + below(longest))
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return pieces
        }
    }

    @Test(arguments: UInt64(0)..<150) func exchanges(_ seed: UInt64) throws {
        var maker = Maker(random: SeededRandom(seed: seed))
        var client = ClientCodec()
        var server = ServerCodec()
        for _ in 0..<4 where client.maySendRequest {
            let method = try Method(["GET", "POST", "HEAD", "PUT", "X!"][maker.below(5)])
            try request(method, &maker, &client, &server)
            try response(method, &maker, &client, &server)
            #expect(client.maySendRequest == server.mayContinue)
        }
    }

    private func request(
        _ method: Method, _ maker: inout Maker, _ client: inout ClientCodec, _ server: inout ServerCodec
    ) throws {
        var sent = Message(fields: try maker.fields("X-"))
        let target = maker.octets(OctetClass.target, maker.below(30)).filter { $0 != 0x23 }
        let head = RequestHead(
            method: method, target: .origin("/" + target.span.text(0..<target.count)),
            authority: try Authority(host: "a.example", port: 8080), fields: sent.fields)
        let pieces = maker.pieces()
        sent.content = pieces.flatMap(\.self)
        let body: OutgoingBody =
            sent.content.isEmpty ? .none : maker.below(2) == 0 ? .known(Int64(sent.content.count)) : .unknown
        if body == .unknown { sent.trailers = try maker.fields("T-") }

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
        var isOver = false
        var buffer: [UInt8] = []
        for piece in maker.cut(wire) {
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
                    isOver = true
                }
                buffer.removeFirst(consumed)
                if case .needMore = event { break reading }
            }
        }
        #expect(isOver && buffer.isEmpty)
        #expect(received.fields[.host] == "a.example:8080")
        for name in [FieldName.host, .contentLength, .transferEncoding] { received.fields.remove(name) }
        #expect(received == sent)
    }

    private func response(
        _ method: Method, _ maker: inout Maker, _ client: inout ClientCodec, _ server: inout ServerCodec
    ) throws {
        var sent = Message(fields: try maker.fields("X-"))
        let reason = maker.octets(OctetClass.value, maker.below(20)).filter { $0 < 0x80 }
        let status = Status([200, 201, 204, 304, 404, 599][maker.below(6)])
        let head = ResponseHead(
            status: status, reason: reason.span.text(0..<reason.count), fields: sent.fields)
        let pieces = maker.pieces()
        let content = pieces.flatMap(\.self)
        let body: OutgoingBody =
            content.isEmpty ? .none : maker.below(2) == 0 ? .known(Int64(content.count)) : .unknown

        var wire: [UInt8] = []
        for _ in 0..<maker.below(3) {
            try server.sendInterim(ResponseHead(status: Status(103)), into: &wire)
        }
        try server.send(head, body: body, close: maker.below(8) == 0, into: &wire)
        if !server.omitsContent {
            sent.content = content
            if body == .unknown { sent.trailers = try maker.fields("T-") }
        }
        if body != .none {
            for piece in pieces {
                try server.sendContent(piece.count, into: &wire)
                if !server.omitsContent { wire += piece }
            }
            try server.sendEnd(trailers: sent.trailers, into: &wire)
        }

        var received = Message(fields: Fields())
        var isOver = false
        for piece in maker.cut(wire) {
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
                    isOver = true
                case .handover: Issue.record("a handover")
                }
                buffer = buffer.dropFirst(consumed)
                if case .needMore = event { break reading }
            }
            #expect(buffer.isEmpty)
        }
        #expect(isOver)
        for name in [FieldName.contentLength, .transferEncoding, .connection] { received.fields.remove(name) }
        #expect(received == sent)
    }
}
