// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What a session has learnt from accepted answers, so that later requests send credentials preemptively (U-11.15).
///
/// One per session: nothing is shared between sessions, nothing learnt from one origin is used for another, and nothing learnt
/// from one user's request is used for another user. The memory records where a credential was accepted, not who may use it: the
/// caller names the credential that its task would answer with. It also keeps the answers in use, so that tasks which answer the
/// same challenge with the same credential share a nonce and its count. In memory only, of bounded size. May be used on any
/// thread; nothing blocks.
final class AuthenticationMemory: Sendable {
    /// The URLs of an origin for which an answer is valid.
    private enum Scope: Hashable, Sendable {
        /// URLs in or below this directory, which ends with a slash.
        case directory(String)
        /// URLs whose path begins with one of these.
        case prefixes([String])

        /// The length of the part of `path` that is covered; nil when the path is not in this scope.
        func depth(in path: String) -> Int? {
            switch self {
            case .directory(let directory): path.hasPrefix(directory) ? directory.utf8.count : nil
            case .prefixes(let prefixes): prefixes.filter(path.hasPrefix).map(\.utf8.count).max()
            }
        }
    }

    private struct Entry: Sendable {
        let scope: Scope
        let answer: AuthenticationAnswer
    }

    /// The answers that one server or proxy has accepted.
    private struct AcceptedAnswers: Sendable {
        /// The spaces of the entries, newest last. A task has one credential for each.
        var spaces: [URLProtectionSpace] = []
        var entries: [URLCredential: [Entry]] = [:]
    }

    private struct State: Sendable {
        var guests: [AuthenticationCandidate.Challenger: AcceptedAnswers] = [:]
        /// Newest last.
        var answers: [AuthenticationAnswer] = []
    }

    private static let mostChallengers = 1_024
    private static let mostSpaces = 64
    private static let mostUsers = 1_024
    private static let mostEntries = 64
    private static let mostAnswers = 256

    private let state = Lock(State())

    /// Creates an empty memory.
    init() {}

    /// Forgets everything.
    func removeAll() { state.withLock { $0 = State() } }

    /// Whether no accepted answer is known, which is the common case.
    var isEmpty: Bool { state.withLock { $0.guests.isEmpty } }

    /// Returns the answer to send preemptively to the server of a URL; nil when none is known.
    ///
    /// - Parameter credential: Returns the credential that the task would answer with in a space.
    func answer(
        for url: URL, with credential: (URLProtectionSpace) -> URLCredential?
    ) -> AuthenticationAnswer? {
        guard let challenger = AuthenticationCandidate.Challenger.server(of: url)?.canonical else {
            return nil
        }
        let path = Self.path(of: url)
        // A path with dot segments may lead out of the directory that it seems to be in.
        guard !path.contains("/../"), !path.hasSuffix("/..") else { return nil }
        let covering = entries(of: challenger, with: credential).compactMap { entry in
            entry.scope.depth(in: path).map { (depth: $0, answer: entry.answer) }
        }
        // Among equally deep scopes, the one of the newer space.
        return covering.reversed().max { $0.depth < $1.depth }?.answer
    }

    /// Returns the answer to send preemptively to a proxy; nil when none is known.
    ///
    /// - Parameter credential: Returns the credential that the task would answer with in a space.
    func answer(
        for proxy: AuthenticationProxy, with credential: (URLProtectionSpace) -> URLCredential?
    ) -> AuthenticationAnswer? {
        entries(of: proxy.challenger.canonical, with: credential).last?.answer
    }

    /// The entries of this task's credentials, in the order of their spaces. Calls `credential` outside the lock.
    private func entries(
        of challenger: AuthenticationCandidate.Challenger,
        with credential: (URLProtectionSpace) -> URLCredential?
    ) -> [Entry] {
        guard let guests = state.withLock({ $0.guests[challenger] }) else { return [] }
        return guests.spaces.flatMap { space in
            credential(space).flatMap { guests.entries[$0] }?.filter { $0.answer.space == space } ?? []
        }
    }

    /// Returns a credential's answer to a candidate, reusing the existing one with the same identity. Nil when the credential
    /// cannot answer the candidate.
    func answer(
        to candidate: AuthenticationCandidate, from challenger: AuthenticationCandidate.Challenger,
        with credential: URLCredential
    ) -> AuthenticationAnswer? {
        let digest: DigestChallenge? = if case .digest(let challenge) = candidate { challenge } else { nil }
        let identity = AuthenticationAnswer.Identity(
            challenger: challenger.canonical, space: candidate.space(of: challenger), credential: credential,
            algorithm: digest?.algorithm, protection: digest?.protection)
        guard let fresh = AuthenticationAnswer(candidate, identity: identity) else { return nil }
        let answer = state.withLock { state in
            if let known = state.answers.last(where: { $0.identity == identity }) { return known }
            state.answers.append(fresh)
            if state.answers.count > Self.mostAnswers { state.answers.removeFirst() }
            return fresh
        }
        if let digest { answer.renew(digest) }
        return answer
    }

    /// Records that the server of `url` has accepted an answer.
    func remember(_ answer: AuthenticationAnswer, for url: URL) {
        // When the challenge names a `domain`, another URL adds nothing.
        if answer.domain != nil, isNewest(answer) { return }
        guard let scope = Self.scope(of: answer, for: url) else { return }
        remember(Entry(scope: scope, answer: answer))
    }

    /// Records that a proxy has accepted an answer.
    func remember(forProxy answer: AuthenticationAnswer) {
        remember(Entry(scope: .directory(""), answer: answer))
    }

    /// Records that an answer was refused: it is not sent preemptively any more. The uses of its nonces are still counted.
    func forget(_ answer: AuthenticationAnswer) {
        let challenger = answer.identity.challenger
        state.withLock { state in
            let credential = answer.credential
            state.guests[challenger]?.entries[credential]?.removeAll { $0.answer === answer }
            if state.guests[challenger]?.entries[credential]?.isEmpty == true {
                state.guests[challenger]?.entries[credential] = nil
            }
            if state.guests[challenger]?.entries.isEmpty == true { state.guests[challenger] = nil }
        }
    }

    private func isNewest(_ answer: AuthenticationAnswer) -> Bool {
        state.withLock { state in
            state.guests[answer.identity.challenger]?.entries[answer.credential]?.last?.answer === answer
        }
    }

    private func remember(_ entry: Entry) {
        let (challenger, credential) = (entry.answer.identity.challenger, entry.answer.credential)
        state.withLock { state in
            var entries = state.guests[challenger]?.entries[credential] ?? []
            if entries.last?.answer === entry.answer, entries.last?.scope == entry.scope { return }
            if state.guests.count >= Self.mostChallengers, state.guests[challenger] == nil {
                state.guests = [:]
            }
            entries.removeAll { $0.scope == entry.scope }
            entries.append(entry)
            if entries.count > Self.mostEntries { entries.removeFirst() }
            var guests = state.guests[challenger] ?? AcceptedAnswers()
            state.guests[challenger] = nil
            if guests.entries.count >= Self.mostUsers, guests.entries[credential] == nil {
                guests = AcceptedAnswers()
            }
            guests.entries[credential] = entries
            guests.spaces.removeAll { $0 == entry.answer.space }
            guests.spaces.append(entry.answer.space)
            if guests.spaces.count > Self.mostSpaces { guests.spaces.removeFirst() }
            state.guests[challenger] = guests
        }
    }

    // MARK: scopes

    private static func scope(of answer: AuthenticationAnswer, for url: URL) -> Scope? {
        guard let domain = answer.domain else {
            let path = path(of: url)
            guard PeerText(path).canBeKept else { return nil }
            let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.endIndex
            return .directory(String(path[..<end]))
        }
        if domain.isEmpty { return .prefixes(["/"]) }
        let prefixes = domain.compactMap { text -> String? in
            // A URI is ASCII (RFC 3986 §2); other characters would go through IDNA processing, which is slow.
            guard text.utf8.allSatisfy({ $0 < 0x80 }),
                let place = URL(string: text, relativeTo: url)?.absoluteURL,
                AuthenticationCandidate.Challenger.server(of: place)?.canonical == answer.identity.challenger
            else { return nil }
            return Self.path(of: place)
        }
        return prefixes.isEmpty ? nil : .prefixes(prefixes)
    }

    private static func path(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }
}

extension AuthenticationCandidate.Challenger {
    /// The same asker with its host in canonical form, so that different spellings of a host compare equal.
    var canonical: AuthenticationCandidate.Challenger {
        switch self {
        case .server(let host, let port, let scheme):
            .server(host: HostName.canonical(host), port: port, scheme: scheme)
        case .proxy(let host, let port, let type):
            .proxy(host: HostName.canonical(host), port: port, type: type)
        }
    }
}
