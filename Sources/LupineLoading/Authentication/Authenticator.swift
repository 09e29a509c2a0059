// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Answers the challenges of servers and proxies for one task: which credential goes out with a request, and what follows
/// from the response.
///
/// A value that the task's driver owns; it does no I/O and waits for nothing. For each transmission: `begin`, the
/// content's hash if `contentHash` wants one, `fields`, and with the response `received`, or `refused` when a proxy
/// opened no tunnel. A verdict that asks is followed by `answered`. The session's memory and storage are shared; of them
/// only that is used which the task's own credentials leave to it (U-11.4).
struct Authenticator: Sendable {
    /// What becomes of a response.
    enum Verdict: Sendable {
        /// It is the hop's final one; a tunnel's refusal is the task's error.
        case deliver
        /// The same hop goes out once more, with its method and body (U-11.6).
        case resend
        /// The task's delegate is asked; its answer goes to `answered`.
        case ask(URLAuthenticationChallenge)
        /// The task fails as cancelled.
        case cancel
    }

    /// What a delegate answers, or a challenge's sender is told.
    enum Answer: Sendable {
        case use(URLCredential?)
        case performDefault
        case cancel
        case rejectSpace
    }

    private enum Side: Sendable { case server, proxy }

    /// What is known of one of those who may ask.
    private struct Party: Sendable {
        /// Whom it is about: what was said to one is not for another.
        var asker: AuthenticationCandidate.Asker?
        /// What goes out until it is refused.
        var current: AuthenticationAnswer?
        /// What went out last.
        var sent = Sent.nothing
        var failures: [Realm: Int] = [:]
        var refused: [Realm: Set<URLCredential>] = [:]
        /// What a delegate has answered for this task in the place of what was proposed, and was taken.
        var given: [URLProtectionSpace: URLCredential] = [:]
        /// New nonces in a row for the same credential.
        var renewals = 0
        /// The spaces in which the configured credential was tried.
        var configured: Set<URLProtectionSpace> = []
    }

    /// A space, by whichever method it is entered: what is refused by Digest is no better by Basic, and would be told to everybody.
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
        /// Nothing, or what this has no part in: a caller's field, a proxy's Basic credentials.
        case nothing
        /// What nobody was asked for: its refusal is not counted (U-11.4).
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

    /// A challenge that waits to be answered.
    private struct Question: Sendable {
        let side: Side
        let asker: AuthenticationCandidate.Asker
        let response: HTTPURLResponse
        /// What can be asked for; the first is.
        var candidates: [AuthenticationCandidate]
        var proposal: URLCredential?
    }

    /// How often a task's delegate is asked, and a configured credential tried (U-11.7): whoever challenges may name another
    /// realm each time.
    static let mostChallenges = 20
    /// How often in a row a nonce is replaced (U-11.13).
    static let mostRenewals = 3

    private let memory: AuthenticationMemory
    private var credentials: TaskCredentials
    private var message: AuthenticationMessage?
    private var server = Party()
    private var proxy = Party()
    private var question: Question?
    private var challenges = 0
    /// The next transmission repeats the hop.
    private var isResending = false

    /// For a task of the session of `memory`; `storage` is its configuration's, `request` is what the task was made for.
    ///
    /// - Parameter isNamed: Whether the configuration says to every server who the user is.
    init(
        memory: AuthenticationMemory, storage: URLCredentialStorage?, request: URLRequest? = nil,
        isNamed: Bool = false
    ) {
        self.memory = memory
        credentials = TaskCredentials(of: request, storage: storage, isNamed: isNamed)
    }

    /// What the task was handed. It may be replaced at any time: set before each call that follows from a response.
    var own: URLCredential? {
        get { credentials.own }
        set { credentials.own = newValue }
    }

    // MARK: what goes out

    /// A transmission has begun with nothing to say to anybody: there was no proxy, and nothing was known of servers.
    mutating func begun(_ message: AuthenticationMessage) { take(message) }

    private mutating func take(_ message: AuthenticationMessage) {
        self.message = message
        if message.hasAuthorization { credentials.isNamed = true }
    }

    /// A transmission begins.
    mutating func begin(_ message: AuthenticationMessage) {
        take(message)
        // Nobody has asked yet, mostly: then it does not matter who would.
        if !isResending || server.current != nil && server.asker != message.server { server.current = nil }
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
        let asker = message.proxy?.asker.canonical
        if proxy.asker != asker { proxy = Party() }
        proxy.asker = asker
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

    /// The configuration's credential is every task's, and the first.
    private func knownAnswer(to place: AuthenticationProxy) -> AuthenticationAnswer? {
        memory.answer(for: place) { _ in place.credential }
            ?? memory.answer(for: place) { proposal(.proxy, $0) }
    }

    /// What has to be hashed before `fields` can be made; nil when nothing has.
    var contentHash: ContentHash? {
        guard let message, sendsAnswers else { return nil }
        var answers = [server.sent.answer]
        if message.proxy?.isTunnelled == false { answers.append(proxy.sent.answer) }
        let functions = Set(answers.compactMap { $0?.contentFunction })
        return functions.isEmpty
            ? nil : ContentHash(functions: Array(functions), content: message.content)
    }

    /// What goes out to the proxy with this transmission, beside the configuration's Basic; nil for nothing.
    var proxyCredential: URLCredential? { proxy.sent.answer?.credential }

    /// Whether anything goes out with the request.
    private var sendsAnswers: Bool { server.sent.answer != nil || proxy.sent.answer != nil }

    /// What goes out with the request. Each answer is good for one transmission.
    ///
    /// - Parameter hashes: What `contentHash` gave.
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

    /// The final response of a transmission.
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

    /// A proxy opened no tunnel, because it wants to know who we are.
    mutating func refused(tunnel head: ResponseHead) -> Verdict {
        guard let message, message.proxy?.isTunnelled == true else { return .deliver }
        return challenged(
            by: .proxy, HTTPURLResponse(url: message.url, head: head, isDecoded: false))
    }

    /// The answer to the challenge of the last verdict.
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
            let space = candidate.space(of: question.asker)
            question.candidates.removeAll { $0.space(of: question.asker) == space }
            return ask(question)
        }
    }

    private mutating func use(
        _ credential: URLCredential, for candidate: AuthenticationCandidate, _ question: Question
    ) -> Verdict {
        guard let answer = memory.answer(to: candidate, from: question.asker, with: credential) else {
            return .deliver
        }
        self[question.side].current = answer
        isResending = true
        return .resend
    }

    private mutating func challenged(by side: Side, _ response: HTTPURLResponse) -> Verdict {
        guard let message, let asker = side == .server ? message.server : message.proxy?.asker else {
            return .deliver
        }
        if side == .server { server.asker = asker }
        let lines = response.lines(of: side == .server ? .wwwAuthenticate : .proxyAuthenticate)
        let content = side == .proxy && message.proxy?.isTunnelled == true ? .none : message.content
        let candidates = AuthenticationCandidate.candidates(in: lines, from: asker).filter { candidate in
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
        if triesConfigured(side, candidates, asker) {
            isResending = true
            return .resend
        }
        return ask(Question(side: side, asker: asker, response: response, candidates: candidates))
    }

    /// The credential was good, only the nonce was too old: the same goes out with the new one (U-11.13).
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

    /// The configuration's credential for the proxy goes out before anybody is asked. As Basic it has gone out already.
    private mutating func triesConfigured(
        _ side: Side, _ candidates: [AuthenticationCandidate], _ asker: AuthenticationCandidate.Asker
    ) -> Bool {
        guard side == .proxy, challenges < Self.mostChallenges,
            let credential = message?.proxy?.credential, let candidate = candidates.first,
            case .digest = candidate, proxy.configured.insert(candidate.space(of: asker)).inserted,
            let answer = memory.answer(to: candidate, from: asker, with: credential)
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
        let space = candidate.space(of: question.asker)
        let party = self[question.side]
        question.proposal = proposal(question.side, space)
        self.question = question
        return .ask(
            URLAuthenticationChallenge(
                space: space, credential: question.proposal, failures: party.failures[Realm(space)] ?? 0,
                response: question.response))
    }

    /// What the task would answer with in a space; nil once it was refused there.
    private func proposal(_ side: Side, _ space: URLProtectionSpace) -> URLCredential? {
        let party = self[side]
        let refused = party.refused[Realm(space)] ?? []
        if let given = party.given[space], !refused.contains(given) { return given }
        let proposal = credentials.proposal(for: space, at: message?.url)
        return proposal.flatMap { refused.contains($0) ? nil : $0 }
    }

    /// What went out was taken: it is remembered as far as it may be, by the session and for whoever has the same
    /// credential (U-11.15, U-11.16).
    private mutating func accepted(by side: Side, _ response: HTTPURLResponse) {
        guard let message, let answer = self[side].sent.answer else { return }
        self[side].renewals = 0
        let name = side == .server ? "Authentication-Info" : "Proxy-Authentication-Info"
        // A tunnel says nothing about the way that it was opened.
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

    private subscript(side: Side) -> Party {
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
    /// The lines of a field, one by one where they are known.
    fileprivate func lines(of name: FieldName) -> [String] {
        fields?.values(of: name) ?? value(forHTTPHeaderField: name.description).map { [$0] } ?? []
    }
}
