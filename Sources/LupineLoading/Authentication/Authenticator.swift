// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Answers the challenges of servers and proxies for one task: decides which credential is sent with a request, and what happens
/// after the response.
///
/// A value that the task's driver owns; it does no I/O and never waits. For each transmission the driver calls `begin`, hashes
/// the content if `contentHash` is not nil, calls `fields`, and then `received` with the response, or `refused` when a proxy did
/// not open a tunnel. After a verdict `ask` the driver calls `answered`. All tasks of a session share its memory and storage;
/// `TaskCredentials` decides which of their credentials this task may use (U-11.4).
struct Authenticator: Sendable {
    /// The next step after a response.
    enum Verdict: Sendable {
        /// The response is final. A proxy's refusal to open a tunnel becomes the task's error.
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
        /// Answer with the credential; without one, deliver the response.
        case use(URLCredential?)
        /// Answer with the proposed credential, if it has a password.
        case performDefault
        case cancel
        /// Ask about the next challenge of the response, in another protection space.
        case rejectSpace
    }

    /// One of the two senders of challenges, each with its own state.
    private enum Peer: Sendable { case server, proxy }

    /// The state of the authentication to the server or to the proxy.
    private struct PeerState: Sendable {
        /// The server or proxy that this state belongs to: an answer to one is not sent to another.
        var challenger: AuthenticationCandidate.Challenger?
        /// The answer that is sent until it is refused.
        var current: AuthenticationAnswer?
        /// The answer that was sent last.
        var sent = Sent.nothing
        /// The number of refused answers to challenges.
        var failures: [Realm: Int] = [:]
        /// The credentials that the peer has refused.
        var refused: [Realm: Set<URLCredential>] = [:]
        /// The accepted credentials that a delegate chose instead of the proposed ones.
        var chosen: [URLProtectionSpace: URLCredential] = [:]
        /// The number of consecutive stale nonces for the same credential.
        var renewals = 0
        /// The spaces in which the proxy's configured credential was tried.
        var triedConfigured: Set<URLProtectionSpace> = []
    }

    /// A protection space without its method: a credential refused by Digest would be refused by Basic too, and Basic would send
    /// it in the clear.
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

    /// The answer in the last request to a peer.
    private enum Sent: Sendable {
        /// No answer, or one that this type does not handle: a field set by the program, a proxy's configured Basic credential.
        case nothing
        /// A preemptive answer: its refusal is not counted (U-11.4).
        case preemptive(AuthenticationAnswer)
        /// The answer to a challenge.
        case toChallenge(AuthenticationAnswer)

        var answer: AuthenticationAnswer? {
            switch self {
            case .nothing: nil
            case .preemptive(let answer), .toChallenge(let answer): answer
            }
        }
    }

    /// A challenge about which the delegate was asked.
    private struct Question: Sendable {
        let peer: Peer
        let challenger: AuthenticationCandidate.Challenger
        let response: HTTPURLResponse
        /// The challenges to ask about; the delegate is asked about the first one.
        var candidates: [AuthenticationCandidate]
        /// The credential proposed to the delegate.
        var proposal: URLCredential?
    }

    /// The most challenges of a task that the delegate or a configured credential answers (U-11.7). Limited, because a peer may
    /// name another realm each time.
    static let mostChallenges = 20
    /// The most consecutive stale nonces that are replaced (U-11.13).
    static let mostRenewals = 3

    private let memory: AuthenticationMemory
    private var credentials: TaskCredentials
    private var message: AuthenticationMessage?
    private var server = PeerState()
    private var proxy = PeerState()
    private var question: Question?
    /// The number of challenges that count towards `mostChallenges`.
    private var challengeCount = 0
    /// Whether the next transmission sends the same request again, with an answer.
    private var isResending = false

    /// Creates the authenticator of a task that was created for `request`, in a session with this memory and storage.
    ///
    /// - Parameter identifiesUser: Whether the configuration identifies the user to every server.
    init(
        memory: AuthenticationMemory, storage: URLCredentialStorage?, request: URLRequest? = nil,
        identifiesUser: Bool = false
    ) {
        self.memory = memory
        credentials = TaskCredentials(of: request, storage: storage, identifiesUser: identifiesUser)
    }

    /// The task's own credential. The program may replace it at any time, so the driver sets it before each call that may use
    /// it.
    var taskCredential: URLCredential? {
        get { credentials.own }
        set { credentials.own = newValue }
    }

    // MARK: requests

    /// Records a transmission that carried no answers: it went through no proxy, and the session's memory was empty.
    mutating func recordUnanswered(_ message: AuthenticationMessage) { setMessage(message) }

    /// Stores the parts of the request, and remembers if the program has set `Authorization`.
    private mutating func setMessage(_ message: AuthenticationMessage) {
        self.message = message
        if message.hasAuthorization { credentials.identifiesUser = true }
    }

    /// Begins a transmission: selects the answers to send.
    mutating func begin(_ message: AuthenticationMessage) {
        setMessage(message)
        // `message.server` costs time, so it is read only when there is an answer to compare it for.
        if !isResending || server.current != nil && server.challenger != message.server {
            server.current = nil
        }
        server.sent = .nothing
        if let current = server.current {
            server.sent = .toChallenge(current)
        } else if !message.hasAuthorization,
            let known = memory.answer(for: message.url, with: { proposal(.server, $0) }),
            Self.canAnswer(known, message.content)
        {
            server.sent = .preemptive(known)
        }
        beginProxy(message)
        isResending = false
    }

    /// Selects the answer to send to the proxy.
    private mutating func beginProxy(_ message: AuthenticationMessage) {
        let challenger = message.proxy?.challenger.canonical
        if proxy.challenger != challenger { proxy = PeerState() }
        proxy.challenger = challenger
        proxy.sent = .nothing
        guard let requestProxy = message.proxy else { return }
        if !isResending, let current = proxy.current,
            credentials.isWithheld(current.credential, from: current.space, at: message.url)
        {
            proxy.current = nil
        }
        let content = requestProxy.isTunnelled ? .none : message.content
        if let current = proxy.current {
            if Self.canAnswer(current, content) { proxy.sent = .toChallenge(current) }
        } else if let known = knownAnswer(to: requestProxy), Self.canAnswer(known, content) {
            proxy.sent = .preemptive(known)
        }
    }

    /// Returns the answer to send to a proxy preemptively: with the configuration's credential, otherwise with the task's.
    private func knownAnswer(to requestProxy: AuthenticationProxy) -> AuthenticationAnswer? {
        memory.answer(for: requestProxy) { _ in requestProxy.credential }
            ?? memory.answer(for: requestProxy) { proposal(.proxy, $0) }
    }

    /// The hashes that are needed before `fields` can be called; nil for none.
    var contentHash: ContentHash? {
        guard let message, sendsAnswers else { return nil }
        var answers = [server.sent.answer]
        if message.proxy?.isTunnelled == false { answers.append(proxy.sent.answer) }
        let functions = Set(answers.compactMap { $0?.contentHashFunction })
        return functions.isEmpty
            ? nil : ContentHash(functions: Array(functions), content: message.content)
    }

    /// The credential that this transmission sends to the proxy, except for the configuration's Basic one; nil for none.
    var proxyCredential: URLCredential? { proxy.sent.answer?.credential }

    /// Whether any answer is sent with the request.
    private var sendsAnswers: Bool { server.sent.answer != nil || proxy.sent.answer != nil }

    /// Returns the answers to send with the request. Each answer is valid for one transmission. An answer that cannot be computed
    /// is not sent, so its peer cannot refuse it.
    ///
    /// - Parameter hashes: The result of `contentHash`.
    mutating func fields(_ hashes: ContentHash.Result = [:]) -> AuthenticationFields {
        var fields = AuthenticationFields()
        guard let message, sendsAnswers else { return fields }
        let target = message.target
        let fieldValue = { (answer: AuthenticationAnswer) in
            answer.field(
                method: message.method, target: target,
                contentHash: answer.contentHashFunction.flatMap { hashes[$0] })
        }
        if let answer = server.sent.answer {
            fields.authorization = fieldValue(answer)
            if fields.authorization == nil { server.sent = .nothing }
        }
        guard let answer = proxy.sent.answer else { return fields }
        if message.proxy?.isTunnelled == true {
            fields.tunnelAuthorizer = TunnelAuthorizer(answer)
        } else {
            fields.proxyAuthorization = fieldValue(answer)
            if fields.proxyAuthorization == nil { proxy.sent = .nothing }
        }
        return fields
    }

    // MARK: responses

    /// Handles the final response of a transmission.
    mutating func received(_ response: HTTPURLResponse) -> Verdict {
        guard let message else { return .deliver }
        switch response.statusCode {
        case 407 where message.proxy?.isTunnelled == false:
            return handleChallenge(by: .proxy, response)
        case 401:
            // The proxy has accepted its answer, because it has forwarded the request.
            recordAcceptance(by: .proxy, response)
            return handleChallenge(by: .server, response)
        default:
            recordAcceptance(by: .proxy, response)
            recordAcceptance(by: .server, response)
            return .deliver
        }
    }

    /// Handles a proxy's 407 response to CONNECT.
    mutating func refused(tunnel head: ResponseHead) -> Verdict {
        guard let message, message.proxy?.isTunnelled == true else { return .deliver }
        return handleChallenge(
            by: .proxy, HTTPURLResponse(url: message.url, head: head, isDecoded: false))
    }

    /// Handles the answer to the challenge of the last `ask`.
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

    /// Returns the verdict for an answer with this credential; `deliver` if the credential cannot answer the challenge.
    private mutating func use(
        _ credential: URLCredential, for candidate: AuthenticationCandidate, _ question: Question
    ) -> Verdict {
        guard let answer = memory.answer(to: candidate, from: question.challenger, with: credential) else {
            return .deliver
        }
        self[question.peer].current = answer
        isResending = true
        return .resend
    }

    /// Handles a 401 or 407: renews a stale nonce, else tries the configured credential, else asks the delegate.
    private mutating func handleChallenge(by peer: Peer, _ response: HTTPURLResponse) -> Verdict {
        guard let message, let challenger = peer == .server ? message.server : message.proxy?.challenger
        else {
            return .deliver
        }
        if peer == .server { server.challenger = challenger }
        let lines = response.lines(of: peer == .server ? .wwwAuthenticate : .proxyAuthenticate)
        let content = peer == .proxy && message.proxy?.isTunnelled == true ? .none : message.content
        let candidates = AuthenticationCandidate.candidates(in: lines, from: challenger).filter { candidate in
            if case .digest(let challenge) = candidate, challenge.protection == .authInt {
                return !content.isUnknown
            }
            return true
        }
        if renewNonce(of: peer, candidates) {
            isResending = true
            return .resend
        }
        recordRefusal(by: peer)
        if tryConfiguredCredential(of: peer, candidates, challenger) {
            isResending = true
            return .resend
        }
        return ask(Question(peer: peer, challenger: challenger, response: response, candidates: candidates))
    }

    /// Handles a stale nonce: the next request sends the same credential with the new nonce (U-11.13). Returns whether the nonce
    /// was stale.
    private mutating func renewNonce(of peer: Peer, _ candidates: [AuthenticationCandidate]) -> Bool {
        guard let answer = self[peer].sent.answer, self[peer].renewals < Self.mostRenewals else {
            return false
        }
        for case .digest(let challenge) in candidates
        where challenge.isStale && challenge.realm == answer.space.realm
            && challenge.algorithm == answer.identity.algorithm
        {
            answer.renew(challenge)
            self[peer].renewals += 1
            self[peer].current = answer
            return true
        }
        return false
    }

    /// Handles a challenge as the refusal of the last answer, if one was sent.
    private mutating func recordRefusal(by peer: Peer) {
        let sent = self[peer].sent
        self[peer].renewals = 0
        self[peer].current = nil
        self[peer].sent = .nothing
        if let answer = sent.answer { memory.forget(answer) }
        if case .toChallenge(let answer) = sent {
            let realm = Realm(answer.space)
            self[peer].failures[realm, default: 0] += 1
            self[peer].refused[realm, default: []].insert(answer.credential)
        }
    }

    /// Answers with the proxy's configured credential before the delegate is asked. Returns whether there is such an answer. A
    /// Basic answer is not tried: the request has carried it already.
    private mutating func tryConfiguredCredential(
        of peer: Peer, _ candidates: [AuthenticationCandidate],
        _ challenger: AuthenticationCandidate.Challenger
    ) -> Bool {
        guard peer == .proxy, challengeCount < Self.mostChallenges,
            let credential = message?.proxy?.credential, let candidate = candidates.first,
            case .digest = candidate, proxy.triedConfigured.insert(candidate.space(of: challenger)).inserted,
            let answer = memory.answer(to: candidate, from: challenger, with: credential)
        else { return false }
        proxy.current = answer
        challengeCount += 1
        return true
    }

    /// Returns `ask` with the question's first candidate; `deliver` if there is none, or if `mostChallenges` is reached.
    private mutating func ask(_ question: Question) -> Verdict {
        guard let candidate = question.candidates.first, challengeCount < Self.mostChallenges else {
            return .deliver
        }
        challengeCount += 1
        var question = question
        let space = candidate.space(of: question.challenger)
        let state = self[question.peer]
        question.proposal = proposal(question.peer, space)
        self.question = question
        return .ask(
            URLAuthenticationChallenge(
                space: space, credential: question.proposal, failures: state.failures[Realm(space)] ?? 0,
                response: question.response))
    }

    /// Returns the credential that the task would answer with in a space; nil if the peer has refused that credential.
    private func proposal(_ peer: Peer, _ space: URLProtectionSpace) -> URLCredential? {
        let state = self[peer]
        let refused = state.refused[Realm(space)] ?? []
        if let chosen = state.chosen[space], !refused.contains(chosen) { return chosen }
        guard let proposal = credentials.proposal(for: space, at: message?.url), !refused.contains(proposal)
        else { return nil }
        return proposal
    }

    /// Handles an accepted answer. The session's memory keeps the answer for other requests with the same credential, if the
    /// credential's persistence allows it (U-11.15, U-11.16).
    private mutating func recordAcceptance(by peer: Peer, _ response: HTTPURLResponse) {
        guard let message, let answer = self[peer].sent.answer else { return }
        self[peer].renewals = 0
        let name = peer == .server ? "Authentication-Info" : "Proxy-Authentication-Info"
        // A response from inside a tunnel says nothing about the tunnel's own authentication.
        if peer == .server || message.proxy?.isTunnelled == false,
            let info = response.value(forHTTPHeaderField: name)
        {
            answer.useNextNonce(in: info)
        }
        let credential = answer.credential
        let isConfigured = peer == .proxy && credential == message.proxy?.credential
        guard credential.persistence != .none || isConfigured else { return }
        switch peer {
        case .server: memory.remember(answer, for: message.url)
        case .proxy: memory.remember(forProxy: answer)
        }
        if case .toChallenge = self[peer].sent, !isConfigured,
            credential != credentials.proposal(for: answer.space, at: message.url)
        {
            self[peer].chosen[answer.space] = credential
        }
    }

    /// Whether the answer can be computed for this content.
    private static func canAnswer(
        _ answer: AuthenticationAnswer, _ content: AuthenticationMessage.Content
    ) -> Bool {
        answer.contentHashFunction == nil || !content.isUnknown
    }

    private subscript(peer: Peer) -> PeerState {
        get {
            switch peer {
            case .server: server
            case .proxy: proxy
            }
        }
        set {
            switch peer {
            case .server: server = newValue
            case .proxy: proxy = newValue
            }
        }
    }
}

extension AuthenticationMessage.Content {
    /// Whether the content cannot be hashed before it is sent.
    var isUnknown: Bool {
        if case .stream = self { return true }
        return false
    }
}

extension HTTPURLResponse {
    /// Returns the lines of a field: separately if the response has kept its `Fields`, otherwise joined.
    fileprivate func lines(of name: FieldName) -> [String] {
        fields?.values(of: name) ?? value(forHTTPHeaderField: name.description).map { [$0] } ?? []
    }
}
