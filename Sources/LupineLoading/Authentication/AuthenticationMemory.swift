// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Remembers which answers servers and proxies have accepted, so that later requests of the session send credentials preemptively
/// (U-11.15).
///
/// One per session: sessions share nothing, an answer that one origin has accepted is not used for another origin, and a task
/// sends only its own user's credential. The memory records the places where a credential was accepted, but not the tasks that
/// may use it: the caller names the credential that its task would answer with. The memory also keeps the answers in use, so that
/// tasks which answer the same challenge with the same credential share a nonce and its count. Never written to a disk, and of
/// bounded size. May be used on any thread; nothing blocks.
final class AuthenticationMemory: Sendable {
    /// The URLs of an origin for which an answer is valid.
    private enum Scope: Hashable, Sendable {
        /// URLs in or below this directory, which ends with a slash.
        case directory(String)
        /// URLs whose path begins with one of these.
        case prefixes([String])

        /// Returns the length in octets of the directory or prefix that contains `path`; nil when the path is not in this scope.
        func prefixLength(of path: String) -> Int? {
            switch self {
            case .directory(let directory): path.hasPrefix(directory) ? directory.utf8.count : nil
            case .prefixes(let prefixes): prefixes.filter(path.hasPrefix).map(\.utf8.count).max()
            }
        }
    }

    /// An accepted answer, with the URLs for which it is sent.
    private struct Entry: Sendable {
        let scope: Scope
        let answer: AuthenticationAnswer
    }

    /// The answers that one server or proxy has accepted.
    private struct AcceptedAnswers: Sendable {
        /// The protection spaces of the entries, newest last. A task has one credential for each space.
        var spaces: [URLProtectionSpace] = []
        /// The entries by the credential that was accepted, newest last.
        var entries: [URLCredential: [Entry]] = [:]
    }

    private struct State: Sendable {
        /// The accepted answers by challenger in canonical form.
        var accepted: [AuthenticationCandidate.Challenger: AcceptedAnswers] = [:]
        /// The answers in use, newest last.
        var answers: [AuthenticationAnswer] = []
    }

    // The bounds. `mostSpaces` and `mostCredentials` are per challenger, `mostEntries` is per credential of a challenger. A full
    // list loses its oldest element; a full dictionary is emptied.
    private static let mostAnswers = 256
    private static let mostChallengers = 1_024
    private static let mostSpaces = 64
    private static let mostCredentials = 1_024
    private static let mostEntries = 64

    private let state = Lock(State())

    /// Creates an empty memory.
    init() {}

    /// Forgets everything.
    func removeAll() { state.withLock { $0 = State() } }

    /// Whether no answer has been accepted, which is the common case.
    var isEmpty: Bool { state.withLock { $0.accepted.isEmpty } }

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
        let matches = entries(of: challenger, with: credential).compactMap { entry in
            entry.scope.prefixLength(of: path).map { (length: $0, answer: entry.answer) }
        }
        // The longest match. `max` returns the first of several equal ones, which is the one of the newest space.
        return matches.reversed().max { $0.length < $1.length }?.answer
    }

    /// Returns the answer to send preemptively to a proxy; nil when none is known.
    ///
    /// - Parameter credential: Returns the credential that the task would answer with in a space.
    func answer(
        for proxy: AuthenticationProxy, with credential: (URLProtectionSpace) -> URLCredential?
    ) -> AuthenticationAnswer? {
        entries(of: proxy.challenger.canonical, with: credential).last?.answer
    }

    /// Returns the entries of the task's credentials, in the order of their spaces. Calls `credential` outside the lock.
    private func entries(
        of challenger: AuthenticationCandidate.Challenger,
        with credential: (URLProtectionSpace) -> URLCredential?
    ) -> [Entry] {
        guard let accepted = state.withLock({ $0.accepted[challenger] }) else { return [] }
        return accepted.spaces.flatMap { space -> [Entry] in
            guard let user = credential(space), let entries = accepted.entries[user] else { return [] }
            return entries.filter { $0.answer.space == space }
        }
    }

    /// Returns a credential's answer to a candidate: the answer in use with the same identity, otherwise a new one. Nil when the
    /// credential cannot answer the candidate.
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
        // The scope of a Digest answer is the challenge's `domain`, whatever the URL is.
        if answer.domain != nil, isNewest(answer) { return }
        guard let scope = Self.scope(of: answer, for: url) else { return }
        remember(Entry(scope: scope, answer: answer))
    }

    /// Records that a proxy has accepted an answer.
    func remember(forProxy answer: AuthenticationAnswer) {
        // A proxy has no paths; the empty directory contains all of them.
        remember(Entry(scope: .directory(""), answer: answer))
    }

    /// Records that an answer was refused: it is not sent preemptively any more. The uses of its nonces are still counted.
    func forget(_ answer: AuthenticationAnswer) {
        let challenger = answer.identity.challenger
        state.withLock { state in
            let credential = answer.credential
            state.accepted[challenger]?.entries[credential]?.removeAll { $0.answer === answer }
            if state.accepted[challenger]?.entries[credential]?.isEmpty == true {
                state.accepted[challenger]?.entries[credential] = nil
            }
            if state.accepted[challenger]?.entries.isEmpty == true { state.accepted[challenger] = nil }
        }
    }

    /// Whether the answer is the newest that its challenger has accepted with its credential.
    private func isNewest(_ answer: AuthenticationAnswer) -> Bool {
        state.withLock { state in
            state.accepted[answer.identity.challenger]?.entries[answer.credential]?.last?.answer === answer
        }
    }

    private func remember(_ entry: Entry) {
        let (challenger, credential) = (entry.answer.identity.challenger, entry.answer.credential)
        state.withLock { state in
            var entries = state.accepted[challenger]?.entries[credential] ?? []
            if entries.last?.answer === entry.answer, entries.last?.scope == entry.scope { return }
            if state.accepted.count >= Self.mostChallengers, state.accepted[challenger] == nil {
                state.accepted = [:]
            }
            entries.removeAll { $0.scope == entry.scope }
            entries.append(entry)
            if entries.count > Self.mostEntries { entries.removeFirst() }
            var accepted = state.accepted[challenger] ?? AcceptedAnswers()
            // The dictionary must not hold a second reference, or the changes below would copy the entries.
            state.accepted[challenger] = nil
            if accepted.entries.count >= Self.mostCredentials, accepted.entries[credential] == nil {
                accepted = AcceptedAnswers()
            }
            accepted.entries[credential] = entries
            accepted.spaces.removeAll { $0 == entry.answer.space }
            accepted.spaces.append(entry.answer.space)
            if accepted.spaces.count > Self.mostSpaces { accepted.spaces.removeFirst() }
            state.accepted[challenger] = accepted
        }
    }

    // MARK: scopes

    /// Returns the URLs for which an answer to the server of `url` is valid; nil for none.
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
                let target = URL(string: text, relativeTo: url)?.absoluteURL,
                AuthenticationCandidate.Challenger.server(of: target)?.canonical == answer.identity.challenger
            else { return nil }
            return Self.path(of: target)
        }
        return prefixes.isEmpty ? nil : .prefixes(prefixes)
    }

    /// Returns the percent-encoded path of a URL; `/` for an empty one.
    private static func path(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }
}

extension AuthenticationCandidate.Challenger {
    /// The same challenger with its host in canonical form, so that different spellings of a host compare equal.
    var canonical: AuthenticationCandidate.Challenger {
        switch self {
        case .server(let host, let port, let scheme):
            .server(host: HostName.canonical(host), port: port, scheme: scheme)
        case .proxy(let host, let port, let type):
            .proxy(host: HostName.canonical(host), port: port, type: type)
        }
    }
}
