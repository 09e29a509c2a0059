// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP
internal import LupineTransport

/// Answers the challenges of servers and proxies for one task: decides which credential is sent with a request, and what happens
/// after the response.
///
/// The task's driver owns the authenticator, a value that does no I/O and never waits. For each transmission of a request the
/// driver calls `begin`, hashes the content if `contentHash` is not nil, and calls `fields`. Then it calls `receive` with the
/// response, or `receiveTunnelRefusal` when a proxy did not open a tunnel. After a verdict `ask` it calls `receiveAnswer`. All
/// tasks of a session share its memory and credential storage; `TaskCredentials` decides which credentials this task may use
/// (U-11.4).
struct Authenticator: Sendable {
    /// The decision about a response.
    enum Verdict: Sendable {
        /// The response is final. If it is a proxy's refusal to open a tunnel, it becomes the task's error.
        case deliver
        /// The same request is sent again, with its method and body (U-11.6).
        case resend
        /// The driver asks the task's delegate, and passes the delegate's answer to `receiveAnswer`.
        case ask(URLAuthenticationChallenge)
        /// The task fails with `URLError.cancelled`.
        case cancel
    }

    /// The answer to a challenge: of a delegate, or of a program that calls the methods of the challenge's sender.
    enum Answer: Sendable {
        /// Answer with the credential; without one, deliver the response.
        case use(URLCredential?)
        /// Answer with the proposed credential, if it has a password.
        case performDefault
        /// End the task with `URLError.cancelled`.
        case cancel
        /// Ask about the next challenge of the response, in another protection space.
        case rejectSpace
    }

    /// The sender of a challenge. The authenticator has a `PeerState` for each.
    private enum Peer: Sendable { case server, proxy }

    /// The state of the authentication to the server or to the proxy.
    private struct PeerState: Sendable {
        /// The server or proxy to which this state belongs. The answers in this state are not sent to another one.
        var challenger: AuthenticationCandidate.Challenger?
        /// The answer to the last challenge. The server receives it while the same request is sent again; the proxy receives it
        /// with each request until it refuses the answer.
        var currentAnswer: AuthenticationAnswer?
        /// The answer in the current request or, between requests, in the last one.
        var lastSent = SentAnswer.nothing
        /// The number of refused answers to challenges, by realm.
        var failureCounts: [Realm: Int] = [:]
        /// The credentials that the peer has refused, by realm.
        var refusedCredentials: [Realm: Set<URLCredential>] = [:]
        /// The accepted credentials that a delegate chose instead of the proposed ones.
        var chosenCredentials: [URLProtectionSpace: URLCredential] = [:]
        /// The number of consecutive responses that have refused only the nonce, as stale, and not the credential.
        var renewalCount = 0
        /// The spaces in which the credential from the proxy's configuration was tried.
        var spacesWithTriedCredential: Set<URLProtectionSpace> = []
    }

    /// A protection space without its authentication method. A credential that was refused under Digest is refused in the whole
    /// realm: Basic would send the same password in the clear, and be refused too.
    private struct Realm: Hashable, Sendable {
        private let host: String
        private let port: Int
        private let protocolOrProxyType: String?
        private let realm: String?

        init(_ space: URLProtectionSpace) {
            host = space.host
            port = space.port
            protocolOrProxyType = space.`protocol` ?? space.proxyType
            realm = space.realm
        }
    }

    /// The answer in a request to a peer.
    private enum SentAnswer: Sendable {
        /// No answer of this authenticator. The request may have a field that the program has set, or the Basic credential of the
        /// proxy's configuration, which the transport sends.
        case nothing
        /// An answer that was sent without a challenge. Its refusal does not count as a failure (U-11.4).
        case preemptive(AuthenticationAnswer)
        /// The answer to a challenge.
        case toChallenge(AuthenticationAnswer)

        /// The sent answer; nil for `nothing`.
        var answer: AuthenticationAnswer? {
            switch self {
            case .nothing: nil
            case .preemptive(let answer), .toChallenge(let answer): answer
            }
        }
    }

    /// A challenge about which the delegate was asked.
    private struct PendingChallenge: Sendable {
        let peer: Peer
        let challenger: AuthenticationCandidate.Challenger
        let response: HTTPURLResponse
        /// The challenges to ask about; the delegate is asked about the first one.
        var candidates: [AuthenticationCandidate]
        /// The credential that the challenge proposes to the delegate.
        var proposedCredential: URLCredential?
    }

    /// The most challenges of a task that the delegate or a configured credential answers (U-11.7). Without this limit, a peer
    /// that names another realm each time could keep the task busy forever.
    static let maxChallenges = 20
    /// The most consecutive stale nonces that are replaced without asking the delegate (U-11.13).
    static let maxRenewals = 3

    private let memory: AuthenticationMemory
    private var credentials: TaskCredentials
    /// The request of the current transmission.
    private var message: AuthenticationMessage?
    private var server = PeerState()
    private var proxy = PeerState()
    /// The challenge of the last verdict `ask`; nil once it is answered.
    private var pendingChallenge: PendingChallenge?
    /// The number of challenges that count towards `maxChallenges`.
    private var challengeCount = 0
    /// Whether the next transmission sends the same request again, to answer a challenge.
    private var isResending = false

    /// Creates the authenticator of a task.
    ///
    /// - Parameters:
    ///   - memory: The session's memory.
    ///   - storage: The session's credential storage.
    ///   - request: The request for which the task was created.
    ///   - identifiesUser: Whether the configuration identifies the user to every server, by an `Authorization` field.
    init(
        memory: AuthenticationMemory, storage: URLCredentialStorage?, request: URLRequest? = nil,
        identifiesUser: Bool = false
    ) {
        self.memory = memory
        credentials = TaskCredentials(of: request, storage: storage, identifiesUser: identifiesUser)
    }

    /// The credential that the program has set for this task. The program may replace it at any time, so the driver sets this
    /// property before each call that may use it.
    var taskCredential: URLCredential? {
        get { credentials.ownCredential }
        set { credentials.ownCredential = newValue }
    }

    // MARK: requests

    /// Records a transmission for which the driver did not call `begin`, so that `receive` can answer its challenge. The driver
    /// leaves `begin` out if no answer can be sent: the request uses no proxy, and the session's memory is empty.
    mutating func recordUnanswered(_ message: AuthenticationMessage) { setMessage(message) }

    /// Stores the parts of the request. An `Authorization` field that the program has set identifies the user.
    private mutating func setMessage(_ message: AuthenticationMessage) {
        self.message = message
        if message.hasAuthorization { credentials.identifiesUser = true }
    }

    /// Begins a transmission: selects the answers to send.
    mutating func begin(_ message: AuthenticationMessage) {
        setMessage(message)
        // Drops the answer unless the same request is sent again to the same server. `message.server` is computed, which costs
        // time, so the condition reads it last, and only if there is an answer.
        if !isResending || server.currentAnswer != nil && server.challenger != message.server {
            server.currentAnswer = nil
        }
        server.lastSent = .nothing
        if let current = server.currentAnswer {
            server.lastSent = .toChallenge(current)
        } else if !message.hasAuthorization,
            let answer = memory.answer(
                for: message.url, with: { proposedCredential(for: .server, in: $0) }),
            Self.canAnswer(answer, message.content)
        {
            server.lastSent = .preemptive(answer)
        }
        beginProxy(message)
        isResending = false
    }

    /// Selects the answer to send to the proxy.
    private mutating func beginProxy(_ message: AuthenticationMessage) {
        let challenger = message.proxy?.challenger.canonical
        // An answer to the previous proxy is not sent to another one.
        if proxy.challenger != challenger { proxy = PeerState() }
        proxy.challenger = challenger
        proxy.lastSent = .nothing
        guard let requestProxy = message.proxy else { return }
        // After a redirect to another server, the task's own credential may have to be withheld from the proxy.
        if !isResending, let current = proxy.currentAnswer,
            credentials.isWithheld(current.credential, from: current.space, at: message.url)
        {
            proxy.currentAnswer = nil
        }
        // A CONNECT request has no content.
        let content = requestProxy.isTunnelled ? .none : message.content
        if let current = proxy.currentAnswer {
            if Self.canAnswer(current, content) { proxy.lastSent = .toChallenge(current) }
        } else if let answer = preemptiveAnswer(to: requestProxy), Self.canAnswer(answer, content) {
            proxy.lastSent = .preemptive(answer)
        }
    }

    /// Returns the answer to send to a proxy without a challenge: with the credential of the proxy's configuration, otherwise
    /// with the credential that the task would use.
    private func preemptiveAnswer(to requestProxy: AuthenticationProxy) -> AuthenticationAnswer? {
        memory.answer(for: requestProxy) { _ in requestProxy.credential }
            ?? memory.answer(for: requestProxy) { proposedCredential(for: .proxy, in: $0) }
    }

    /// The computation whose hashes `fields` needs; nil if `fields` can be called without hashes.
    var contentHash: ContentHash? {
        guard let message, sendsAnswers else { return nil }
        var answers = [server.lastSent.answer]
        if message.proxy?.isTunnelled == false { answers.append(proxy.lastSent.answer) }
        let functions = Set(answers.compactMap { $0?.contentHashFunction })
        return functions.isEmpty
            ? nil : ContentHash(functions: Array(functions), content: message.content)
    }

    /// The credential with which this transmission answers the proxy; nil for none. The Basic credential of the proxy's
    /// configuration, which the transport sends, does not count.
    var proxyCredential: URLCredential? { proxy.lastSent.answer?.credential }

    /// Whether any answer is sent with the request.
    private var sendsAnswers: Bool { server.lastSent.answer != nil || proxy.lastSent.answer != nil }

    /// Returns the answers to send with the request. Each answer is valid for one transmission. If an answer cannot be computed,
    /// none is sent, and the peer's next challenge does not count as a refusal of that answer.
    ///
    /// - Parameter hashes: The result of the computation `contentHash`.
    mutating func fields(_ hashes: ContentHash.Result = [:]) -> AuthenticationFields {
        var fields = AuthenticationFields()
        guard let message, sendsAnswers else { return fields }
        let target = message.target
        let fieldValue = { (answer: AuthenticationAnswer) -> String? in
            answer.field(
                method: message.method, target: target,
                contentHash: answer.contentHashFunction.flatMap { hashes[$0] })
        }
        if let answer = server.lastSent.answer {
            fields.authorization = fieldValue(answer)
            if fields.authorization == nil { server.lastSent = .nothing }
        }
        guard let answer = proxy.lastSent.answer else { return fields }
        if message.proxy?.isTunnelled == true {
            // The transport asks the answer for the field when it opens a tunnel.
            fields.tunnelAuthorizer = TunnelAuthorizer(answer)
        } else {
            fields.proxyAuthorization = fieldValue(answer)
            if fields.proxyAuthorization == nil { proxy.lastSent = .nothing }
        }
        return fields
    }

    // MARK: responses

    /// Decides about the final response to a transmission.
    mutating func receive(_ response: HTTPURLResponse) -> Verdict {
        guard let message else { return .deliver }
        switch response.statusCode {
        case 407 where message.proxy?.isTunnelled == false:
            return respondToChallenge(of: .proxy, in: response)
        case 401:
            // The proxy has accepted its answer, because it has forwarded the request.
            recordAcceptance(by: .proxy, response)
            return respondToChallenge(of: .server, in: response)
        default:
            recordAcceptance(by: .proxy, response)
            recordAcceptance(by: .server, response)
            return .deliver
        }
    }

    /// Decides about a proxy's 407 response to CONNECT.
    mutating func receiveTunnelRefusal(_ head: ResponseHead) -> Verdict {
        guard let message, message.proxy?.isTunnelled == true else { return .deliver }
        // `isDecoded` tells whether a content coding was removed.
        return respondToChallenge(
            of: .proxy, in: HTTPURLResponse(url: message.url, head: head, isDecoded: false))
    }

    /// Decides what happens after the program has answered the challenge of the last `ask`.
    mutating func receiveAnswer(_ answer: Answer) -> Verdict {
        guard var pendingChallenge, let candidate = pendingChallenge.candidates.first else { return .deliver }
        self.pendingChallenge = nil
        switch answer {
        case .use(nil): return .deliver
        case .use(let credential?): return use(credential, for: candidate, pendingChallenge)
        case .performDefault:
            guard let proposed = pendingChallenge.proposedCredential, proposed.hasPassword else {
                return .deliver
            }
            return use(proposed, for: candidate, pendingChallenge)
        case .cancel: return .cancel
        case .rejectSpace:
            let space = candidate.space(of: pendingChallenge.challenger)
            pendingChallenge.candidates.removeAll { $0.space(of: pendingChallenge.challenger) == space }
            return ask(pendingChallenge)
        }
    }

    /// Prepares the next transmission to answer with this credential. Returns `deliver` if the credential cannot answer the
    /// challenge, otherwise `resend`.
    private mutating func use(
        _ credential: URLCredential, for candidate: AuthenticationCandidate,
        _ pendingChallenge: PendingChallenge
    ) -> Verdict {
        guard let answer = memory.answer(to: candidate, from: pendingChallenge.challenger, with: credential)
        else {
            return .deliver
        }
        self[pendingChallenge.peer].currentAnswer = answer
        isResending = true
        return .resend
    }

    /// Decides about a 401 or 407: replaces a stale nonce, otherwise tries the credential of the proxy's configuration, otherwise
    /// asks the delegate.
    private mutating func respondToChallenge(of peer: Peer, in response: HTTPURLResponse) -> Verdict {
        guard let message, let challenger = peer == .server ? message.server : message.proxy?.challenger
        else {
            return .deliver
        }
        // `beginProxy` has set the proxy's.
        if peer == .server { server.challenger = challenger }
        let lines = response.lines(of: peer == .server ? .wwwAuthenticate : .proxyAuthenticate)
        // A proxy that opens tunnels has received CONNECT, which has no content.
        let content = peer == .proxy && message.proxy?.isTunnelled == true ? .none : message.content
        // Leaves out `auth-int` for a stream: it needs a hash of the content before the content is sent.
        let candidates = AuthenticationCandidate.candidates(in: lines, from: challenger).filter { candidate in
            if case .digest(let challenge) = candidate, challenge.protection == .authInt {
                return !content.isStream
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
        return ask(
            PendingChallenge(peer: peer, challenger: challenger, response: response, candidates: candidates))
    }

    /// If the last answer was refused only because its nonce is stale, prepares the next request to send the same credential with
    /// the new nonce (U-11.13). Returns whether it did so.
    private mutating func renewNonce(of peer: Peer, _ candidates: [AuthenticationCandidate]) -> Bool {
        guard let answer = self[peer].lastSent.answer, self[peer].renewalCount < Self.maxRenewals else {
            return false
        }
        for case .digest(let challenge) in candidates
        where challenge.isStale && challenge.realm == answer.space.realm
            && challenge.algorithm == answer.key.algorithm
        {
            answer.useNonce(of: challenge)
            self[peer].renewalCount += 1
            self[peer].currentAnswer = answer
            return true
        }
        return false
    }

    /// Records that a challenge refuses the last answer, if one was sent.
    private mutating func recordRefusal(by peer: Peer) {
        let lastSent = self[peer].lastSent
        self[peer].renewalCount = 0
        self[peer].currentAnswer = nil
        self[peer].lastSent = .nothing
        if let answer = lastSent.answer { memory.forget(answer) }
        if case .toChallenge(let answer) = lastSent {
            let realm = Realm(answer.space)
            self[peer].failureCounts[realm, default: 0] += 1
            self[peer].refusedCredentials[realm, default: []].insert(answer.credential)
        }
    }

    /// Prepares an answer with the credential of the proxy's configuration, before the delegate is asked. Returns whether it
    /// has prepared one. Does not try Basic: the transport has sent that credential by Basic with the request already.
    private mutating func tryConfiguredCredential(
        of peer: Peer, _ candidates: [AuthenticationCandidate],
        _ challenger: AuthenticationCandidate.Challenger
    ) -> Bool {
        guard peer == .proxy, challengeCount < Self.maxChallenges,
            let credential = message?.proxy?.credential, let candidate = candidates.first,
            case .digest = candidate,
            proxy.spacesWithTriedCredential.insert(candidate.space(of: challenger)).inserted,
            let answer = memory.answer(to: candidate, from: challenger, with: credential)
        else { return false }
        proxy.currentAnswer = answer
        challengeCount += 1
        return true
    }

    /// Returns `ask` for the first candidate; `deliver` if there is none, or if `maxChallenges` is reached.
    private mutating func ask(_ pendingChallenge: PendingChallenge) -> Verdict {
        guard let candidate = pendingChallenge.candidates.first, challengeCount < Self.maxChallenges else {
            return .deliver
        }
        challengeCount += 1
        var pendingChallenge = pendingChallenge
        let space = candidate.space(of: pendingChallenge.challenger)
        let state = self[pendingChallenge.peer]
        pendingChallenge.proposedCredential = proposedCredential(for: pendingChallenge.peer, in: space)
        self.pendingChallenge = pendingChallenge
        return .ask(
            URLAuthenticationChallenge(
                space: space, credential: pendingChallenge.proposedCredential,
                failures: state.failureCounts[Realm(space)] ?? 0,
                response: pendingChallenge.response))
    }

    /// Returns the credential with which the task would answer in a space; nil for none, or if the peer has refused it.
    private func proposedCredential(for peer: Peer, in space: URLProtectionSpace) -> URLCredential? {
        let state = self[peer]
        let refused = state.refusedCredentials[Realm(space)] ?? []
        if let chosen = state.chosenCredentials[space], !refused.contains(chosen) { return chosen }
        guard let proposed = credentials.proposedCredential(for: space, at: message?.url),
            !refused.contains(proposed)
        else { return nil }
        return proposed
    }

    /// Records that the peer has accepted the last answer, if one was sent. Stores the answer in the session's memory, for other
    /// requests with the same credential, if the credential's persistence allows that (U-11.15, U-11.16).
    private mutating func recordAcceptance(by peer: Peer, _ response: HTTPURLResponse) {
        guard let message, let answer = self[peer].lastSent.answer else { return }
        self[peer].renewalCount = 0
        let infoField = peer == .server ? "Authentication-Info" : "Proxy-Authentication-Info"
        // A response through a tunnel comes from the server, so a `Proxy-Authentication-Info` in it is not from the proxy.
        if peer == .server || message.proxy?.isTunnelled == false,
            let info = response.value(forHTTPHeaderField: infoField)
        {
            answer.useNextNonce(in: info)
        }
        let credential = answer.credential
        // The credential of the proxy's configuration has persistence `none`, but is valid for all requests.
        let isConfigured = peer == .proxy && credential == message.proxy?.credential
        guard credential.persistence != .none || isConfigured else { return }
        switch peer {
        case .server: memory.remember(answer, for: message.url)
        case .proxy: memory.rememberForProxy(answer)
        }
        if case .toChallenge = self[peer].lastSent, !isConfigured,
            credential != credentials.proposedCredential(for: answer.space, at: message.url)
        {
            self[peer].chosenCredentials[answer.space] = credential
        }
    }

    /// Whether the answer can be computed for this content: with `auth-int` it needs a hash of the content.
    private static func canAnswer(
        _ answer: AuthenticationAnswer, _ content: AuthenticationMessage.Content
    ) -> Bool {
        answer.contentHashFunction == nil || !content.isStream
    }

    /// The state of a peer.
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
    /// Whether the content is a stream, which cannot be hashed before it is sent.
    var isStream: Bool {
        if case .stream = self { return true }
        return false
    }
}

extension HTTPURLResponse {
    /// Returns the values of a field: each line's if the response has its `Fields`, otherwise all lines joined as one value.
    fileprivate func lines(of name: FieldName) -> [String] {
        fields?.values(of: name) ?? value(forHTTPHeaderField: name.description).map { [$0] } ?? []
    }
}
