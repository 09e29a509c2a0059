// SPDX-License-Identifier: MIT

import LupineHTTP

/// Feeds the octets of a `WireCase` to its codec, in any pieces, and returns the log.
///
/// It behaves like a connection: octets that the codec has not consumed stay in a buffer, before the next piece. Violations of
/// the codec's contract are logged as `contract:`, which no document expects.
package enum WireReplay {
    /// Returns the log of `bytes`, which may be more than the row's own, supplied in pieces that end at `cuts`.
    package static func log(_ row: WireCase, _ bytes: [UInt8], cuts: [Int]) -> [String] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            pieces.append(bytes[start..<cut])
            start = cut
        }
        return switch row.side {
        case .client: responses(row, pieces)
        case .server: requests(row, pieces)
        }
    }

    /// Returns the expected log when octets of another message follow the row's own; nil if they would belong to the row's
    /// message.
    package static func expected(_ row: WireCase, with trailing: [UInt8]) -> [String]? {
        let events = row.expected.filter { !$0.hasPrefix("  ") }
        switch row.side {
        case .client:
            guard let last = row.expected.last, let first = trailing.first else { return nil }
            if last.hasPrefix("handover \"") {
                return row.expected.dropLast() + [last.dropLast() + WireLog.escaped(trailing) + "\""]
            }
            guard events.last == "end" else { return nil }
            return row.expected + ["error \(HTTPError.unexpectedBytes(octet: first).evidence)"]
        case .server:
            guard events.last == "end" else { return nil }
            return row.expected + ["left \"\(WireLog.escaped(trailing))\""]
        }
    }

    // MARK: responses

    private static func responses(_ row: WireCase, _ pieces: [ArraySlice<UInt8>]) -> [String] {
        var log = WireLog()
        do {
            var codec = try codec(for: row)
            var buffer: [UInt8] = []
            var isHandedOver = false
            for piece in pieces {
                buffer += piece
                while !isHandedOver {
                    let (event, consumed) = try checked(&codec, buffer, &log)
                    isHandedOver = note(event, in: buffer, &log)
                    if case .needMore = event, consumed != buffer.count {
                        log.add("contract: \(buffer.count - consumed) octets left over")
                    }
                    buffer.removeFirst(consumed)
                    if case .needMore = event { break }
                }
            }
            if isHandedOver {
                log.add("handover \"\(WireLog.escaped(buffer))\"")
            } else if case .end = try codec.peerClosed() {
                log.add("close: end")
            }
        } catch {
            switch error {
            case .truncated: log.add("close: \(error.evidence)")
            default: log.add("error \(error.evidence)")
            }
        }
        log.flush()
        return log.lines
    }

    private static func codec(for row: WireCase) throws(HTTPError) -> ClientCodec {
        var codec = ClientCodec(limits: row.limits, leniency: row.leniency)
        var fields = Fields()
        if row.asksUpgrade {
            try fields.append(.connection, "upgrade")
            try fields.append(.upgrade, "example")
        }
        let authority = try Authority(host: "example.com", port: 80, defaultPort: 80)
        let head = RequestHead(
            method: row.method, target: row.method == .connect ? .authority(authority) : .origin("/"),
            authority: authority, fields: fields)
        var sent: [UInt8] = []
        try codec.send(head, body: .none, into: &sent)
        return codec
    }

    /// Returns the next event; an error must be thrown again by any later call.
    private static func checked(
        _ codec: inout ClientCodec, _ buffer: [UInt8], _ log: inout WireLog
    ) throws(HTTPError) -> (event: WireEvent, consumed: Int) {
        do {
            return try codec.next(buffer.span)
        } catch {
            let again: HTTPError?
            do {
                _ = try codec.next([UInt8]().span)
                again = nil
            } catch let second {
                again = second
            }
            if again != error || codec.maySendRequest { log.add("contract: the error does not stick") }
            throw error
        }
    }

    private static func note(_ event: WireEvent, in buffer: [UInt8], _ log: inout WireLog) -> Bool {
        switch event {
        case .needMore: break
        case .interim(let head): log.add(interim: head)
        case .head(let head, let framing, let keepAlive): log.add(head, framing, keepAlive: keepAlive)
        case .content(let range): log.add(content: buffer[range])
        case .end(let trailers):
            log.add("end")
            log.add(trailers)
        case .handover: return true
        }
        return false
    }

    // MARK: requests

    private static func requests(_ row: WireCase, _ pieces: [ArraySlice<UInt8>]) -> [String] {
        var log = WireLog()
        var codec = ServerCodec(limits: row.limits)
        var buffer: [UInt8] = []
        var answersLeft = row.answers
        do {
            for piece in pieces {
                buffer += piece
                while true {
                    let (event, consumed) = try codec.next(buffer.span)
                    note(event, in: buffer, &log)
                    if case .head = event, codec.continueIsExpected { log.add("expects continue") }
                    buffer.removeFirst(consumed)
                    if case .needMore = event { break }
                    if case .end = event, answersLeft > 0 {
                        answersLeft -= 1
                        var output: [UInt8] = []
                        try codec.send(ResponseHead(status: Status(204)), body: .none, into: &output)
                        log.add("answer")
                    }
                }
            }
            if !buffer.isEmpty { log.add("left \"\(WireLog.escaped(buffer))\"") }
            try codec.peerClosed()
        } catch {
            switch error {
            case .truncated: log.add("close: \(error.evidence)")
            default:
                log.add("error \(error.evidence)")
                if codec.mayContinue { log.add("contract: the connection may go on after an error") }
            }
        }
        log.flush()
        return log.lines
    }

    private static func note(_ event: RequestEvent, in buffer: [UInt8], _ log: inout WireLog) {
        switch event {
        case .needMore: break
        case .head(let head, let framing, let keepAlive): log.add(head, framing, keepAlive: keepAlive)
        case .content(let range): log.add(content: buffer[range])
        case .end(let trailers):
            log.add("end")
            log.add(trailers)
        }
    }
}
