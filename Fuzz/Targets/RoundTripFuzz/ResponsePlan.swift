// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A response, sent from a server's codec to a client's.
struct ResponsePlan {
    let head: ResponseHead
    let body: BodyPlan
    let request: RequestPlan
    private let interims: Int
    private let closes: Bool

    /// Fails if no server would send it, because the request does not allow the status.
    init?(_ input: inout FuzzInput, to request: RequestPlan) {
        let choice = input.readOctet()
        var code = 200
        switch choice & 7 {
        case 0, 1, 2: code = 200
        case 3: code = 204
        case 4: code = 304
        case 5: code = 101
        default: code = 200 + Int(input.readOctet()) * 3
        }
        if code == 101 && !request.head.fields.contains(.upgrade) { return nil }
        // HTTP/1.0 clients get no interim responses.
        interims = request.head.version == .http10 ? 0 : Int(choice >> 3 & 1)
        closes = choice & 0x10 != 0
        let reason = choice & 0x20 != 0 ? String(decoding: input.readPiece(), as: UTF8.self) : nil
        body = BodyPlan(&input)
        head = ResponseHead(status: Status(code), reason: reason, fields: FieldPlan.fields(&input))
        self.request = request
    }

    /// Encodes, parses and compares.
    func sendAndCompare(_ client: inout ClientCodec, _ server: inout ServerCodec) {
        var wire: [UInt8] = []
        do {
            for _ in 0..<interims { try server.sendInterim(ResponseHead(status: Status(103)), into: &wire) }
            let before = wire.count
            do {
                try server.send(head, body: body.announced, close: closes, into: &wire)
            } catch {
                require(wire.count == before, "something was written and then refused")
                return
            }
            if body.announced != .none {
                for piece in body.pieces {
                    try server.sendContent(piece.count, into: &wire)
                    if !server.omitsContent { wire += piece }
                }
                try server.sendEnd(trailers: body.trailers, into: &wire)
            }
        } catch {
            return
        }
        compare(wire, &client, &server)
    }

    private func compare(_ wire: [UInt8], _ client: inout ClientCodec, _ server: inout ServerCodec) {
        var remaining = wire[...]
        var content: [UInt8] = []
        var heads = 0
        var isOver = false
        var isHandover = false
        let expected = server.omitsContent ? [] : body.content
        while !isOver {
            do {
                let (event, consumed) = try client.next(remaining.span)
                switch event {
                case .needMore:
                    guard remaining.count == consumed else { fatalError("octets left over with needMore") }
                    let end = try client.peerClosed()
                    guard case .end = end, !server.mayContinue else {
                        fatalError("the response does not end: \(debugText(wire))")
                    }
                    isOver = true
                case .interim: heads += 1
                case .head(let parsed, _, _):
                    require(heads == interims, "interim heads got lost: \(debugText(wire))")
                    require(parsed.status == head.status, "another status: \(debugText(wire))")
                    require(parsed.reason == head.reason, "another reason: \(debugText(wire))")
                    compareFields(
                        parsed.fields, given: head.fields,
                        mayAdd: ["Content-Length", "Transfer-Encoding", "Connection"])
                case .content(let range): content += remaining.dropFirst(range.lowerBound).prefix(range.count)
                case .end(let trailers):
                    let sent =
                        server.omitsContent || request.head.version == .http10 || body.announced == .none
                        ? Fields() : body.trailers
                    require(trailers == sent, "other trailers: \(debugText(wire))")
                    isOver = true
                case .handover:
                    isHandover = true
                    isOver = true
                }
                remaining = remaining.dropFirst(consumed)
            } catch {
                fatalError("\(error) in what we encoded: \(debugText(wire))")
            }
        }
        require(remaining.isEmpty, "a second message: \(debugText(wire))")
        require(content == expected, "other content: \(debugText(wire))")
        if !isHandover && client.maySendRequest {
            require(
                server.mayContinue || !client.requestIsSent || hasConnectionField,
                "the client would reuse what the server ends")
        }
    }

    /// Whether the caller has set `Connection`, which may contradict the codec's announcement about the connection.
    private var hasConnectionField: Bool { head.fields.contains(.connection) }
}
