// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Remembers which answers servers and proxies have accepted, so that later requests of the session send credentials preemptively
/// (U-11.15).
///
/// Each session has its own memory. An answer that one origin has accepted is not sent to another origin. A task sends only the
/// credential of its own user. The memory records where a credential was accepted, but not which tasks may use it: the caller
/// passes the credential with which its task would answer. The memory also stores the answers in use, so that tasks which answer
/// the same challenge with the same credential share a nonce and its count. The memory has a bounded size and is never written to
/// a disk. It may be used on any thread; nothing blocks.
final class AuthenticationMemory: Sendable {
    /// The URLs of an origin for which an answer is valid.
    private enum Scope: Hashable, Sendable {
        /// URLs in or below this directory, which ends with a slash.
        case directory(String)
        /// URLs whose path begins with one of these texts.
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
        /// The protection spaces of the entries, newest last. A task has at most one credential for each space.
        var spaces: [URLProtectionSpace] = []
        /// The entries by the credential that was accepted, newest last.
        var entries: [URLCredential: [Entry]] = [:]
    }

    private struct State: Sendable {
        /// The accepted answers by challenger, in its `canonical` form.
        var acceptedAnswers: [AuthenticationCandidate.Challenger: AcceptedAnswers] = [:]
        /// The answers in use, accepted or not, newest last.
        var answers: [AuthenticationAnswer] = []
    }

    // The limits of the lists and dictionaries. `maxSpaces` and `maxCredentials` apply to each challenger, `maxEntries` to each
    // credential of a challenger. A list that exceeds its limit loses its oldest element; a full dictionary loses all elements.
    private static let maxAnswers = 256
    private static let maxChallengers = 1_024
    private static let maxSpaces = 64
    private static let maxCredentials = 1_024
    private static let maxEntries = 64

    private let state = Lock(State())

    /// Creates an empty memory.
    init() {}

    /// Removes all answers.
    func removeAll() { state.withLock { $0 = State() } }

    /// Whether there is no accepted answer, which is the common case.
    var isEmpty: Bool { state.withLock { $0.acceptedAnswers.isEmpty } }

    /// Returns the answer to send preemptively, which means without a challenge, to the server of a URL; nil when none is known.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - credential: Returns the credential with which the task would answer in a space.
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
        // Returns the longest match. Of several longest matches it is that of the newest space: the matches are reversed, and
        // `max` returns the first maximum.
        return matches.reversed().max { $0.length < $1.length }?.answer
    }

    /// Returns the answer to send preemptively to a proxy; nil when none is known.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - credential: Returns the credential with which the task would answer in a space.
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
        guard let accepted = state.withLock({ $0.acceptedAnswers[challenger] }) else { return [] }
        return accepted.spaces.flatMap { space -> [Entry] in
            guard let taskCredential = credential(space), let entries = accepted.entries[taskCredential]
            else {
                return []
            }
            // A credential may have entries of several spaces.
            return entries.filter { $0.answer.space == space }
        }
    }

    /// Returns the answer to a candidate with a credential: the answer in use with the same key, otherwise a new one.
    /// Returns nil when the credential cannot answer the candidate.
    func answer(
        to candidate: AuthenticationCandidate, from challenger: AuthenticationCandidate.Challenger,
        with credential: URLCredential
    ) -> AuthenticationAnswer? {
        let digest: DigestChallenge? = if case .digest(let challenge) = candidate { challenge } else { nil }
        let key = AuthenticationAnswer.Key(
            challenger: challenger.canonical, space: candidate.space(of: challenger), credential: credential,
            algorithm: digest?.algorithm, protection: digest?.protection)
        guard let newAnswer = AuthenticationAnswer(candidate, key: key) else { return nil }
        let answer = state.withLock { state in
            if let answerInUse = state.answers.last(where: { $0.key == key }) { return answerInUse }
            state.answers.append(newAnswer)
            if state.answers.count > Self.maxAnswers { state.answers.removeFirst() }
            return newAnswer
        }
        // An answer in use may have another nonce than this challenge.
        if let digest { answer.useNonce(of: digest) }
        return answer
    }

    /// Records that the server of `url` has accepted an answer.
    func remember(_ answer: AuthenticationAnswer, for url: URL) {
        // `domain` is nil for Basic. A Digest answer that is the newest one is recorded already: its scope does not depend on the
        // URL.
        if answer.domain != nil, isNewest(answer) { return }
        guard let scope = Self.scope(of: answer, acceptedAt: url) else { return }
        remember(Entry(scope: scope, answer: answer))
    }

    /// Records that a proxy has accepted an answer.
    func rememberForProxy(_ answer: AuthenticationAnswer) {
        // A proxy has no paths; the empty directory contains all of them.
        remember(Entry(scope: .directory(""), answer: answer))
    }

    /// Records that an answer was refused, so that it is not sent preemptively. The answer stays in use: its nonce counts
    /// continue.
    func forget(_ answer: AuthenticationAnswer) {
        let challenger = answer.key.challenger
        state.withLock { state in
            // The space stays in `spaces`, where it does nothing without entries.
            let credential = answer.credential
            state.acceptedAnswers[challenger]?.entries[credential]?.removeAll { $0.answer === answer }
            if state.acceptedAnswers[challenger]?.entries[credential]?.isEmpty == true {
                state.acceptedAnswers[challenger]?.entries[credential] = nil
            }
            if state.acceptedAnswers[challenger]?.entries.isEmpty == true {
                state.acceptedAnswers[challenger] = nil
            }
        }
    }

    /// Whether the answer is the newest that its challenger has accepted with its credential.
    private func isNewest(_ answer: AuthenticationAnswer) -> Bool {
        state.withLock { state in
            state.acceptedAnswers[answer.key.challenger]?.entries[answer.credential]?.last?.answer
                === answer
        }
    }

    /// Adds an entry as the newest one, within the limits, and removes an older entry with the same scope.
    private func remember(_ entry: Entry) {
        let (challenger, credential) = (entry.answer.key.challenger, entry.answer.credential)
        state.withLock { state in
            var entries = state.acceptedAnswers[challenger]?.entries[credential] ?? []
            if entries.last?.answer === entry.answer, entries.last?.scope == entry.scope { return }
            if state.acceptedAnswers.count >= Self.maxChallengers, state.acceptedAnswers[challenger] == nil {
                state.acceptedAnswers = [:]
            }
            entries.removeAll { $0.scope == entry.scope }
            entries.append(entry)
            if entries.count > Self.maxEntries { entries.removeFirst() }
            var accepted = state.acceptedAnswers[challenger] ?? AcceptedAnswers()
            // Removes the dictionary's reference: with two references, the changes below would copy the entries.
            state.acceptedAnswers[challenger] = nil
            if accepted.entries.count >= Self.maxCredentials, accepted.entries[credential] == nil {
                accepted = AcceptedAnswers()
            }
            accepted.entries[credential] = entries
            accepted.spaces.removeAll { $0 == entry.answer.space }
            accepted.spaces.append(entry.answer.space)
            if accepted.spaces.count > Self.maxSpaces { accepted.spaces.removeFirst() }
            state.acceptedAnswers[challenger] = accepted
        }
    }

    // MARK: scopes

    /// Returns the URLs for which an answer is valid after the server of `url` has accepted it; nil if there are none, or if a
    /// session may not store their path (`PeerText.canBeKept`).
    private static func scope(of answer: AuthenticationAnswer, acceptedAt url: URL) -> Scope? {
        guard let domain = answer.domain else {
            let path = path(of: url)
            guard PeerText(path).canBeKept else { return nil }
            let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.endIndex
            return .directory(String(path[..<end]))
        }
        // Without URIs the answer is valid for the whole origin.
        if domain.isEmpty { return .prefixes(["/"]) }
        let prefixes = domain.compactMap { text -> String? in
            // A URI is ASCII (RFC 3986 §2). For other characters `URL` would do IDNA processing, which is slow.
            guard text.utf8.allSatisfy({ $0 < 0x80 }),
                let target = URL(string: text, relativeTo: url)?.absoluteURL,
                AuthenticationCandidate.Challenger.server(of: target)?.canonical == answer.key.challenger
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
