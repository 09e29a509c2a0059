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
        let choice = input.octet()
        var code = 200
        switch choice & 7 {
        case 0, 1, 2: code = 200
        case 3: code = 204
        case 4: code = 304
        case 5: code = 101
        default: code = 200 + Int(input.octet()) * 3
        }
        if code == 101 && !request.head.fields.contains(.upgrade) { return nil }
        // HTTP/1.0 clients get no interim responses.
        interims = request.head.version == .http10 ? 0 : Int(choice >> 3 & 1)
        closes = choice & 0x10 != 0
        let reason = choice & 0x20 != 0 ? String(decoding: input.piece(), as: UTF8.self) : nil
        body = BodyPlan(&input)
        head = ResponseHead(status: Status(code), reason: reason, fields: FieldPlan.fields(&input))
        self.request = request
    }

    /// Encodes, parses and compares.
    func goThrough(_ client: inout ClientCodec, _ server: inout ServerCodec) {
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
        var rest = wire[...]
        var content: [UInt8] = []
        var heads = 0
        var isOver = false
        var isHandover = false
        let expected = server.omitsContent ? [] : body.content
        while !isOver {
            do {
                let (event, consumed) = try client.next(rest.span)
                switch event {
                case .needMore:
                    guard rest.count == consumed else { fatalError("octets left over with needMore") }
                    let end = try client.peerClosed()
                    guard case .end = end, !server.mayContinue else {
                        fatalError("the response does not end: \(shown(wire))")
                    }
                    isOver = true
                case .interim: heads += 1
                case .head(let parsed, _, _):
                    require(heads == interims, "interim heads got lost: \(shown(wire))")
                    require(parsed.status == head.status, "another status: \(shown(wire))")
                    require(parsed.reason == head.reason, "another reason: \(shown(wire))")
                    compareFields(
                        parsed.fields, given: head.fields,
                        mayAdd: ["Content-Length", "Transfer-Encoding", "Connection"])
                case .content(let range): content += rest.dropFirst(range.lowerBound).prefix(range.count)
                case .end(let trailers):
                    let sent =
                        server.omitsContent || request.head.version == .http10 || body.announced == .none
                        ? Fields() : body.trailers
                    require(trailers == sent, "other trailers: \(shown(wire))")
                    isOver = true
                case .handover:
                    isHandover = true
                    isOver = true
                }
                rest = rest.dropFirst(consumed)
            } catch {
                fatalError("\(error) in what we encoded: \(shown(wire))")
            }
        }
        require(rest.isEmpty, "a second message: \(shown(wire))")
        require(content == expected, "other content: \(shown(wire))")
        if !isHandover && client.maySendRequest {
            require(
                server.mayContinue || !client.requestIsSent || lastByField,
                "the client would reuse what the server ends")
        }
    }

    /// Whether a field of the caller contradicts the codec's announcement about the connection.
    private var lastByField: Bool { head.fields.contains(.connection) }
}
