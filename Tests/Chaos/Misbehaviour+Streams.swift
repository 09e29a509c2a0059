// SPDX-License-Identifier: MIT

internal import LupineHTTP2
package import LupineOrigin

/// The origin's scripts for HTTP/2.
extension Misbehaviour {
    /// Returns the origin's script from after the request's head. `isFirst` is true if the trial must be disclaimed now.
    package func streamScript(for trial: ChaosTrial, isFirst: Bool) -> StreamScript {
        var reply = ChaosReply(trial)
        let steps = streamSteps(&reply, isFirst: isFirst)
        let readsFirst = trial.form.isUpload && !answersEarly(isFirst)
        return StreamScript((readsFirst ? [.expectExactly(trial.upload)] : []) + steps)
    }

    /// Returns whether the script does not read the request's content first.
    private func answersEarly(_ isFirst: Bool) -> Bool {
        switch self {
        case .earlyWithReset, .keptWindow, .slowReading, .streamRefused, .resetInContent, .silentConnection:
            true
        case .refusedOnce, .disclaimed: isFirst
        default: false
        }
    }

    private func streamSteps(_ reply: inout ChaosReply, isFirst: Bool) -> [StreamScript.Step] {
        switch self {
        case .padded, .smallFrames, .unannounced, .idleFrames, .resetBehindEnd, .earlyWithReset, .refusedOnce:
            harmlessSteps(&reply, isFirst: isFirst)
        case .streamReset, .resetInContent, .resetInAnswer, .streamRefused, .malformedHead, .wrongLength,
            .wrongOrder, .listBomb, .keptWindow:
            streamEndSteps(&reply)
        case .leaveInSteps, .leaveAtOnce, .leaveWithError, .disclaimed, .fewerStreams, .otherWindows,
            .otherTable:
            leavingSteps(&reply, isFirst: isFirst)
        case .cutFrame, .endWithoutWord, .connectionReset, .brokenFrame, .pushed, .flood, .floodWithinLimits,
            .silentConnection:
            breakingSteps(&reply)
        default: sharedSteps(&reply)
        }
    }

    // MARK: as over HTTP/1.1

    private func sharedSteps(_ reply: inout ChaosReply) -> [StreamScript.Step] {
        let content = reply.content
        switch self {
        case .redirect:
            var there = reply.trial
            there.misbehaviour = .none
            return [.head(reply.list("307", [("location", there.target)]), endsStream: true)]
        case .gzip, .gzipCorrupt, .gzipCutShort:
            guard var zipped = try? reply.zipped() else { return [.reset(.internalError)] }
            if self == .gzipCorrupt { zipped[zipped.count - 6] ^= 0x55 }
            if self == .gzipCutShort { zipped.removeLast(reply.chance(1...12)) }
            let fields = [("content-encoding", "gzip"), ("content-length", "\(zipped.count)")]
            return [.head(reply.list("200", fields)), .content(zipped)]
        case .interimHeads:
            let heads = (0..<reply.chance(1...20)).map { number in
                StreamScript.Step.head([(":status", number % 2 == 0 ? "103" : "102"), ("link", "</a>")])
            }
            return heads + reply.whole
        case .interimFlood:
            return (0..<40).map { _ in .head([(":status", "102")]) } + reply.whole
        case .manyFields:
            let fields = (0..<300).map { ("x-field-\($0)", "\($0)") }
            return [.head(reply.list("200", fields)), .content(content)]
        case .slowDrip:
            return [.head(reply.list("200", length: content.count))]
                + reply.pieces(content, atMost: 8).flatMap {
                    [.content(Array($0), endsStream: false), .pause(.milliseconds(3))]
                } + [.content([])]
        case .slowReading:
            let count = reply.trial.upload.count
            return [
                .expectContent(1 + count / 4), .pause(.milliseconds(2)), .expectContent(1 + count / 2),
                .pause(.milliseconds(2)), .expectExactly(reply.trial.upload),
            ] + reply.whole
        case .serverError:
            return [.head(reply.list("503", length: content.count)), .content(content)]
        case .lateHead: return []
        case .stallInBody:
            return [
                .head(reply.list("200", length: content.count)), .content(reply.part(), endsStream: false),
            ]
        default: return reply.whole
        }
    }

    // MARK: nothing wrong

    private func harmlessSteps(_ reply: inout ChaosReply, isFirst: Bool) -> [StreamScript.Step] {
        let content = reply.content
        let head = StreamScript.Step.head(reply.list("200", length: content.count))
        switch self {
        case .padded:
            return [head]
                + reply.pieces(content, atMost: 5).map { piece in
                    let padding = [UInt8](repeating: 0, count: min(piece.count, reply.chance(0...40)))
                    return .frame(type: 0, flags: 8, .own, [UInt8(padding.count)] + piece + padding)
                } + [.content([])]
        case .smallFrames: return [head, .content(content, frames: reply.chance(1...60))]
        case .unannounced:
            let trailers = [("x-trailer", reply.trial.name)]
            return [
                .head(reply.list("200", [])), .content(content, frames: 3_000, endsStream: false),
                .head(trailers, endsStream: true),
            ]
        case .idleFrames:
            return [
                .frame(type: 0x77, flags: 0xFF, .own, [1, 2, 3]), head,
                .frame(type: 2, .own, [0, 0, 0, 0, 1]), .frame(type: 0, .own),
                .frame(type: 6, .connection, [UInt8](repeating: 7, count: 8)), .content(content),
            ]
        case .resetBehindEnd: return reply.whole + [.frame(type: 3, .own, [0, 0, 0, 8])]
        case .earlyWithReset: return reply.whole + [.reset(.noError)]
        default: return isFirst ? [.reset(.refusedStream)] : reply.whole
        }
    }

    // MARK: the stream ends

    private func streamEndSteps(_ reply: inout ChaosReply) -> [StreamScript.Step] {
        let content = reply.content
        let head = StreamScript.Step.head(reply.list("200", length: content.count))
        // Every code except REFUSED_STREAM, and some unknown ones.
        let code = HTTP2ErrorCode(
            rawValue: [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 77][reply.chance(0...14)])
        switch self {
        case .streamReset: return [.reset(code)]
        case .resetInContent:
            let count = reply.trial.upload.count
            return [.expectContent(reply.chance(1...count)), .reset(code)]
        case .resetInAnswer: return [head, .content(reply.part(), endsStream: false), .reset(code)]
        case .streamRefused: return [.reset(.refusedStream)]
        case .malformedHead:
            let heads = Self.malformedHeads(reply)
            return [.head(heads[reply.chance(0...heads.count - 1)]), .content(content)]
        case .wrongLength:
            let length =
                content.count + (reply.chance(0...1) == 0 ? -1 : 1) * reply.chance(1...min(9, content.count))
            return [
                .head(reply.list("200", length: length)),
                .content(content, frames: reply.chance(1_000...16_384)),
            ]
        case .wrongOrder:
            return switch reply.chance(0...2) {
            case 0: [.content(content, endsStream: false), head, .content([])]
            case 1: [head, .content(reply.part(), endsStream: false), head, .content([])]
            default:
                [head, .content(content, endsStream: false), .head([(":status", "200")], endsStream: true)]
            }
        case .listBomb:
            // A field of the static table, 1,200 times.
            return [.frame(type: 1, flags: 4, .own, [0x88] + [UInt8](repeating: 0x90, count: 1_200))]
        default: return [.withholdWindowUpdates]
        }
    }

    private static func malformedHeads(_ reply: ChaosReply) -> [[(name: String, value: String)]] {
        let fields = reply.list("200", length: reply.content.count)
        return [
            Array(fields.dropFirst()), fields + [("X-Capital", "a")], fields + [("connection", "close")],
            fields + [("x-nul", "a\u{0}b")], fields + [("x-line", "a\r\nb: c")], fields + [("x-blank", " a")],
            fields + [(":status", "200")], fields + [(":path", "/")],
            fields + [("transfer-encoding", "chunked")],
            [("x-first", "a")] + fields, fields + [("content-length", "\(reply.content.count + 1)")],
            [(":status", "2000")] + fields.dropFirst(), [(":status", "101")] + fields.dropFirst(),
            fields + [("no name", "a")], fields + [("", "a")],
            [(":status", "200"), ("content-length", "-5")],
        ]
    }

    // MARK: the connection goes, or changes

    private func leavingSteps(_ reply: inout ChaosReply, isFirst: Bool) -> [StreamScript.Step] {
        let pause = StreamScript.Step.pause(.microseconds(reply.chance(0...2_000)))
        switch self {
        case .leaveInSteps: return [.shutDown(inSteps: true), pause] + reply.whole
        case .leaveAtOnce: return [.shutDown(inSteps: false), pause] + reply.whole
        case .leaveWithError:
            return [.goAway(.internalError, last: .last)] + reply.whole + [.pause(.milliseconds(1)), .end()]
        case .disclaimed: return isFirst ? [.goAway(.noError, last: .before)] : reply.whole
        case .fewerStreams:
            return [
                .set([Setting(.maxConcurrentStreams, UInt32(reply.chance(0...1)))]), pause,
                .set([Setting(.maxConcurrentStreams, 16)]),
            ] + reply.whole
        case .otherWindows:
            return [
                .set([Setting(.initialWindowSize, UInt32(reply.chance(0...100)))]), pause,
                .set([Setting(.initialWindowSize, UInt32(reply.chance(1_000...100_000)))]),
            ] + reply.whole
        default:
            return [
                .set([Setting(.headerTableSize, UInt32(reply.chance(0...300)))]), pause,
                .set([Setting(.headerTableSize, 4_096)]),
            ] + reply.whole
        }
    }

    // MARK: the connection ends

    private func breakingSteps(_ reply: inout ChaosReply) -> [StreamScript.Step] {
        let head = StreamScript.Step.head(reply.list("200", length: reply.content.count))
        switch self {
        case .cutFrame:
            // A frame of length 100 with only ten octets: GOAWAY, or an unknown type.
            let type: UInt8 = [7, 0x77][reply.chance(0...1)]
            return [
                head, .octets([0, 0, 100, type, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 10)), .end(),
            ]
        case .endWithoutWord: return [head, .content(reply.part(), endsStream: false), .end()]
        case .connectionReset: return [head, .end(resetting: true)]
        case .brokenFrame:
            let frames = Self.brokenFrames
            return [frames[reply.chance(0...frames.count - 1)]]
        case .pushed: return [.frame(type: 5, flags: 4, .own, [0, 0, 0, 2, 0x88])]
        case .flood:
            let floods: [(StreamScript.Step, Int)] = [
                (.frame(type: 6, .connection, [UInt8](repeating: 7, count: 8)), 1_000),
                (.frame(type: 4, .connection), 500), (.frame(type: 0x77, .connection), 3_000),
                (.frame(type: 2, .own, [0, 0, 0, 0, 1]), 3_000), (.frame(type: 0, .own), 1_000),
            ]
            let (frame, count) = floods[reply.chance(0...floods.count - 1)]
            return [head] + Array(repeating: frame, count: count)
        case .floodWithinLimits:
            let ping = StreamScript.Step.frame(type: 6, .connection, [UInt8](repeating: 7, count: 8))
            return [head] + Array(repeating: ping, count: reply.chance(1...150)) + [.content(reply.content)]
        default: return [.fallSilent]
        }
    }

    /// Frames that are connection errors, each for another reason.
    private static let brokenFrames: [StreamScript.Step] = [
        .frame(type: 4, .connection, [1, 2, 3, 4, 5]), .frame(type: 4, .own, [0, 3, 0, 0, 0, 1]),
        .frame(type: 4, flags: 1, .connection, [0, 3, 0, 0, 0, 1]), .frame(type: 4, flags: 1, .connection),
        .frame(type: 4, .connection, [0, 2, 0, 0, 0, 1]), .frame(type: 4, .connection, [0, 4, 255, 0, 0, 0]),
        .frame(type: 0, .connection, [1]), .frame(type: 0, .ahead(1_000_000), [1]),
        .frame(type: 0, flags: 8, .own, [9, 1]), .frame(type: 0, .own, [UInt8](repeating: 1, count: 16_385)),
        .frame(type: 1, flags: 4, .own, [0x80]),
        .frame(type: 1, flags: 4, .own, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        .frame(type: 1, flags: 4, .connection, [0x88]), .frame(type: 3, .ahead(1_000_000), [0, 0, 0, 8]),
        .frame(type: 3, .own, [0, 0, 8]), .frame(type: 6, .connection, [1, 2, 3]),
        .frame(type: 6, .own, [UInt8](repeating: 1, count: 8)), .frame(type: 7, .connection, [0, 0, 0, 1]),
        .frame(type: 8, .connection, [0, 0, 0, 0]), .frame(type: 8, .connection, [0x7F, 255, 255, 255]),
        .frame(type: 8, .own, [1]), .frame(type: 9, flags: 4, .own, [0x88]),
        .octets(
            [0, 0, 1, 1, 0, 0, 0, 0, 1, 0x88, 0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 8)),
    ]
}

extension ChaosReply {
    /// Returns a head with the common fields, followed by these.
    func list(_ status: String, _ fields: [(String, String)]) -> [(name: String, value: String)] {
        [(":status", status), ("x-chaos", trial.name), ("content-type", trial.form.contentType)] + fields
    }

    /// Returns a head with that `content-length`.
    func list(_ status: String, length: Int) -> [(name: String, value: String)] {
        list(status, [("content-length", "\(length)")])
    }

    /// The correct response.
    var whole: [StreamScript.Step] { [.head(list("200", length: content.count)), .content(content)] }
}
