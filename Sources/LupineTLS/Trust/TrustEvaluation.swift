// SPDX-License-Identifier: MIT

/// The acceptance of a peer, and the time for which the verdict may be reused.
package struct TrustVerdict: Sendable, Hashable {
    /// The time until which a resumed session needs no further evaluation: the earliest expiry in the chain, or the end of the
    /// stapled response if that is earlier and the leaf requires one. Nil after a custom check or a check of revocation, when the
    /// next connection needs a new evaluation.
    package let reusableUntil: UnixTime?
}

/// The progress of one peer through an evaluator's checks.
///
/// A value without a thread: its owner calls `resume` and performs the returned step. All checks share one validation of the
/// path; a check that changes the anchors causes another one.
package struct TrustEvaluation: Sendable {
    /// What the owner has to do next.
    package enum Step: Sendable {
        /// Nothing: this is the verdict.
        case finished(Result<TrustVerdict, TrustFailure>)
        /// Call `resumeOnWorker` on a thread that may block.
        case needsWorker
        /// Ask the closure about the trust, then pass its reply to `answer`.
        case asks(CustomTrustCheck, PeerTrust)
    }

    private var trust: PeerTrust
    /// The validated path, once a check has needed it.
    private var path: TrustPath?
    /// The checks that have not passed yet, the current one first.
    private var remaining: ArraySlice<TrustCheck>
    private let time: UnixTime
    /// `TrustVerdict.reusableUntil`, as far as the checks performed so far allow.
    private var reusableUntil: UnixTime? = UnixTime(seconds: .max)

    /// Starts an evaluation; nothing is evaluated yet.
    package init(of trust: PeerTrust, by evaluator: TrustEvaluator, at time: UnixTime) {
        self.trust = trust
        self.time = time
        remaining = evaluator.checks[...]
    }

    /// Performs checks until one has to wait: for the network, for roots that have not been read, or for the program's closure.
    /// Uses the cache of `revocation`, but not its fetcher.
    package mutating func resume(revocation: RevocationAccess = .none) -> Step {
        resume(revocation: revocation, mayReadRoots: false)
    }

    private mutating func resume(revocation: RevocationAccess, mayReadRoots: Bool) -> Step {
        while let check = remaining.first {
            switch check {
            case .local(let check):
                if !mayReadRoots, path == nil, check.needsRoots, !trust.store.isLoaded { return .needsWorker }
                if let failure = perform(check, .cached(revocation.cache)) {
                    return .finished(.failure(failure))
                }
                remaining.removeFirst()
            case .fetching: return .needsWorker
            case .custom(let check): return .asks(check, trust)
            }
        }
        return .finished(.success(TrustVerdict(reusableUntil: reusableUntil)))
    }

    /// Reads the roots, or performs the check that waits for the network, and then continues. Never call it on a loop's thread.
    package mutating func resumeOnWorker(revocation: RevocationAccess) -> Step {
        while case .fetching(let check)? = remaining.first {
            reusableUntil = nil
            if let failure = check.failure(of: trust, on: currentPath(), at: time, access: revocation) {
                return .finished(.failure(failure))
            }
            remaining.removeFirst()
        }
        return resume(revocation: revocation, mayReadRoots: true)
    }

    /// Accepts the reply to `asks`, and continues like `resume`.
    package mutating func answer(
        _ reply: Result<Void, TrustFailure>, revocation: RevocationAccess = .none
    ) -> Step {
        guard case .custom? = remaining.first else {
            preconditionFailure("an answer that nobody has asked for")
        }
        if case .failure(let failure) = reply { return .finished(.failure(failure)) }
        reusableUntil = nil
        remaining.removeFirst()
        return resume(revocation: revocation)
    }

    /// Performs a check; returns its failure, or nil if it passes.
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

    /// Returns the path for the current anchors, which is built on first use.
    private mutating func currentPath() -> TrustPath {
        if let path { return path }
        let path = TrustPath(of: trust, at: time)
        self.path = path
        return path
    }
}

extension Certificate {
    /// The text for a pinned certificate in messages: its subject and its SHA-256.
    var pinText: String {
        "\(subject) (SHA-256 \(fingerprint))"
    }
}
