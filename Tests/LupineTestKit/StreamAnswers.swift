// SPDX-License-Identifier: MIT

import LupineHTTP
package import LupineOrigin
package import LupineTLS
import LupineTransport

/// Translates a script for HTTP/1.1 into responses over HTTP/2, so that one test applies to both.
///
/// The script must send whole HTTP/1.1 responses, or the beginning of one: heads lose their reason phrases and
/// connection-specific fields, content remains content, however it is framed. A request is answered by the steps from one
/// `expectHead` to the next. If a connection ends after a response, or because its script does, nothing happens; if it ends
/// within a response, the HTTP/2 connection ends, too, because a reset could discard what was sent right before it. Scripts with
/// other steps cannot be translated.
final class StreamAnswers: Sendable {
    private let answers: [[Script.Step]]
    /// The index of the response to continue with after the last one; nil to end connections instead.
    private let again: Int?
    private let next = Lock(0)

    init(_ plan: ScriptPlan) {
        var answers: [[Script.Step]] = []
        var last = 0
        for script in plan.scripts {
            last = answers.count
            var answer: [Script.Step] = []
            var hasBegun = false
            for step in script.steps {
                if case .expectHead = step {
                    if hasBegun { answers.append(answer + [.expectHead]) }
                    if hasBegun { answer = [] }
                    hasBegun = true
                } else {
                    answer.append(step)
                    if case .send = step { hasBegun = true }
                }
            }
            answers.append(answer)
        }
        self.answers = answers
        again = if case .repeatLast = plan.afterwards, !answers.isEmpty { last } else { nil }
    }

    /// Returns the response to the next request.
    func answer(to request: OriginRequest) throws(Refusal) -> EndpointChoice {
        let index = next.withLock { next in
            defer { next = next + 1 == answers.count ? again ?? answers.count : next + 1 }
            return next
        }
        guard index < answers.count else { return .perform(StreamScript([.end()])) }
        do throws(HTTPError) {
            var translation = try StreamTranslation(request.head.method)
            for step in answers[index] { try translation.take(step) }
            if !translation.isOver { try translation.end() }
            return .perform(StreamScript(translation.steps))
        } catch {
            throw Refusal(500, "no script for both: \(error)")
        }
    }
}

/// The translation of one response.
private struct StreamTranslation {
    private(set) var steps: [StreamScript.Step] = []
    /// Whether the following steps have no effect.
    private(set) var isOver = false
    private var codec: ClientCodec
    /// Octets of the request's content that the steps so far wait for.
    private var expected = 0
    private var isAnswered = false

    /// The connection-specific fields of HTTP/1.1 (RFC 9113 §8.2.2).
    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    init(_ method: Method) throws(HTTPError) {
        var limits = ParserLimits()
        limits.interimHeads = 1_000
        codec = ClientCodec(limits: limits)
        var fields = Fields()
        try fields.append(.host, "origin.test")
        var dropped: [UInt8] = []
        try codec.send(
            RequestHead(method: method, target: .origin("/"), fields: fields), body: .none, into: &dropped)
    }

    mutating func take(_ step: Script.Step) throws(HTTPError) {
        guard !isOver else { return }
        switch step {
        case .expectBytes(let count):
            expected += count
            steps.append(.expectContent(expected))
        case .expectExactly(let octets): steps.append(.expectExactly(octets))
        case .expectEnd: steps.append(.expectReset)
        case .expectHead: isOver = true
        case .send(let octets): try send(octets, frames: 16_384)
        case .sendByteByByte(let octets): try send(octets, frames: 1)
        case .pause(let duration): steps.append(.pause(duration))
        case .waitForSignal(let name): steps.append(.waitForSignal(name))
        case .waitForGate(let gate): steps.append(.waitForGate(gate))
        case .signal(let name): steps.append(.signal(name))
        case .reset:
            steps.append(.end(resetting: true))
            isOver = true
        case .close, .halfClose, .closeWithoutNotify: try end()
        case .stall: isOver = true
        case .expectFrame, .slowRead, .speakHTTP, .startTLS, .sendCloseNotify, .sendBeneathTLS, .cutWire,
            .requestRenegotiation, .updateKeys:
            preconditionFailure("\(step) is no step over HTTP/2")
        }
    }

    /// Ends the connection of the script.
    mutating func end() throws(HTTPError) {
        isOver = true
        guard !isAnswered else { return }
        do throws(HTTPError) {
            if case .end = try codec.peerClosed() { endStream([]) } else { steps.append(.end()) }
        } catch { steps.append(.end()) }
    }

    private mutating func send(_ octets: [UInt8], frames: Int) throws(HTTPError) {
        var start = 0
        while true {
            let (event, consumed) = try codec.next(octets.span.extracting(start..<octets.count))
            switch event {
            case .needMore: return
            case .interim(let head): steps.append(.head(Self.list(head)))
            case .head(let head, _, _): steps.append(.head(Self.list(head)))
            case .content(let range):
                let piece = Array(octets[start + range.lowerBound..<start + range.upperBound])
                steps.append(.content(piece, frames: frames, endsStream: false))
            case .end(let trailers): endStream(Self.list(trailers))
            case .handover: preconditionFailure("an upgrade is none over HTTP/2")
            }
            start += consumed
        }
    }

    /// Ends the stream, with the last head or content if possible.
    private mutating func endStream(_ trailers: [(name: String, value: String)]) {
        isAnswered = true
        guard trailers.isEmpty else { return steps.append(.head(trailers, endsStream: true)) }
        switch steps.popLast() {
        case .head(let list, _): steps.append(.head(list, endsStream: true))
        case .content(let octets, let frames, _):
            steps.append(.content(octets, frames: frames, endsStream: true))
        case let other:
            if let other { steps.append(other) }
            steps.append(.content([], endsStream: true))
        }
    }

    private static func list(_ head: ResponseHead) -> [(name: String, value: String)] {
        [(":status", "\(head.status.code)")] + list(head.fields)
    }

    private static func list(_ fields: Fields) -> [(name: String, value: String)] {
        (0..<fields.count).map { (fields.name(at: $0).lowercased(), fields.value(at: $0)) }
            .filter { !connectionFields.contains($0.0) }
    }
}

extension OriginConfiguration {
    /// Sets the origin's HTTP version, and answers all requests by the plan, if there is one.
    package mutating func speak(_ spoken: Spoken, _ plan: ScriptPlan? = nil) {
        guard spoken == .http2 else {
            script = plan ?? script
            return
        }
        http2 = HTTP2Behaviour()
        guard let plan else { return }
        let answers = StreamAnswers(plan)
        endpoint = .chosen { request throws(Refusal) in try answers.answer(to: request) }
    }
}

extension TLSServerConfiguration {
    /// Sets the protocol that the origin selects by ALPN.
    package mutating func speak(_ spoken: Spoken) {
        if spoken == .http2 { applicationProtocols = ["h2"] }
    }
}

extension LupineOrigin.Origin {
    /// Answers requests for that path by the plan, over either version.
    package func answer(_ method: String?, _ pattern: String, _ plan: ScriptPlan) {
        let answers = StreamAnswers(plan)
        let used = Lock(0)
        route(
            method, pattern,
            .chosen { request throws(Refusal) in
                if request.head.version == .http2 { return try answers.answer(to: request) }
                let number = used.withLock { used in
                    defer { used += 1 }
                    return used
                }
                if number < plan.scripts.count { return .follow(plan.scripts[number]) }
                guard case .repeatLast = plan.afterwards, let last = plan.scripts.last else {
                    return .follow(Script([]))
                }
                return .follow(last)
            })
    }
}
