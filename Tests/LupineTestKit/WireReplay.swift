// SPDX-License-Identifier: MIT

import LupineHTTP

/// Feeds the octets of a `WireCase` to its codec, in any pieces, and returns the log.
///
/// It behaves like a connection: octets that the codec has not consumed stay in a buffer, before the next piece. Violations of
/// the codec's contract are logged as `contract:`, which no document expects.
package enum WireReplay {
    /// Returns the log of `bytes`, which may be more than those of the case, supplied in pieces that end at `cuts`.
    package static func log(_ wireCase: WireCase, _ bytes: [UInt8], cuts: [Int]) -> [String] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            pieces.append(bytes[start..<cut])
            start = cut
        }
        return switch wireCase.side {
        case .client: responses(wireCase, pieces)
        case .server: requests(wireCase, pieces)
        }
    }

    /// Returns the expected log when octets of another message follow those of the case; nil if they would belong to the message
    /// of the case.
    package static func expected(_ wireCase: WireCase, with trailing: [UInt8]) -> [String]? {
        let events = wireCase.expected.filter { !$0.hasPrefix("  ") }
        switch wireCase.side {
        case .client:
            guard let last = wireCase.expected.last, let first = trailing.first else { return nil }
            if last.hasPrefix("handover \"") {
                return wireCase.expected.dropLast() + [last.dropLast() + WireLog.escaped(trailing) + "\""]
            }
            guard events.last == "end" else { return nil }
            return wireCase.expected + ["error \(HTTPError.unexpectedBytes(octet: first).evidence)"]
        case .server:
            guard events.last == "end" else { return nil }
            return wireCase.expected + ["left \"\(WireLog.escaped(trailing))\""]
        }
    }

    // MARK: responses

    private static func responses(_ wireCase: WireCase, _ pieces: [ArraySlice<UInt8>]) -> [String] {
        var log = WireLog()
        do {
            var codec = try codec(for: wireCase)
            var buffer: [UInt8] = []
            var isHandedOver = false
            for piece in pieces {
                buffer += piece
                while !isHandedOver {
                    let (event, consumed) = try nextEvent(&codec, buffer, &log)
                    isHandedOver = record(event, in: buffer, &log)
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

    private static func codec(for wireCase: WireCase) throws(HTTPError) -> ClientCodec {
        var codec = ClientCodec(limits: wireCase.limits, leniency: wireCase.leniency)
        var fields = Fields()
        if wireCase.asksUpgrade {
            try fields.append(.connection, "upgrade")
            try fields.append(.upgrade, "example")
        }
        let authority = try Authority(host: "example.com", port: 80, defaultPort: 80)
        let head = RequestHead(
            method: wireCase.method,
            target: wireCase.method == .connect ? .authority(authority) : .origin("/"),
            authority: authority, fields: fields)
        var sent: [UInt8] = []
        try codec.send(head, body: .none, into: &sent)
        return codec
    }

    /// Returns the next event; an error must be thrown again by any later call.
    private static func nextEvent(
        _ codec: inout ClientCodec, _ buffer: [UInt8], _ log: inout WireLog
    ) throws(HTTPError) -> (event: ResponseEvent, consumed: Int) {
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

    /// Logs an event. Returns whether the connection is handed over.
    private static func record(_ event: ResponseEvent, in buffer: [UInt8], _ log: inout WireLog) -> Bool {
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

    private static func requests(_ wireCase: WireCase, _ pieces: [ArraySlice<UInt8>]) -> [String] {
        var log = WireLog()
        var codec = ServerCodec(limits: wireCase.limits)
        var buffer: [UInt8] = []
        var answersLeft = wireCase.answers
        do {
            for piece in pieces {
                buffer += piece
                while true {
                    let (event, consumed) = try codec.next(buffer.span)
                    record(event, in: buffer, &log)
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

    private static func record(_ event: RequestEvent, in buffer: [UInt8], _ log: inout WireLog) {
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
