// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Answers the challenges of servers and proxies for one task: decides which credential is sent with a request, and what happens
/// after the response.
///
/// A value that the task's driver owns; it does no I/O and never waits. The calls for each transmission are: `begin`, the hashing
/// of the content if `contentHash` is not nil, `fields`, and then `received` with the response, or `refused` when a proxy did not
/// open a tunnel. A verdict `ask` is followed by `answered`. The session's memory and storage are shared; only what is compatible
/// with the task's own credentials is used from them (U-11.4).
struct Authenticator: Sendable {
    /// What to do after a response.
    enum Verdict: Sendable {
        /// The response is the final one of this request; a refused tunnel is the task's error.
        case deliver
        /// The same request is sent again, with its method and body (U-11.6).
        case resend
        /// The task's delegate is asked; its answer is passed to `answered`.
        case ask(URLAuthenticationChallenge)
        /// The task fails with `URLError.cancelled`.
        case cancel
    }

    /// The answer of a delegate, or of the code that calls a challenge's sender.
    enum Answer: Sendable {
        case use(URLCredential?)
        case performDefault
        case cancel
        case rejectSpace
    }

    private enum Side: Sendable { case server, proxy }

    /// The state for the server or for the proxy.
    private struct PeerState: Sendable {
        /// The server or proxy that this state belongs to: an answer for one is not used for another.
        var challenger: AuthenticationCandidate.Challenger?
        /// The answer that is sent until it is refused.
        var current: AuthenticationAnswer?
        /// The answer that was sent last.
        var sent = Sent.nothing
        var failures: [Realm: Int] = [:]
        var refused: [Realm: Set<URLCredential>] = [:]
        /// Credentials that a delegate gave for this task instead of the proposed ones, and that were accepted.
        var given: [URLProtectionSpace: URLCredential] = [:]
        /// The number of consecutive stale nonces for the same credential.
        var renewals = 0
        /// The spaces in which the proxy's configured credential was tried.
        var configured: Set<URLProtectionSpace> = []
    }

    /// A space regardless of its method: a credential refused by Digest would be refused by Basic too, and be sent in the clear.
    private struct Realm: Hashable, Sendable {
        private let host: String
        private let port: Int
        private let kind: String?
        private let name: String?

        init(_ space: URLProtectionSpace) {
            host = space.host
            port = space.port
            kind = space.`protocol` ?? space.proxyType
            name = space.realm
        }
    }

    private enum Sent: Sendable {
        /// Nothing, or something this type does not handle: a field of the caller's, a proxy's Basic credentials.
        case nothing
        /// A preemptive answer: its refusal is not counted (U-11.4).
        case unasked(AuthenticationAnswer)
        /// The answer to a challenge.
        case asked(AuthenticationAnswer)

        var answer: AuthenticationAnswer? {
            switch self {
            case .nothing: nil
            case .unasked(let answer), .asked(let answer): answer
            }
        }
    }

    /// A challenge that waits for an answer.
    private struct Question: Sendable {
        let side: Side
        let challenger: AuthenticationCandidate.Challenger
        let response: HTTPURLResponse
        /// The challenges that can be asked about; the first one is.
        var candidates: [AuthenticationCandidate]
        var proposal: URLCredential?
    }

    /// The most challenges of a task that reach the delegate or try a configured credential (U-11.7): a peer may name another
    /// realm each time.
    static let mostChallenges = 20
    /// The most consecutive stale nonces that are replaced (U-11.13).
    static let mostRenewals = 3

    private let memory: AuthenticationMemory
    private var credentials: TaskCredentials
    private var message: AuthenticationMessage?
    private var server = PeerState()
    private var proxy = PeerState()
    private var question: Question?
    private var challenges = 0
    /// Whether the next transmission repeats the request.
    private var isResending = false

    /// Creates the authenticator of a task that was created for `request`, in a session with this memory and storage.
    ///
    /// - Parameter isNamed: Whether the configuration identifies the user to every server.
    init(
        memory: AuthenticationMemory, storage: URLCredentialStorage?, request: URLRequest? = nil,
        isNamed: Bool = false
    ) {
        self.memory = memory
        credentials = TaskCredentials(of: request, storage: storage, isNamed: isNamed)
    }

    /// The task's own credential. It may be replaced at any time, so it is set again before each call about a response.
    var own: URLCredential? {
        get { credentials.own }
        set { credentials.own = newValue }
    }

    // MARK: what goes out

    /// Begins a transmission that carries no answers: there is no proxy, and nothing is known about servers.
    mutating func begun(_ message: AuthenticationMessage) { take(message) }

    private mutating func take(_ message: AuthenticationMessage) {
        self.message = message
        if message.hasAuthorization { credentials.isNamed = true }
    }

    /// Begins a transmission.
    mutating func begin(_ message: AuthenticationMessage) {
        take(message)
        // Usually no server has sent a challenge yet; then its name is not computed.
        if !isResending || server.current != nil && server.challenger != message.server {
            server.current = nil
        }
        server.sent = .nothing
        if let current = server.current {
            server.sent = .asked(current)
        } else if !message.hasAuthorization,
            let known = memory.answer(for: message.url, with: { proposal(.server, $0) }),
            Self.canAnswer(known, message.content)
        {
            server.sent = .unasked(known)
        }
        beginProxy(message)
        isResending = false
    }

    private mutating func beginProxy(_ message: AuthenticationMessage) {
        let challenger = message.proxy?.challenger.canonical
        if proxy.challenger != challenger { proxy = PeerState() }
        proxy.challenger = challenger
        proxy.sent = .nothing
        guard let place = message.proxy else { return }
        if !isResending, let current = proxy.current,
            credentials.isWithheld(current.credential, from: current.space, at: message.url)
        {
            proxy.current = nil
        }
        let content = place.isTunnelled ? .none : message.content
        if let current = proxy.current {
            if Self.canAnswer(current, content) { proxy.sent = .asked(current) }
        } else if let known = knownAnswer(to: place), Self.canAnswer(known, content) {
            proxy.sent = .unasked(known)
        }
    }

    /// The configuration's credential comes first, for every task.
    private func knownAnswer(to place: AuthenticationProxy) -> AuthenticationAnswer? {
        memory.answer(for: place) { _ in place.credential }
            ?? memory.answer(for: place) { proposal(.proxy, $0) }
    }

    /// The hashes that are needed before `fields` can be called; nil for none.
    var contentHash: ContentHash? {
        guard let message, sendsAnswers else { return nil }
        var answers = [server.sent.answer]
        if message.proxy?.isTunnelled == false { answers.append(proxy.sent.answer) }
        let functions = Set(answers.compactMap { $0?.contentFunction })
        return functions.isEmpty
            ? nil : ContentHash(functions: Array(functions), content: message.content)
    }

    /// The credential that this transmission sends to the proxy, except for the configuration's Basic one; nil for none.
    var proxyCredential: URLCredential? { proxy.sent.answer?.credential }

    /// Whether any answer is sent with the request.
    private var sendsAnswers: Bool { server.sent.answer != nil || proxy.sent.answer != nil }

    /// Returns the answers to send with the request. Each answer is valid for one transmission.
    ///
    /// - Parameter hashes: The result of `contentHash`.
    mutating func fields(_ hashes: ContentHash.Result = [:]) -> AuthenticationFields {
        var fields = AuthenticationFields()
        guard let message, sendsAnswers else { return fields }
        let target = message.target
        let make = { (answer: AuthenticationAnswer) in
            answer.field(
                method: message.method, target: target,
                contentHash: answer.contentFunction.flatMap { hashes[$0] })
        }
        if let answer = server.sent.answer {
            fields.authorization = make(answer)
            if fields.authorization == nil { server.sent = .nothing }
        }
        guard let answer = proxy.sent.answer else { return fields }
        if message.proxy?.isTunnelled == true {
            fields.tunnelAuthorizer = TunnelAuthorizer(answer)
        } else {
            fields.proxyAuthorization = make(answer)
            if fields.proxyAuthorization == nil { proxy.sent = .nothing }
        }
        return fields
    }

    // MARK: what comes back

    /// Handles the final response of a transmission.
    mutating func received(_ response: HTTPURLResponse) -> Verdict {
        guard let message else { return .deliver }
        switch response.statusCode {
        case 407 where message.proxy?.isTunnelled == false:
            return challenged(by: .proxy, response)
        case 401:
            accepted(by: .proxy, response)
            return challenged(by: .server, response)
        default:
            accepted(by: .proxy, response)
            accepted(by: .server, response)
            return .deliver
        }
    }

    /// Handles a proxy's refusal to open a tunnel without authentication.
    mutating func refused(tunnel head: ResponseHead) -> Verdict {
        guard let message, message.proxy?.isTunnelled == true else { return .deliver }
        return challenged(
            by: .proxy, HTTPURLResponse(url: message.url, head: head, isDecoded: false))
    }

    /// Handles the answer to the challenge of the last verdict.
    mutating func answered(_ answer: Answer) -> Verdict {
        guard var question, let candidate = question.candidates.first else { return .deliver }
        self.question = nil
        switch answer {
        case .use(nil): return .deliver
        case .use(let credential?): return use(credential, for: candidate, question)
        case .performDefault:
            guard let proposal = question.proposal, proposal.hasPassword else { return .deliver }
            return use(proposal, for: candidate, question)
        case .cancel: return .cancel
        case .rejectSpace:
            let space = candidate.space(of: question.challenger)
            question.candidates.removeAll { $0.space(of: question.challenger) == space }
            return ask(question)
        }
    }

    private mutating func use(
        _ credential: URLCredential, for candidate: AuthenticationCandidate, _ question: Question
    ) -> Verdict {
        guard let answer = memory.answer(to: candidate, from: question.challenger, with: credential) else {
            return .deliver
        }
        self[question.side].current = answer
        isResending = true
        return .resend
    }

    private mutating func challenged(by side: Side, _ response: HTTPURLResponse) -> Verdict {
        guard let message, let challenger = side == .server ? message.server : message.proxy?.challenger
        else {
            return .deliver
        }
        if side == .server { server.challenger = challenger }
        let lines = response.lines(of: side == .server ? .wwwAuthenticate : .proxyAuthenticate)
        let content = side == .proxy && message.proxy?.isTunnelled == true ? .none : message.content
        let candidates = AuthenticationCandidate.candidates(in: lines, from: challenger).filter { candidate in
            if case .digest(let challenge) = candidate, challenge.protection == .authInt {
                return !content.isUnknown
            }
            return true
        }
        if renews(side, candidates) {
            isResending = true
            return .resend
        }
        refusedAnswer(of: side)
        if triesConfigured(side, candidates, challenger) {
            isResending = true
            return .resend
        }
        return ask(Question(side: side, challenger: challenger, response: response, candidates: candidates))
    }

    /// Handles a stale nonce: the same credential is sent again with the new nonce (U-11.13). Returns whether it was stale.
    private mutating func renews(_ side: Side, _ candidates: [AuthenticationCandidate]) -> Bool {
        guard let answer = self[side].sent.answer, self[side].renewals < Self.mostRenewals else {
            return false
        }
        for case .digest(let challenge) in candidates
        where challenge.isStale && challenge.realm == answer.space.realm
            && challenge.algorithm == answer.identity.algorithm
        {
            answer.renew(challenge)
            self[side].renewals += 1
            self[side].current = answer
            return true
        }
        return false
    }

    private mutating func refusedAnswer(of side: Side) {
        let sent = self[side].sent
        self[side].renewals = 0
        self[side].current = nil
        self[side].sent = .nothing
        if let answer = sent.answer { memory.forget(answer) }
        if case .asked(let answer) = sent {
            let realm = Realm(answer.space)
            self[side].failures[realm, default: 0] += 1
            self[side].refused[realm, default: []].insert(answer.credential)
        }
    }

    /// Tries the proxy's configured credential before the delegate is asked. With Basic it has been sent already.
    private mutating func triesConfigured(
        _ side: Side, _ candidates: [AuthenticationCandidate],
        _ challenger: AuthenticationCandidate.Challenger
    ) -> Bool {
        guard side == .proxy, challenges < Self.mostChallenges,
            let credential = message?.proxy?.credential, let candidate = candidates.first,
            case .digest = candidate, proxy.configured.insert(candidate.space(of: challenger)).inserted,
            let answer = memory.answer(to: candidate, from: challenger, with: credential)
        else { return false }
        proxy.current = answer
        challenges += 1
        return true
    }

    private mutating func ask(_ question: Question) -> Verdict {
        guard let candidate = question.candidates.first, challenges < Self.mostChallenges else {
            return .deliver
        }
        challenges += 1
        var question = question
        let space = candidate.space(of: question.challenger)
        let party = self[question.side]
        question.proposal = proposal(question.side, space)
        self.question = question
        return .ask(
            URLAuthenticationChallenge(
                space: space, credential: question.proposal, failures: party.failures[Realm(space)] ?? 0,
                response: question.response))
    }

    /// The credential that the task would answer with in a space; nil once that was refused there.
    private func proposal(_ side: Side, _ space: URLProtectionSpace) -> URLCredential? {
        let party = self[side]
        let refused = party.refused[Realm(space)] ?? []
        if let given = party.given[space], !refused.contains(given) { return given }
        let proposal = credentials.proposal(for: space, at: message?.url)
        return proposal.flatMap { refused.contains($0) ? nil : $0 }
    }

    /// Handles an accepted answer. The session remembers it, for other requests with the same credential, if its persistence
    /// allows it (U-11.15, U-11.16).
    private mutating func accepted(by side: Side, _ response: HTTPURLResponse) {
        guard let message, let answer = self[side].sent.answer else { return }
        self[side].renewals = 0
        let name = side == .server ? "Authentication-Info" : "Proxy-Authentication-Info"
        // A response from inside a tunnel says nothing about the tunnel's own authentication.
        if side == .server || message.proxy?.isTunnelled == false,
            let info = response.value(forHTTPHeaderField: name)
        {
            answer.take(authenticationInfo: info)
        }
        let credential = answer.credential
        let isConfigured = side == .proxy && credential == message.proxy?.credential
        guard credential.persistence != .none || isConfigured else { return }
        switch side {
        case .server: memory.remember(answer, for: message.url)
        case .proxy: memory.remember(forProxy: answer)
        }
        if case .asked = self[side].sent, !isConfigured,
            credential != credentials.proposal(for: answer.space, at: message.url)
        {
            self[side].given[answer.space] = credential
        }
    }

    private static func canAnswer(
        _ answer: AuthenticationAnswer, _ content: AuthenticationMessage.Content
    ) -> Bool {
        answer.contentFunction == nil || !content.isUnknown
    }

    private subscript(side: Side) -> PeerState {
        get {
            switch side {
            case .server: server
            case .proxy: proxy
            }
        }
        set {
            switch side {
            case .server: server = newValue
            case .proxy: proxy = newValue
            }
        }
    }
}

extension AuthenticationMessage.Content {
    /// Whether it cannot be hashed before it is sent.
    var isUnknown: Bool {
        if case .stream = self { return true }
        return false
    }
}

extension HTTPURLResponse {
    /// The lines of a field, separately if the response still has them.
    fileprivate func lines(of name: FieldName) -> [String] {
        fields?.values(of: name) ?? value(forHTTPHeaderField: name.description).map { [$0] } ?? []
    }
}
