// SPDX-License-Identifier: MIT

/// A peer that was accepted, and for how long the verdict may be used again.
package struct TrustVerdict: Sendable, Hashable {
    /// Until when a resumed session may go without another evaluation: the first end of a validity in the chain, or that of
    /// the stapled answer if the leaf demands one. Nil when the next connection has to ask again, as after a custom check
    /// or one of revocation.
    package let reusableUntil: UnixTime?
}

/// One peer on its way through an evaluator's checks.
///
/// A value without a thread: its owner calls `resume`, and does what the step says. The path is validated once, however
/// many checks ask about it, unless one of them changes the anchors.
package struct TrustEvaluation: Sendable {
    /// What the owner does next.
    package enum Step: Sendable {
        /// Nothing more: the verdict.
        case finished(Result<TrustVerdict, TrustFailure>)
        /// Call `resumeOnWorker` on a thread that may wait.
        case needsWorker
        /// Ask the closure about the trust, then call `answer` with its reply.
        case asks(CustomTrustCheck, PeerTrust)
    }

    private var trust: PeerTrust
    private var path: TrustPath?
    private var rest: ArraySlice<TrustCheck>
    private let time: UnixTime
    private var reusableUntil: UnixTime? = UnixTime(seconds: .max)

    /// Begins; nothing is evaluated yet.
    package init(of trust: PeerTrust, by evaluator: TrustEvaluator, at time: UnixTime) {
        self.trust = trust
        self.time = time
        rest = evaluator.checks[...]
    }

    /// Does the checks that need no waiting, up to the next that does: one that asks the network, or roots that have not been read.
    /// `revocation` may have a cache; its fetcher is not used.
    package mutating func resume(revocation: RevocationAccess = .none) -> Step {
        resume(revocation: revocation, mayRead: false)
    }

    private mutating func resume(revocation: RevocationAccess, mayRead: Bool) -> Step {
        while let check = rest.first {
            switch check {
            case .local(let check):
                if !mayRead, path == nil, check.asksForRoots, !trust.store.isLoaded { return .needsWorker }
                if let failure = perform(check, .cached(revocation.cache)) {
                    return .finished(.failure(failure))
                }
                rest.removeFirst()
            case .fetching: return .needsWorker
            case .custom(let check): return .asks(check, trust)
            }
        }
        return .finished(.success(TrustVerdict(reusableUntil: reusableUntil)))
    }

    /// Reads the roots, or does the check that waits for the network, and then those behind it. Never on a loop's thread.
    package mutating func resumeOnWorker(revocation: RevocationAccess) -> Step {
        while case .fetching(let check)? = rest.first {
            reusableUntil = nil
            if let failure = check.failure(of: trust, on: currentPath(), at: time, access: revocation) {
                return .finished(.failure(failure))
            }
            rest.removeFirst()
        }
        return resume(revocation: revocation, mayRead: true)
    }

    /// Takes the reply to what `asks` has asked, and goes on as `resume` does.
    package mutating func answer(
        _ reply: Result<Void, TrustFailure>, revocation: RevocationAccess = .none
    ) -> Step {
        guard case .custom? = rest.first else { preconditionFailure("an answer that nobody has asked for") }
        if case .failure(let failure) = reply { return .finished(.failure(failure)) }
        reusableUntil = nil
        rest.removeFirst()
        return resume(revocation: revocation)
    }

    private mutating func perform(_ check: LocalTrustCheck, _ access: RevocationAccess) -> TrustFailure? {
        switch check {
        case .anchors(let anchors):
            trust.store = anchors.store
            path = nil
            return nil
        case .validation(let validation):
            let path = currentPath()
            let host = validation == .chainAndHost ? trust.host : nil
            if let failure = path.failure(of: trust, under: .server(host: host), at: time, revocation: access)
            {
                return failure
            }
            let stapleEnd = RevocationCheck.stapleEnd(of: trust, on: path, at: time)
            reusableUntil = reusableUntil.map { min($0, path.validUntil, stapleEnd ?? $0) }
            return nil
        case .certificatePins(let pins):
            guard !pins.isEmpty else { return .noPins }
            let chain = currentPath().linked
            guard pins.isDisjoint(with: chain) else { return nil }
            return .certificateNotPinned(
                expected: pins.map(\.pinText).sorted(), found: chain.map(\.pinText))
        case .keyPins(let pins):
            guard !pins.isEmpty else { return .noPins }
            let found = currentPath().linked.compactMap { $0.publicKey?.pin }
            guard pins.isDisjoint(with: found) else { return nil }
            return .keyNotPinned(
                expected: pins.map(\.description).sorted(), found: found.map(\.description))
        case .revocation(let check):
            reusableUntil = nil
            return check.failure(of: trust, on: currentPath(), at: time, access: access)
        }
    }

    private mutating func currentPath() -> TrustPath {
        if let path { return path }
        let path = TrustPath(of: trust, at: time)
        self.path = path
        return path
    }
}

extension Certificate {
    /// How a pinned certificate is written in a message: its subject and its SHA-256.
    var pinText: String {
        "\(subject) (SHA-256 \(fingerprint))"
    }
}
