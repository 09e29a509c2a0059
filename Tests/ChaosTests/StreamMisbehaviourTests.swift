// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineChaos

/// Checks that each misbehaviour of HTTP/2 does what it claims, with the codec on a socket, without pool and session.
struct StreamMisbehaviourTests {
    /// The events of the response to a trial.
    private struct Heard {
        var events: [HTTP2Event] = []
        var content: [UInt8] = []
        var sizes: [Int] = []
        var error: HTTP2ConnectionError?
        var isReset = false
        var octets: [UInt8] = []

        var ended: Bool { events.contains { if case .end = $0 { true } else { false } } }
        var head: ResponseHead? {
            for case .response(_, let head) in events { return head }
            return nil
        }
        var code: HTTP2ErrorCode? {
            for case .reset(_, let code) in events { return code }
            return nil
        }
        var hasFailed: Bool { events.contains { if case .failed = $0 { true } else { false } } }
        var isRefused: Bool { events.contains { if case .refused = $0 { true } else { false } } }
        var wasAnswered: Bool { events.contains(.pong(1)) }
        var interims: Int { events.count { if case .interim = $0 { true } else { false } } }
        var settings: Int { events.count { if case .settings = $0 { true } else { false } } }
        var goAways: [(last: StreamID, code: HTTP2ErrorCode)] {
            events.compactMap { if case .goAway(let last, let code, _) = $0 { (last, code) } else { nil } }
        }

        /// Whether the stream has ended, or nothing more can arrive.
        var isOver: Bool { ended || code != nil || hasFailed || isRefused || error != nil }
    }

    private static func trial(_ misbehaviour: Misbehaviour, number: Int) -> ChaosTrial {
        ChaosTrial(
            seed: 5, number: number, attempt: 0, misbehaviour: misbehaviour,
            form: misbehaviour.needsUpload ? .upload : .text, size: 3_000,
            uploadSize: misbehaviour.needsUpload ? 20_000 : 0)
    }

    /// Returns whether a misbehaviour leaves the stream open: a PING after the request shows that nothing more arrives.
    private static func isSilent(_ misbehaviour: Misbehaviour) -> Bool {
        [.keptWindow, .lateHead, .stallInBody].contains(misbehaviour)
    }

    private static func hear(_ trial: ChaosTrial, _ doors: ChaosDoors) throws -> Heard {
        let misbehaviour = trial.misbehaviour
        let port = try #require(doors[misbehaviour.door ?? .streams, secure: false])
        var machine = HTTP2Machine(.client, at: .zero)
        var list = HeaderList()
        for (name, value) in [
            (":method", trial.form.method), (":scheme", "http"), (":authority", "a"),
            (":path", trial.target),
        ] { list.append(name, value) }
        let isEmpty = trial.upload.isEmpty || !trial.form.isUpload
        let stream = try machine.open(list, method: isEmpty ? .get : .put, endsStream: isEmpty)
        if isSilent(misbehaviour) { machine.sendPing(1) }
        var heard = Heard()
        var rest = isEmpty || misbehaviour == .earlyWithReset ? [] : trial.upload[...]
        let client = try RawClient(port: port)
        if misbehaviour == .silentConnection {
            machine.sendPing(1)
            var output: [UInt8] = []
            machine.takeOutput(into: &output)
            try client.send(output)
            client.closeOurHalf()
        }
        do {
            while true {
                var output: [UInt8] = []
                machine.takeOutput(into: &output)
                while !rest.isEmpty, !heard.isOver {
                    let count = try machine.sendContent(
                        rest.count, on: stream, endsStream: true, into: &output)
                    if count == 0 { break }
                    output += rest.prefix(count)
                    rest = rest.dropFirst(count)
                }
                if misbehaviour != .silentConnection { try client.send(output) }
                if heard.isOver || heard.wasAnswered && (heard.head != nil || misbehaviour != .stallInBody) {
                    return heard
                }
                let piece = try client.receive()
                guard !piece.isEmpty else { return heard }
                heard.octets += piece
                heed(piece, &machine, &heard)
            }
        } catch RawClient.Failure.system(104), RawClient.Failure.system(32) {
            heard.isReset = true
        }
        return heard
    }

    private static func heed(_ piece: [UInt8], _ machine: inout HTTP2Machine, _ heard: inout Heard) {
        var start = 0
        do throws(HTTP2ConnectionError) {
            while true {
                let bytes = piece.span.extracting(droppingFirst: start)
                let (event, consumed) = try machine.next(bytes, at: .zero)
                if case .needMore = event { return }
                if case .content(let id, let range) = event {
                    heard.content += piece[start + range.lowerBound..<start + range.upperBound]
                    heard.sizes.append(range.count)
                    machine.consumed(range.count, on: id)
                }
                heard.events.append(event)
                start += consumed
            }
        } catch { heard.error = error }
    }

    /// Returns whether the events show the misbehaviour.
    private static func isTrue(_ trial: ChaosTrial, _ heard: Heard) -> Bool {
        let isWhole = heard.ended && heard.content == trial.content && heard.error == nil
        let code = heard.head?.status.code
        return switch trial.misbehaviour {
        case .none, .resetBehindEnd, .earlyWithReset, .slowDrip, .slowReading: isWhole
        case .padded: isWhole && heard.sizes.count > 1
        case .smallFrames: isWhole && heard.sizes.allSatisfy { $0 <= 60 }
        case .unannounced: isWhole && heard.head?.fields.contains(.contentLength) == false
        case .idleFrames: isWhole && heard.octets.contains(0x77)
        case .redirect: code == 307
        case .gzip, .gzipCorrupt, .gzipCutShort: heard.content.starts(with: [0x1F, 0x8B]) && heard.ended
        case .interimHeads: isWhole && heard.interims > 0
        case .interimFlood: heard.hasFailed && heard.interims == 32
        case .manyFields: isWhole && heard.head?.fields.count ?? 0 >= 300
        case .serverError: code == 503
        case .refusedOnce, .streamRefused: heard.code == .refusedStream && heard.head == nil
        case .streamReset, .resetInContent:
            heard.code.map { $0 != .refusedStream } == true && heard.head == nil
        case .resetInAnswer: heard.code.map { $0 != .refusedStream } == true && heard.head != nil
        case .malformedHead, .listBomb: heard.hasFailed && heard.head == nil
        case .wrongLength, .wrongOrder: heard.hasFailed
        case .lateHead, .keptWindow: heard.wasAnswered && heard.head == nil && !heard.isOver
        case .stallInBody: heard.head != nil && !heard.isOver
        case .leaveInSteps: isWhole && heard.goAways.first?.last == .largest
        case .leaveAtOnce: isWhole && heard.goAways.first?.last == StreamID(1)
        case .leaveWithError: isWhole && heard.goAways.first?.code == .internalError
        case .disclaimed: heard.isRefused && heard.goAways.first?.last == .connection
        case .fewerStreams, .otherWindows, .otherTable: isWhole && heard.settings == 3
        case .cutFrame: heard.head != nil && !heard.isOver && heard.octets.suffix(10).allSatisfy { $0 == 1 }
        // If the socket holds unread data of the client, the kernel sends a reset instead.
        case .endWithoutWord: heard.head != nil && !heard.isOver && heard.goAways.isEmpty
        case .connectionReset: heard.isReset
        case .brokenFrame, .pushed: heard.error != nil
        case .flood: heard.error?.code == .enhanceYourCalm
        case .floodWithinLimits: isWhole && heard.octets.count > heard.content.count + 150
        case .silentConnection: heard.events.isEmpty || !heard.wasAnswered && heard.head == nil
        default: false
        }
    }

    @Test("what happens over HTTP/2 is what was asked for")
    func truth() async throws {
        let origin = try ChaosOrigin(loops: 1)
        let result = Result {
            for misbehaviour in Misbehaviour.allCases
            where misbehaviour.version != .http1 && !misbehaviour.needsTLS
                && (misbehaviour.door.map { ChaosDoor.shared.contains($0) } ?? true)
            {
                // Tests the variants of those that have some.
                for number in 0..<(misbehaviour.hasVariants ? 40 : 2) {
                    let trial = Self.trial(misbehaviour, number: number)
                    let heard = try Self.hear(trial, origin.doors)
                    #expect(
                        Self.isTrue(trial, heard),
                        "\(misbehaviour) \(number): \(heard.events.suffix(4)) \(String(describing: heard.error))"
                    )
                }
            }
        }
        await origin.shutdown()
        try result.get()
    }
}

extension Misbehaviour {
    fileprivate var hasVariants: Bool {
        [.malformedHead, .wrongOrder, .wrongLength, .brokenFrame, .flood].contains(self)
    }
}

extension ChaosDoor {
    /// The doors for misbehaviour of streams and connections of HTTP/2.
    fileprivate static let shared: Set<ChaosDoor> = [
        .streams, .leaving, .disclaiming, .breaking, .stalling,
    ]
}
