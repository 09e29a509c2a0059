// SPDX-License-Identifier: MIT

import LupineTestKit
import LupineTransport
import Testing

@testable import LupineChaos

/// Checks that each misbehaviour without TLS does what it claims, with a raw client.
struct MisbehaviourTests {
    /// The response to a trial as a raw client received it.
    private struct Heard {
        var bytes: [UInt8] = []
        var isReset = false
        let content: [UInt8]

        var text: String { String(decoding: bytes, as: UTF8.self) }
        var headIsWhole: Bool { text.contains("\r\n\r\n") }
        /// The bytes after the first head.
        var body: [UInt8] {
            bytes.firstRange(of: Array("\r\n\r\n".utf8)).map { Array(bytes[$0.upperBound...]) } ?? []
        }
        var isPlain: Bool { !isReset && body == content && hasLength(content.count) }
        func hasLength(_ count: Int) -> Bool { text.contains("Content-Length: \(count)\r\n") }
        func count(of part: String) -> Int { text.ranges(of: part).count }
    }

    private static func trial(_ misbehaviour: Misbehaviour) -> ChaosTrial {
        ChaosTrial(
            seed: 5, number: 6, attempt: 0, misbehaviour: misbehaviour,
            form: misbehaviour.needsUpload ? .upload : .text, size: 120,
            uploadSize: misbehaviour.needsUpload ? 3_000 : 0)
    }

    /// Sends a trial to its door and shuts down the client's side, so that no wait is endless; then reads to the end.
    private static func hear(_ misbehaviour: Misbehaviour, _ doors: ChaosDoors) throws -> Heard {
        let trial = trial(misbehaviour)
        let port = try #require(doors[misbehaviour.door ?? .main, secure: false])
        var heard = Heard(content: trial.content)
        do {
            let client = try RawClient(port: port)
            let length = trial.form.isUpload ? "Content-Length: \(trial.upload.count)\r\n" : ""
            try client.send("\(trial.form.method) \(trial.target) HTTP/1.1\r\nHost: a\r\n\(length)\r\n")
            // An early response is sent without the body having arrived.
            if trial.form.isUpload, misbehaviour != .earlyResponse { try client.send(trial.upload) }
            if misbehaviour != .earlyResponse { client.closeOurHalf() }
            while true {
                let piece = try client.receive()
                if piece.isEmpty { return heard }
                heard.bytes += piece
            }
        } catch RawClient.Failure.system(104), RawClient.Failure.system(32) {
            heard.isReset = true
        }
        return heard
    }

    private static func withOrigin(_ body: (ChaosDoors) throws -> Void) async throws {
        let origin = try ChaosOrigin(loops: 1)
        let result = Result { try body(origin.doors) }
        await origin.shutdown()
        try result.get()
    }

    /// Returns whether the response shows the misbehaviour.
    private static func isTrue(_ misbehaviour: Misbehaviour, _ heard: Heard) -> Bool {
        let (text, body) = (heard.text, heard.body)
        return switch misbehaviour {
        case .none, .byteWise, .splitWrites, .slowDrip, .closeSilently, .halfCloseAfter, .slowReading:
            heard.isPlain
        case .chunked:
            text.contains("chunked") && !text.contains("Content-Length") && text.contains("\r\n0\r\n")
                && text.hasSuffix("\r\n\r\n")
        case .untilClose: body == heard.content && !text.contains("Content-Length")
        case .interimHeads:
            text.hasPrefix("HTTP/1.1 103") && text.hasSuffix(String(decoding: heard.content, as: UTF8.self))
        case .manyFields: heard.count(of: "X-Field-") == 300 && body == heard.content
        case .closeAfter, .earlyResponse: heard.isPlain && text.contains("Connection: close")
        case .redirect: text.hasPrefix("HTTP/1.1 307") && text.contains("Location: /served?")
        case .gzip: text.contains("Content-Encoding: gzip") && body.starts(with: [0x1F, 0x8B])
        case .bareLineFeeds:
            !text.contains("\r") && text.hasSuffix(String(decoding: heard.content, as: UTF8.self))
        case .foldedField: text.contains("\r\n two\r\n\tthree") && heard.isPlain
        case .trailingBytes, .responseBehind:
            body.starts(with: heard.content) && body.count > heard.content.count
                && heard.hasLength(heard.content.count)
        case .resetAfter, .resetBeforeHead, .resetInHead, .resetInBody, .resetInUpload, .resetAtOnce:
            heard.isReset
        case .shortContent: body == heard.content && !heard.hasLength(body.count)
        case .chunkCut, .withoutLastChunk: heard.headIsWhole && !text.hasSuffix("0\r\n\r\n") && !heard.isReset
        case .badChunkSize: text.hasSuffix("\r\nabcde\r\n")
        case .hugeChunkSize: text.contains("ffffffffffffffffff\r\n")
        case .badChunkEnd: text.hasSuffix("xx0\r\n\r\n")
        case .negativeLength: text.contains("Content-Length: -5\r\n")
        case .hugeLength: heard.hasLength(0) == false && text.contains("99999999999999999999")
        case .twoLengths: heard.count(of: "Content-Length") == 2
        case .lengthAndChunks: text.contains("Content-Length") && text.contains("chunked")
        case .gzipCorrupt, .gzipCutShort: text.contains("Content-Encoding: gzip")
        case .garbage: !text.hasPrefix("HTTP/") && !text.isEmpty
        case .otherProtocol: text.hasPrefix("220 ")
        case .otherVersion: text.hasPrefix("HTTP/9.1")
        case .nulInField: heard.bytes.contains(0)
        case .bareReturnInField: text.contains("a\rX-Other")
        case .colonless: text.contains("\r\nno field at all\r\n")
        case .oversizedHead: heard.bytes.count > 256 << 10 && heard.headIsWhole
        case .tooManyFields: heard.count(of: "\r\n") > 1_000 && heard.headIsWhole
        case .interimFlood: heard.count(of: "HTTP/1.1 102") > 32
        case .serverError: text.hasPrefix("HTTP/1.1 503")
        case .closeBeforeHead, .halfCloseBeforeHead, .closeInUpload, .lateHead, .closedAtOnce, .silent:
            heard.bytes.isEmpty
        case .closeInHead, .stallInHead: !heard.bytes.isEmpty && !heard.headIsWhole && !heard.isReset
        case .stallInBody: heard.headIsWhole && body.count < heard.content.count && !heard.isReset
        case .stallInChunkSize: text.contains("chunked") && text.hasSuffix("1") && !heard.isReset
        case .babbling: text == "+OK ready to serve\r\n"
        default: false
        }
    }

    @Test("what happens is what was asked for")
    func truth() async throws {
        try await Self.withOrigin { doors in
            for misbehaviour in Misbehaviour.allCases
            where !misbehaviour.needsTLS && misbehaviour.version != .http2 {
                guard ![.refused, .unanswered].contains(misbehaviour) else { continue }
                let heard = try Self.hear(misbehaviour, doors)
                #expect(
                    Self.isTrue(misbehaviour, heard),
                    "\(misbehaviour): \(heard.text.prefix(300).debugDescription) \(heard.isReset)")
            }
        }
    }

    @Test("a spoilt coding is a good one with the wrong checksum, or without its end")
    func codings() async throws {
        try await Self.withOrigin { doors in
            let good = try Self.hear(.gzip, doors).body
            let corrupt = try Self.hear(.gzipCorrupt, doors).body
            let short = try Self.hear(.gzipCutShort, doors).body
            #expect(corrupt.count == good.count && zip(corrupt, good).count { $0 != $1 } == 1)
            #expect(short.count < good.count && good.starts(with: short))
        }
    }

    @Test("one dead end refuses, the other never answers")
    func deadEnds() async throws {
        try await Self.withOrigin { doors in
            let refused = try #require(doors[.refused, secure: false])
            #expect(throws: RawClient.Failure.self) { try RawClient(port: refused) }
            for (door, answers) in [(ChaosDoor.silent, true), (.unanswered, false)] {
                let port = try #require(doors[door, secure: false])
                let address = try #require(SocketAddress(literal: "127.0.0.1", port: port))
                let socket = try Socket.stream(for: address)
                // On loopback the peer has answered when the call returns, or it never will.
                #expect(try socket.connect(to: address) == .inProgress)
                #expect(((try? socket.peerAddress()) != nil) == answers)
            }
        }
    }

    @Test("another body than the promised one is refused")
    func otherUpload() async throws {
        try await Self.withOrigin { doors in
            let trial = Self.trial(.slowReading)
            for target in [trial.target, trial.target.replacing("/chaos", with: "/served")] {
                let client = try RawClient(port: try #require(doors[.main, secure: false]))
                let length = trial.upload.count
                try client.send("PUT \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
                try? client.send(Array(repeating: 32, count: length))
                let status = try? client.receiveResponse().status
                #expect(status == nil || status == 422)
            }
        }
    }
}
