// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A request, sent from a client's codec to a server's.
struct RequestPlan {
    let head: RequestHead
    let body: BodyPlan
    let expectsContinue: Bool

    /// Fails if a part of it is refused before the encoding.
    init?(_ input: inout FuzzInput) {
        let choice = input.readOctet()
        let targetChoice = input.readOctet()
        do {
            let names = ["GET", "HEAD", "POST", "CONNECT", "OPTIONS", "PRI", "PUT"]
            let name = Int(choice & 7) < 7 ? names[Int(choice & 7)] : Self.text(&input)
            let method = try Method(name)
            var authority: Authority?
            if choice & 8 == 0 {
                authority = try Authority(host: Self.text(&input), port: 80, defaultPort: 80)
            }
            let target: RequestTarget
            switch targetChoice & 7 {
            case 0, 1, 2: target = .origin("/" + Self.text(&input))
            case 3: target = .origin(Self.text(&input))
            case 4: target = .absolute("http:" + Self.text(&input))
            case 5: target = .absolute(Self.text(&input))
            case 6: target = .authority(try Authority(host: Self.text(&input), port: 443))
            default: target = .asterisk
            }
            expectsContinue = targetChoice & 0x10 != 0
            body = BodyPlan(&input)
            head = RequestHead(
                method: method, target: target, authority: authority,
                version: targetChoice & 0x20 != 0 ? .http10 : .http11, fields: FieldPlan.fields(&input))
        } catch {
            require(error.fault == .local, "our own octets are called the peer's fault: \(error)")
            return nil
        }
    }

    private static func text(_ input: inout FuzzInput) -> String {
        String(decoding: input.readOctets(Int(input.readOctet() & 31)), as: UTF8.self)
    }

    /// Encodes, parses and compares. Returns false if the encoder refused it.
    func sendAndCompare(_ client: inout ClientCodec, _ server: inout ServerCodec) -> Bool {
        var wire: [UInt8] = []
        do {
            try client.send(head, body: body.announced, expectContinue: expectsContinue, into: &wire)
        } catch {
            require(wire.isEmpty, "something was written and then refused")
            require(error.fault == .local, "what we encode is called the peer's fault: \(error)")
            return false
        }
        do {
            if body.announced != .none {
                for piece in body.pieces {
                    try client.sendContent(piece.count, into: &wire)
                    wire += piece
                }
                try client.sendEnd(trailers: body.trailers, into: &wire)
            }
        } catch {
            require(error.fault == .local, "what we encode is called the peer's fault: \(error)")
            return false
        }
        compare(wire, &server)
        return true
    }

    private func compare(_ wire: [UInt8], _ server: inout ServerCodec) {
        var remaining = wire[...]
        var content: [UInt8] = []
        var heads = 0
        var isOver = false
        while !isOver {
            do {
                let (event, consumed) = try server.next(remaining.span)
                switch event {
                case .needMore: fatalError("the request does not end: \(debugText(wire))")
                case .head(let parsed, let framing, _):
                    heads += 1
                    compare(parsed, wire)
                    let isFramed =
                        switch body.announced {
                        case .none, .known(0): framing == .none
                        case .known(let length): framing == .length(length)
                        case .unknown: framing == .chunked
                        }
                    require(isFramed, "\(body.announced) became \(framing): \(debugText(wire))")
                case .content(let range): content += remaining.dropFirst(range.lowerBound).prefix(range.count)
                case .end(let trailers):
                    let sent = body.announced == .none ? Fields() : body.trailers
                    require(trailers == sent, "other trailers: \(debugText(wire))")
                    isOver = true
                }
                remaining = remaining.dropFirst(consumed)
            } catch {
                fatalError("\(error) in what we encoded: \(debugText(wire))")
            }
        }
        require(heads == 1 && remaining.isEmpty, "a second message: \(debugText(wire))")
        require(content == body.content, "other content: \(debugText(wire))")
    }

    /// Requires that the given fields are the last ones parsed, after those that the encoder adds.
    private func compare(_ parsed: RequestHead, _ wire: [UInt8]) {
        require(parsed.method == head.method, "another method: \(debugText(wire))")
        require(parsed.version == head.version, "another version: \(debugText(wire))")
        require(parsed.target.description == head.target.description, "another target: \(debugText(wire))")
        switch (parsed.target, head.target) {
        case (.origin, .origin), (.absolute, .absolute), (.authority, .authority), (.asterisk, .asterisk):
            break
        case (.origin, _), (.absolute, _), (.authority, _), (.asterisk, _):
            fatalError("another form of target: \(debugText(wire))")
        }
        compareFields(
            parsed.fields, given: head.fields,
            mayAdd: ["Host", "Content-Length", "Transfer-Encoding", "Expect"])
    }
}

/// Requires that `parsed` ends in `given`, and begins only with fields that an encoder adds.
func compareFields(_ parsed: Fields, given: Fields, mayAdd names: [String]) {
    let added = parsed.count - given.count
    require(added >= 0, "fields got lost")
    for index in 0..<max(0, added) {
        require(names.contains(parsed.name(at: index)), "a field that nobody gave: \(parsed.name(at: index))")
    }
    for index in 0..<given.count {
        require(parsed.name(at: added + index) == given.name(at: index), "another name")
        let parsedValue = parsed.withValue(at: added + index) { span in span.indices.map { span[$0] } }
        let givenValue = given.withValue(at: index) { span in span.indices.map { span[$0] } }
        require(parsedValue == givenValue, "another value of \(given.name(at: index))")
    }
}

/// Returns octets as text for an error message.
func debugText(_ wire: [UInt8]) -> String { String(decoding: wire, as: UTF8.self).debugDescription }
