// SPDX-License-Identifier: MIT

import LupineHTTP
package import LupineOrigin
package import LupineTLS
import LupineTransport

/// Translates a script for HTTP/1.1 into responses over HTTP/2, so that one test applies to both.
///
/// The script must send whole HTTP/1.1 responses, or the beginning of one. Heads lose their reason phrases and
/// connection-specific fields; content is sent as DATA, however the script frames it. The steps from one `expectHead` to the next
/// answer one request. If the script ends a connection after a response, the HTTP/2 connection stays open. If it does so within a
/// response, the HTTP/2 connection ends, too; a reset of the stream could discard octets that were sent before it. Scripts with
/// other steps cannot be translated.
final class StreamAnswers: Sendable {
    private let answers: [[Script.Step]]
    /// The index of the response that follows the last one; nil if connections end after it.
    private let repeatedIndex: Int?
    /// The index of the response to the next request.
    private let nextIndex = Lock(0)

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
        repeatedIndex = if case .repeatLast = plan.afterwards, !answers.isEmpty { last } else { nil }
    }

    /// Returns the response to the next request.
    func answer(to request: OriginRequest) throws(Refusal) -> EndpointChoice {
        let index = nextIndex.withLock { nextIndex in
            let current = nextIndex
            nextIndex += 1
            if nextIndex == answers.count, let repeatedIndex { nextIndex = repeatedIndex }
            return current
        }
        guard index < answers.count else { return .perform(StreamScript([.end()])) }
        do throws(HTTPError) {
            var translation = try StreamTranslation(request.head.method)
            for step in answers[index] { try translation.add(step) }
            if !translation.hasEnded { try translation.end() }
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
    private(set) var hasEnded = false
    private var codec: ClientCodec
    /// The number of octets of the request's content for which the steps so far wait.
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

    /// Adds the translation of a step.
    mutating func add(_ step: Script.Step) throws(HTTPError) {
        guard !hasEnded else { return }
        switch step {
        case .expectBytes(let count):
            expected += count
            steps.append(.expectContent(expected))
        case .expectExactly(let octets): steps.append(.expectExactly(octets))
        case .expectEnd: steps.append(.expectReset)
        case .expectHead: hasEnded = true
        case .send(let octets): try send(octets, frames: 16_384)
        case .sendByteByByte(let octets): try send(octets, frames: 1)
        case .pause(let duration): steps.append(.pause(duration))
        case .waitForSignal(let name): steps.append(.waitForSignal(name))
        case .waitForGate(let gate): steps.append(.waitForGate(gate))
        case .signal(let name): steps.append(.signal(name))
        case .reset:
            steps.append(.end(resetting: true))
            hasEnded = true
        case .close, .halfClose, .closeWithoutNotify: try end()
        case .stall: hasEnded = true
        case .expectFrame, .slowRead, .speakHTTP, .startTLS, .sendCloseNotify, .sendBeneathTLS, .cutWire,
            .requestRenegotiation, .updateKeys:
            preconditionFailure("\(step) is no step over HTTP/2")
        }
    }

    /// Translates the end of the script's connection.
    mutating func end() throws(HTTPError) {
        hasEnded = true
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
    /// Sets the origin's HTTP version, and answers all requests with the scripts of the plan, if there is one.
    package mutating func enable(_ testedHTTP: TestedHTTP, _ plan: ScriptPlan? = nil) {
        guard testedHTTP == .http2 else {
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
    package mutating func enable(_ testedHTTP: TestedHTTP) {
        if testedHTTP == .http2 { applicationProtocols = ["h2"] }
    }
}

extension LupineOrigin.Origin {
    /// Answers requests for the paths of a pattern with the scripts of a plan, over either version.
    package func answer(_ method: String?, _ pattern: String, _ plan: ScriptPlan) {
        let answers = StreamAnswers(plan)
        let requestCount = Lock(0)
        route(
            method, pattern,
            .chosen { request throws(Refusal) in
                if request.head.version == .http2 { return try answers.answer(to: request) }
                let number = requestCount.withLock { count in
                    defer { count += 1 }
                    return count
                }
                if number < plan.scripts.count { return .follow(plan.scripts[number]) }
                guard case .repeatLast = plan.afterwards, let last = plan.scripts.last else {
                    return .follow(Script([]))
                }
                return .follow(last)
            })
    }
}
