// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineTransport

@testable import LupineLoading

/// The answer of a scripted hop.
struct ScriptedAnswer: Sendable {
    /// Nil if there is no response before the end.
    var status: Int? = 200
    var fields: [(String, String)] = []
    var body: [Data] = []
    var error: URLError?
    var policy = URLCache.StoragePolicy.allowed
    /// Whether the hop does nothing until it is cancelled.
    var isSilent = false
    /// Whether the hop delivers its body but does not end before `finish`.
    var endsOnlyOnFinish = false
    /// The request of the redirect that a `URLProtocol` reports; nil for no redirect.
    var protocolRedirect: URLRequest?

    static func status(_ status: Int, _ fields: [(String, String)] = [], _ body: String = "")
        -> ScriptedAnswer
    {
        ScriptedAnswer(status: status, fields: fields, body: body.isEmpty ? [] : [Data(body.utf8)])
    }
    static func redirect(_ location: String, _ status: Int = 302) -> ScriptedAnswer {
        .status(status, [("Location", location)], "moved")
    }
    static func failure(_ code: URLError.Code, _ underlying: (any Error)? = nil) -> ScriptedAnswer {
        ScriptedAnswer(
            status: nil, error: URLError(code, userInfo: underlying.map { [NSUnderlyingErrorKey: $0] } ?? [:])
        )
    }
    static let silence = ScriptedAnswer(status: nil, isSilent: true)
}

/// A hop without a network. It performs its answer on a private queue, and keeps to the rules of `HopLoad`.
final class ScriptedHop: HopLoad {
    private struct State: Sendable {
        var wasStarted = false
        var isOver = false
        var mayRead = false
        var nextPiece = 0
        var isSuspended = false
        var priority: Float?
        var wasSkipped = false
        var cancelled: URLError?
        var sentBody: Data?
    }

    let request: HopRequest
    private let answer: ScriptedAnswer
    private let client: any HopLoadClient
    private let queue = DispatchQueue(label: "hop")
    private let state = Lock(State())
    private let began = Date()

    init(_ request: HopRequest, _ answer: ScriptedAnswer, _ client: any HopLoadClient) {
        self.request = request
        self.answer = answer
        self.client = client
        state.withLock { $0.priority = request.priority }
    }

    var isSuspended: Bool { state.withLock { $0.isSuspended } }
    var priority: Float? { state.withLock { $0.priority } }
    var wasSkipped: Bool { state.withLock { $0.wasSkipped } }
    var cancelled: URLError? { state.withLock { $0.cancelled } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var wasStarted: Bool { state.withLock { $0.wasStarted } }
    /// The octets that were read from the body's stream.
    var sentBody: Data? { state.withLock { $0.sentBody } }

    func start() {
        state.withLock { $0.wasStarted = true }
        queue.async { self.sendBody() }
    }

    func cancel(_ error: URLError) {
        state.withLock { $0.cancelled = error }
        queue.async { self.end(error) }
    }

    func resumeReading() {
        state.withLock { $0.mayRead = true }
        queue.async { self.read() }
    }

    func skip() {
        state.withLock { $0.wasSkipped = true }
        queue.async { self.end(nil) }
    }

    func setSuspended(_ isSuspended: Bool) { state.withLock { $0.isSuspended = isSuspended } }
    func setPriority(_ priority: Float) { state.withLock { $0.priority = priority } }

    /// Ends a hop whose answer has `endsOnlyOnFinish`.
    func finish(_ error: URLError? = nil) { queue.async { self.end(error) } }

    private func sendBody() {
        if isOver { return }
        switch request.body {
        case .streamed:
            client.hopNeedsBodyStream(self) { stream in
                self.queue.async {
                    guard let stream else { return self.end(URLError(.requestBodyStreamExhausted)) }
                    self.drain(stream.value)
                    self.respond()
                }
            }
        case .request:
            if let stream = request.request.httpBodyStream { drain(stream) }
            respond()
        case .data, .file: respond()
        }
    }

    private func drain(_ stream: InputStream) {
        stream.open()
        defer { stream.close() }
        state.withLock { $0.sentBody = Data(stream.hasBytesAvailable ? "read".utf8 : "".utf8) }
        client.hopSent(self, total: 4, expected: -1)
    }

    private func respond() {
        if isOver || answer.isSilent { return }
        if let request = answer.protocolRedirect, let url = self.request.request.url {
            client.hopRedirected(
                self, to: request,
                response: HTTPURLResponse(
                    url: url, head: ResponseHead(status: Status(302), fields: Fields()), isDecoded: false))
            return
        }
        guard let status = answer.status, let url = request.request.url else { return end(answer.error) }
        var fields = Fields()
        for (name, value) in answer.fields {
            guard let name = try? FieldName(name) else { continue }
            try? fields.append(name, value)
        }
        let head = ResponseHead(status: Status(status), fields: fields)
        let response = HTTPURLResponse(url: url, head: head, isDecoded: false)
        switch client.hopReceivedResponse(self, response, storagePolicy: answer.policy) {
        case .deliver:
            state.withLock { $0.mayRead = true }
            read()
        case .pause: break
        case .skip:
            state.withLock { $0.wasSkipped = true }
            end(nil)
        case .splice:
            for piece in answer.body { _ = client.hopSpliced(self, piece.count) }
            end(answer.error)
        }
    }

    private func read() {
        while true {
            let piece = state.withLock { state -> Data? in
                guard !state.isOver, state.mayRead, state.nextPiece < answer.body.count else { return nil }
                state.nextPiece += 1
                state.mayRead = false
                return answer.body[state.nextPiece - 1]
            }
            guard let piece else { break }
            switch client.hopReceivedContent(self, piece) {
            case .more: state.withLock { $0.mayRead = true }
            case .pause: break
            case .enough: return end(nil)
            }
        }
        let isAtEnd = state.withLock { $0.mayRead && $0.nextPiece == answer.body.count }
        if isAtEnd, !answer.endsOnlyOnFinish { end(answer.error) }
    }

    private func end(_ error: URLError?) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        var exchanges: [ExchangeMetrics] = []
        if answer.status != nil {
            var exchange = ExchangeMetrics(fetchStart: Instant(nanoseconds: 1))
            exchange.requestStart = Instant(nanoseconds: 2)
            exchanges.append(exchange)
        }
        client.hopEnded(
            self, error,
            HopMetrics(
                request: request.request, response: nil, fetchType: .networkLoad, exchanges: exchanges,
                fetchStart: began, end: Date(), bodyBytesBeforeEncoding: 0, bodyBytesAfterDecoding: 0))
    }
}

/// A source of scripted hops, for one load or several. Each hop gets the next answer of the script; the last answer is repeated.
final class HopScript: Sendable {
    private struct State: Sendable {
        var answers: [ScriptedAnswer]
        var hops: [ScriptedHop] = []
        var waiting: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state: Lock<State>
    private let usesNetwork: Bool

    init(_ answers: [ScriptedAnswer], usesNetwork: Bool = true) {
        state = Lock(State(answers: answers))
        self.usesNetwork = usesNetwork
    }

    /// The factory for a `SessionContext`. It does not retain the script, because the hops retain their client, which retains the
    /// factory: the test retains the script.
    var hopLoadFactory: HopLoadFactory {
        HopLoadFactory { [weak self] request, _, _, client in
            switch request.request.url?.scheme {
            case "http", "https", "ws", "wss": self?.hop(request, client)
            default: nil
            }
        }
    }

    private func hop(_ request: HopRequest, _ client: any HopLoadClient) -> HopLoadFactory.NewLoad {
        let (hop, ready) = state.withLock { state in
            let answer = state.answers.first ?? .status(200)
            if state.answers.count > 1 { state.answers.removeFirst() }
            let hop = ScriptedHop(request, answer, client)
            state.hops.append(hop)
            let count = state.hops.count
            let ready = state.waiting.filter { $0.0 <= count }.map(\.1)
            state.waiting.removeAll { $0.0 <= count }
            return (hop, ready)
        }
        for waiter in ready { waiter.resume() }
        return HopLoadFactory.NewLoad(load: hop, usesNetwork: usesNetwork)
    }

    var hops: [ScriptedHop] { state.withLock { $0.hops } }
    /// The requests of the hops.
    var sent: [URLRequest] { hops.map(\.request.request) }

    /// Waits until this many hops have been created.
    func waitForHops(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.hops.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
