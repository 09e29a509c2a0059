// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A server that answers each request at its end, so that pipelined ones are processed, and records the events.
struct Service {
    private let limits: ParserLimits
    private let status: Status
    private let body: OutgoingBody
    private let sendsInterim: Bool

    init(_ input: inout FuzzInput) {
        let choice = input.readOctet()
        status = [Status(200), Status(204), Status(304), Status(404)][Int(choice & 3)]
        body = [.none, .known(2), .unknown, .known(0)][Int(choice >> 2 & 3)]
        sendsInterim = choice & 0x10 != 0
        var limits = ParserLimits()
        if choice & 0x20 != 0 {
            limits.headBytes = 96
            limits.fieldCount = 3
            limits.lineBytes = 30
            limits.chunkExtensionBytes = 8
        }
        self.limits = limits
    }

    /// An event; content is merged.
    enum Entry: Hashable {
        case head(RequestHead, [String], BodyFraming, keepAlive: Bool, expectsContinue: Bool)
        case content([UInt8])
        case end(Fields, [String])
        /// A response was sent. `mayContinue`: the connection can be reused.
        case answered([UInt8], mayContinue: Bool)
        case failed(HTTPError)
        case closed(HTTPError?)
    }

    /// Feeds `stream` in pieces and closes.
    func log(of stream: [UInt8], _ cuts: Cuts) -> [Entry] {
        var codec = ServerCodec(limits: limits)
        var log: [Entry] = []
        var headOctets = 0
        feeding: for piece in cuts.pieces(of: stream) {
            var remaining = piece[...]
            while true {
                let event: RequestEvent
                let consumed: Int
                do {
                    (event, consumed) = try codec.next(remaining.span)
                } catch {
                    requireLasting(error, &codec)
                    log.append(.failed(error))
                    break feeding
                }
                require(0...remaining.count ~= consumed, "\(consumed) of \(remaining.count) octets consumed")
                let before = remaining
                remaining = remaining.dropFirst(consumed)
                headOctets += consumed
                switch event {
                case .needMore:
                    // Only a codec that accepts nothing more leaves octets over.
                    require(remaining.isEmpty || !codec.mayContinue, "octets left over with needMore")
                    continue feeding
                case .head(let head, let framing, let keepAlive):
                    require(headOctets <= limits.headBytes, "a head of \(headOctets) octets")
                    require(head.fields.count <= limits.fieldCount, "\(head.fields.count) fields")
                    require(framing != .untilClose && framing != .handover, "a request framed as \(framing)")
                    log.append(
                        .head(
                            head, spelling(head.fields), framing, keepAlive: keepAlive,
                            expectsContinue: codec.continueIsExpected))
                    if sendsInterim, codec.continueIsExpected { sendInterim(&codec) }
                case .content(let part):
                    require(!part.isEmpty && part.upperBound <= consumed, "content outside what was taken")
                    let octets = Array(before.dropFirst(part.lowerBound).prefix(part.count))
                    if case .content(let previous)? = log.last {
                        log[log.count - 1] = .content(previous + octets)
                    } else {
                        log.append(.content(octets))
                    }
                case .end(let trailers):
                    require(trailers.count <= limits.fieldCount, "too many trailers")
                    log.append(.end(trailers, spelling(trailers)))
                    log.append(answer(&codec))
                    headOctets = 0
                }
            }
        }
        log.append(.closed(closeFailure(&codec)))
        return log
    }

    private func spelling(_ fields: Fields) -> [String] { (0..<fields.count).map { fields.name(at: $0) } }

    private func sendInterim(_ codec: inout ServerCodec) {
        var wire: [UInt8] = []
        do {
            try codec.sendInterim(ResponseHead(status: Status(100)), into: &wire)
        } catch {
            fatalError("a plain interim response was refused: \(error)")
        }
        require(wire == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), "an interim response like \(wire)")
    }

    private func answer(_ codec: inout ServerCodec) -> Entry {
        var wire: [UInt8] = []
        do {
            try codec.send(ResponseHead(status: status), body: body, into: &wire)
            if body != .none {
                if body != .known(0) { try codec.sendContent(2, into: &wire) }
                if body != .known(0), !codec.omitsContent { wire += [0x6F, 0x6B] }
                try codec.sendEnd(into: &wire)
            }
        } catch {
            fatalError("a plain response was refused: \(error)")
        }
        require(codec.isExchangeComplete, "an exchange that is not over at its end")
        return .answered(wire, mayContinue: codec.mayContinue)
    }

    /// Requires that a codec that has thrown throws the same for every later call, and can still answer.
    private func requireLasting(_ failure: HTTPError, _ codec: inout ServerCodec) {
        require(failure.fault == .remote, "the peer's octets are called our fault: \(failure)")
        require(!codec.mayContinue, "a broken connection is offered for reuse")
        require(!failure.description.isEmpty, "an error without a description")
        require(nextFailure(&codec) == failure, "no lasting error after \(failure)")
        require(closeFailure(&codec) == failure, "no error from the end after \(failure)")
    }

    private func nextFailure(_ codec: inout ServerCodec) -> HTTPError? {
        let more: [UInt8] = [0x47]
        do {
            let (_, consumed) = try codec.next(more.span)
            require(consumed <= more.count, "more consumed than there was")
            return nil
        } catch {
            return error
        }
    }

    private func closeFailure(_ codec: inout ServerCodec) -> HTTPError? {
        do {
            try codec.peerClosed()
            return nil
        } catch {
            return error
        }
    }
}
