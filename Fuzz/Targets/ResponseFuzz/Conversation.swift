// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP

/// A client that sends a few requests, each after the previous response, and records the events.
struct Conversation {
    private let method: Method
    private let asksForUpgrade: Bool
    private let requests: Int
    private let limits: ParserLimits
    private let leniency: Leniency

    init(_ input: inout FuzzInput) {
        let choice = input.readOctet()
        method = [Method.get, .head, .connect, .get][Int(choice & 3)]
        asksForUpgrade = choice & 3 == 3
        leniency = Leniency(rawValue: choice >> 2 & 7)
        requests = 1 + Int(choice >> 6)
        var limits = ParserLimits()
        if choice & 0x20 != 0 {
            limits.headBytes = 96
            limits.fieldCount = 3
            limits.lineBytes = 30
            limits.interimHeads = 2
            limits.chunkExtensionBytes = 8
        }
        self.limits = limits
    }

    /// An event; content is merged.
    enum Entry: Hashable {
        case interim(ResponseHead, [String])
        case head(ResponseHead, [String], BodyFraming, keepAlive: Bool)
        case content([UInt8])
        case end(Fields, [String])
        case handover([UInt8])
        case failed(HTTPError)
        case closed(WireEnd)
    }

    /// The result of the connection's end.
    enum WireEnd: Hashable {
        case nothing, end
        case failed(HTTPError)
    }

    /// Feeds `stream` in pieces and closes.
    func log(of stream: [UInt8], _ cuts: Cuts) -> [Entry] {
        var codec = ClientCodec(limits: limits, leniency: leniency)
        var log: [Entry] = []
        var sent = 0
        var tally = Tally()
        sendRequest(&codec, &sent)
        let pieces = cuts.pieces(of: stream)
        feeding: for (number, piece) in pieces.enumerated() {
            var remaining = piece[...]
            while true {
                let event: ResponseEvent
                let consumed: Int
                do {
                    (event, consumed) = try codec.next(remaining.span)
                } catch {
                    requireLasting(error, &codec)
                    log.append(.failed(error))
                    break feeding
                }
                require(0...remaining.count ~= consumed, "\(consumed) of \(remaining.count) octets consumed")
                let range = remaining.startIndex..<(remaining.startIndex + consumed)
                remaining = remaining[range.upperBound...]
                tally.octets += consumed
                switch event {
                case .needMore:
                    require(remaining.isEmpty, "octets left over with needMore")
                    continue feeding
                case .interim(let head):
                    tally.endHead(head.fields, limits)
                    tally.interims += 1
                    require(tally.interims <= limits.interimHeads, "too many interim heads")
                    log.append(.interim(head, spelling(head.fields)))
                case .head(let head, let framing, let keepAlive):
                    tally.endHead(head.fields, limits)
                    log.append(.head(head, spelling(head.fields), framing, keepAlive: keepAlive))
                case .content(let part):
                    require(!part.isEmpty && part.upperBound <= consumed, "content outside what was taken")
                    let octets = Array(piece[(range.lowerBound + part.lowerBound)...].prefix(part.count))
                    if case .content(let before)? = log.last {
                        log[log.count - 1] = .content(before + octets)
                    } else {
                        log.append(.content(octets))
                    }
                case .end(let trailers):
                    require(trailers.count <= limits.fieldCount, "too many trailers")
                    log.append(.end(trailers, spelling(trailers)))
                    tally = Tally()
                    if codec.maySendRequest, sent < requests { sendRequest(&codec, &sent) }
                case .handover:
                    log.append(.handover(Array(remaining) + pieces[(number + 1)...].flatMap { $0 }))
                    break feeding
                }
            }
        }
        log.append(.closed(close(&codec)))
        return log
    }

    /// The number of octets since the last head, and of interim heads since the exchange began.
    private struct Tally {
        var octets = 0
        var interims = 0

        mutating func endHead(_ fields: Fields, _ limits: ParserLimits) {
            require(octets <= limits.headBytes, "a head of \(octets) octets")
            require(fields.count <= limits.fieldCount, "\(fields.count) fields")
            octets = 0
        }
    }

    private func spelling(_ fields: Fields) -> [String] { (0..<fields.count).map { fields.name(at: $0) } }

    private func sendRequest(_ codec: inout ClientCodec, _ sent: inout Int) {
        sent += 1
        do {
            let authority = try Authority(host: "a", port: 80)
            var fields = Fields()
            if asksForUpgrade { try fields.append(.upgrade, "x") }
            let target = method == .connect ? RequestTarget.authority(authority) : .origin("/")
            let head = RequestHead(method: method, target: target, authority: authority, fields: fields)
            var wire: [UInt8] = []
            try codec.send(head, body: .none, into: &wire)
        } catch {
            fatalError("a plain request was refused: \(error)")
        }
    }

    private func close(_ codec: inout ClientCodec) -> WireEnd {
        do {
            let event = try codec.peerClosed()
            switch event {
            case .needMore: return .nothing
            case .end: return .end
            case .interim, .head, .content, .handover: fatalError("the end of the connection made \(event)")
            }
        } catch {
            requireLasting(error, &codec)
            return .failed(error)
        }
    }

    /// Requires that a codec that has thrown throws the same for every later call.
    private func requireLasting(_ failure: HTTPError, _ codec: inout ClientCodec) {
        require(failure.fault == .remote, "the peer's octets are called our fault: \(failure)")
        require(!codec.maySendRequest, "a broken connection is offered for reuse")
        require(!failure.description.isEmpty, "an error without a description")
        require(nextFailure(&codec) == failure, "no lasting error after \(failure)")
        require(closeFailure(&codec) == failure, "no error from the end after \(failure)")
    }

    private func nextFailure(_ codec: inout ClientCodec) -> HTTPError? {
        let more: [UInt8] = [0x48]
        do {
            let (_, consumed) = try codec.next(more.span)
            require(consumed <= more.count, "more consumed than there was")
            return nil
        } catch {
            return error
        }
    }

    private func closeFailure(_ codec: inout ClientCodec) -> HTTPError? {
        do {
            _ = try codec.peerClosed()
            return nil
        } catch {
            return error
        }
    }
}
