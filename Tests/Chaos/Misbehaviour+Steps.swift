// SPDX-License-Identifier: MIT

package import LupineOrigin

extension Misbehaviour {
    /// Returns the origin's script from after the request's head. A connection without a response is held open until the client
    /// closes it.
    package func script(for trial: ChaosTrial, bodyInChunks: Bool) -> Script {
        var reply = ChaosReply(trial)
        return Script(intake(trial, bodyInChunks, &reply) + steps(&reply))
    }

    /// Returns the steps that read the request's body.
    private func intake(_ trial: ChaosTrial, _ inChunks: Bool, _ reply: inout ChaosReply) -> [Script.Step] {
        guard trial.form.isUpload else { return [] }
        let upload = trial.upload
        // A chunked body ends like a head, and contains no earlier empty line.
        let whole: Script.Step = inChunks ? .expectHead : .expectExactly(upload)
        switch self {
        case .earlyResponse: return []
        case .slowReading: return [.slowRead(bytes: 1 + upload.count / 4, every: .milliseconds(2)), whole]
        case .resetInUpload, .closeInUpload: return [.expectBytes(reply.chance(1...upload.count - 1))]
        default: return [whole]
        }
    }

    private func steps(_ reply: inout ChaosReply) -> [Script.Step] {
        switch self {
        case .none, .chunked, .untilClose, .byteWise, .splitWrites, .slowDrip, .interimHeads, .manyFields,
            .closeAfter, .redirect, .gzip, .bareLineFeeds, .foldedField, .closeSilently, .halfCloseAfter,
            .trailingBytes, .responseBehind, .resetAfter, .slowReading, .earlyResponse, .turningCertificates,
            .oldVersion:
            decentSteps(&reply)
        case .shortContent, .chunkCut, .withoutLastChunk, .badChunkSize, .hugeChunkSize, .badChunkEnd,
            .negativeLength, .hugeLength, .twoLengths, .lengthAndChunks, .gzipCorrupt, .gzipCutShort:
            framingSteps(&reply)
        case .garbage, .otherProtocol, .otherVersion, .nulInField, .bareReturnInField, .colonless,
            .oversizedHead, .tooManyFields, .interimFlood, .serverError:
            headSteps(&reply)
        case .closeBeforeHead, .resetBeforeHead, .halfCloseBeforeHead, .closeInHead, .resetInHead,
            .resetInBody, .lateHead, .stallInHead, .stallInBody, .stallInChunkSize, .resetInUpload,
            .closeInUpload:
            endingSteps(&reply)
        case .renegotiation, .keyUpdate, .noNotifyBehindContent, .noNotifyInContent, .notifyInContent,
            .noiseInContent, .alertInContent, .stallInRecord, .cutInRecord, .resetInRecord:
            secureSteps(&reply)
        // The doors of these let no request arrive.
        case .refused, .unanswered, .resetAtOnce, .closedAtOnce, .silent, .babbling, .alertInHandshake,
            .stallInHandshake, .resetInHandshake, .cutInHandshake, .expired, .foreign, .untrusted:
            [.close]
        // The rest exist only in HTTP/2.
        default: [.close]
        }
    }

    // MARK: answers that are whole

    private func decentSteps(_ reply: inout ChaosReply) -> [Script.Step] {
        let content = reply.content
        switch self {
        case .chunked:
            let trailers = reply.chance(0...1) == 0 ? "" : "X-Trailer: \(reply.trial.name)\r\n"
            return [
                .send(reply.head(ChaosReply.chunkedField) + reply.chunks(content)),
                .send("0\r\n\(trailers)\r\n"), .speakHTTP,
            ]
        case .untilClose: return [.send(reply.head("") + content), .close]
        case .byteWise: return [.sendByteByByte(reply.plain), .speakHTTP]
        case .splitWrites:
            return reply.pieces(reply.plain, atMost: 12).flatMap {
                [Script.Step.send(Array($0)), .pause(.microseconds(100))]
            } + [.speakHTTP]
        case .slowDrip:
            return reply.pieces(reply.plain, atMost: 8).flatMap {
                [Script.Step.send(Array($0)), .pause(.milliseconds(3))]
            } + [.speakHTTP]
        case .interimHeads:
            let heads = (0..<reply.chance(1...20)).map {
                $0 % 2 == 0 ? "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" : "HTTP/1.1 102 Wait\r\n\r\n"
            }
            return [.send(heads.joined()), .send(reply.plain), .speakHTTP]
        case .manyFields:
            let fields = (0..<300).map { "X-Field-\($0): \($0)" }.joined(separator: "\n")
            return [
                .send(reply.head("Content-Length: \(content.count)\n\(fields)") + content), .speakHTTP,
            ]
        case .redirect:
            var there = reply.trial
            there.misbehaviour = .none
            let head = reply.head("Location: \(there.target)\nContent-Length: 0", status: "307 Elsewhere")
            return [.send(head), .speakHTTP]
        case .gzip:
            guard let zipped = try? reply.zipped() else { return [.reset] }
            let fields = "Content-Encoding: gzip\nContent-Length: \(zipped.count)"
            return [.send(reply.head(fields) + zipped), .speakHTTP]
        case .bareLineFeeds:
            return [
                .send(reply.head("Content-Length: \(content.count)", lineEnd: "\n") + content), .speakHTTP,
            ]
        case .foldedField:
            let fields = "X-Folded: one\n two\n\tthree\nContent-Length: \(content.count)"
            return [.send(reply.head(fields) + content), .speakHTTP]
        case .halfCloseAfter: return [.send(reply.plain), .halfClose, .expectEnd]
        case .resetAfter: return [.send(reply.plain), .reset]
        case .trailingBytes: return [.send(reply.plain + Array("nobody asked for this".utf8)), .expectEnd]
        case .responseBehind:
            let other = "HTTP/1.1 200 OK\r\nX-Chaos: nobody\r\nContent-Length: 4\r\n\r\nevil"
            return [.send(reply.plain + Array(other.utf8)), .expectEnd]
        case .closeSilently: return [.send(reply.plain), .close]
        default:
            return [
                .send(reply.head("Connection: close\nContent-Length: \(content.count)") + content), .close,
            ]
        }
    }

    // MARK: framing and content that lie

    private func framingSteps(_ reply: inout ChaosReply) -> [Script.Step] {
        let part = reply.part()
        let chunkedHead = reply.head(ChaosReply.chunkedField)
        switch self {
        case .shortContent:
            return [
                .send(reply.head(length: reply.content.count + reply.chance(1...9)) + reply.content), .close,
            ]
        case .chunkCut:
            let cut = reply.chunk(reply.content).dropLast(reply.chance(3...8))
            return [.send(chunkedHead + cut), .close]
        case .withoutLastChunk: return [.send(chunkedHead + reply.chunks(reply.content)), .close]
        case .badChunkSize:
            let sizes = ["zz", "-5", "0x5", " 5", "", "+1", "5 5"]
            let size = sizes[reply.chance(0...sizes.count - 1)]
            return [.send(chunkedHead + reply.chunks(part) + Array("\(size)\r\nabcde\r\n".utf8)), .expectEnd]
        case .hugeChunkSize:
            return [
                .send(chunkedHead + reply.chunks(part) + Array("ffffffffffffffffff\r\nabcde".utf8)),
                .expectEnd,
            ]
        case .badChunkEnd:
            let good = reply.chunk(reply.content).dropLast(2)
            return [.send(chunkedHead + good + Array("xx0\r\n\r\n".utf8)), .expectEnd]
        case .negativeLength: return [.send(reply.head("Content-Length: -5") + part), .expectEnd]
        case .hugeLength:
            return [.send(reply.head("Content-Length: 99999999999999999999") + part), .expectEnd]
        case .twoLengths:
            let fields = "Content-Length: \(reply.content.count)\nContent-Length: \(reply.content.count + 1)"
            return [.send(reply.head(fields) + reply.content), .expectEnd]
        case .lengthAndChunks:
            let fields = "Content-Length: \(reply.content.count)\n\(ChaosReply.chunkedField)"
            return [
                .send(reply.head(fields) + reply.chunks(reply.content) + Array("0\r\n\r\n".utf8)), .expectEnd,
            ]
        default:
            guard var zipped = try? reply.zipped() else { return [.reset] }
            if self == .gzipCorrupt {
                // Changes the checksum: everything before it is right.
                zipped[zipped.count - 6] ^= 0x55
            } else {
                zipped.removeLast(reply.chance(1...12))
            }
            let fields = "Content-Encoding: gzip\nContent-Length: \(zipped.count)"
            return [.send(reply.head(fields) + zipped), .speakHTTP]
        }
    }

    // MARK: heads that are none

    private func headSteps(_ reply: inout ChaosReply) -> [Script.Step] {
        let length = "Content-Length: \(reply.content.count)"
        switch self {
        case .garbage: return [.send("\u{1}\u{2}nothing that anybody could read\r\n\r\n"), .expectEnd]
        case .otherProtocol: return [.send("220 mail.test ESMTP\r\n"), .expectEnd]
        case .otherVersion: return [.send("HTTP/9.1 200 OK\r\n\(length)\r\n\r\n"), .expectEnd]
        case .nulInField: return [.send(reply.head("X-Nul: a\u{0}b\n\(length)") + reply.content), .expectEnd]
        case .bareReturnInField:
            return [.send(reply.head("X-Return: a\rX-Other: b\n\(length)") + reply.content), .expectEnd]
        case .colonless: return [.send(reply.head("no field at all\n\(length)") + reply.content), .expectEnd]
        case .oversizedHead:
            let field = "X-Long: " + String(repeating: "x", count: 30_000)
            let fields = Array(repeating: field, count: 10).joined(separator: "\n")
            return [.send(reply.head(fields)), .expectEnd]
        case .tooManyFields:
            let fields = (0..<1_200).map { "X-\($0): \($0)" }.joined(separator: "\n")
            return [.send(reply.head(fields)), .expectEnd]
        case .interimFlood:
            let flood = String(repeating: "HTTP/1.1 102 Wait\r\n\r\n", count: 200)
            return [.send(flood), .send(reply.plain), .expectEnd]
        default: return [.send(reply.head(length, status: "503 Not Now") + reply.content), .speakHTTP]
        }
    }

    // MARK: ends and silences

    private func endingSteps(_ reply: inout ChaosReply) -> [Script.Step] {
        let head = reply.head(length: reply.content.count)
        let partOfHead = Array(head.prefix(reply.chance(1...head.count - 1)))
        let part = reply.part()
        switch self {
        case .closeBeforeHead, .closeInUpload: return [.close]
        case .resetBeforeHead, .resetInUpload: return [.reset]
        case .halfCloseBeforeHead: return [.halfClose, .pause(.milliseconds(1)), .send(reply.plain), .close]
        case .closeInHead: return [.send(partOfHead), .close]
        case .resetInHead: return [.send(partOfHead), .reset]
        case .resetInBody: return [.send(head + part), .reset]
        case .lateHead: return [.expectEnd]
        case .stallInHead: return [.send(partOfHead), .expectEnd]
        case .stallInBody: return [.send(head + part), .expectEnd]
        default:
            let chunkedHead = reply.head(ChaosReply.chunkedField)
            return [.send(chunkedHead + reply.chunks(part) + Array("1".utf8)), .expectEnd]
        }
    }

    // MARK: of TLS

    private func secureSteps(_ reply: inout ChaosReply) -> [Script.Step] {
        let head = reply.head(length: reply.content.count)
        let part = reply.part()
        switch self {
        case .renegotiation: return [.requestRenegotiation, .expectEnd]
        case .keyUpdate:
            return [
                .send(head + part), .updateKeys(both: reply.chance(0...1) == 0),
                .send(Array(reply.content.dropFirst(part.count))), .speakHTTP,
            ]
        case .noNotifyBehindContent: return [.send(reply.plain), .closeWithoutNotify]
        case .noNotifyInContent: return [.send(reply.head("") + part), .closeWithoutNotify]
        case .notifyInContent: return [.send(head + part), .sendCloseNotify, .expectEnd]
        case .noiseInContent:
            return [.send(head + part), .sendBeneathTLS(Array("no record".utf8)), .expectEnd]
        // A plaintext alert (RFC 8446 §6), which an established connection must refuse.
        case .alertInContent:
            return [.send(head + part), .sendBeneathTLS([21, 3, 3, 0, 2, 2, 80]), .expectEnd]
        case .stallInRecord: return [.send(head + part), .sendBeneathTLS(Self.halfRecord), .expectEnd]
        case .cutInRecord:
            return [.send(head + part), .sendBeneathTLS(Self.halfRecord), .closeWithoutNotify]
        default: return [.send(head + part), .sendBeneathTLS(Self.halfRecord), .reset]
        }
    }

    /// The beginning of a record that is never completed.
    private static let halfRecord: [UInt8] = [23, 3, 3, 1, 0, 1, 2, 3]
}
