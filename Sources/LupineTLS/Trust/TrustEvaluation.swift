// SPDX-License-Identifier: MIT

/// The verdict that accepts a peer, with the time until which it may be reused.
package struct TrustVerdict: Sendable, Hashable {
    /// The time until which a connection that resumes the session needs no further evaluation.
    ///
    /// The earliest expiry in the chain; or the end of the stapled response, if that is earlier and the leaf requires a response.
    /// Nil after a custom check or a check of revocation: every connection then needs its own evaluation.
    package let reusableUntil: UnixTime?
}

/// The progress of one peer through an evaluator's checks.
///
/// A value without a thread: its owner calls `resume` and performs the step that `resume` returns. All checks share one
/// validation of the path; a check that changes the anchors causes another validation.
package struct TrustEvaluation: Sendable {
    /// What the owner has to do next.
    package enum Step: Sendable {
        /// Nothing: the evaluation is complete, with this verdict or failure.
        case finished(Result<TrustVerdict, TrustFailure>)
        /// Call `resumeOnWorker` on a thread that may block.
        case needsWorker
        /// Call the check's `ask(about:reply:)` with the trust, then pass its reply to `answer`.
        case asks(CustomTrustCheck, PeerTrust)
    }

    private var trust: PeerTrust
    /// The validated path, once a check has needed it.
    private var path: TrustPath?
    /// The checks that have not passed yet, the current one first.
    private var remainingChecks: ArraySlice<TrustCheck>
    private let time: UnixTime
    /// The value of `TrustVerdict.reusableUntil` according to the checks so far. The initial value sets no limit. Once a check of
    /// revocation or a custom check has made it nil, it stays nil.
    private var reusableUntil: UnixTime? = UnixTime(seconds: .max)

    /// Creates an evaluation. Nothing is evaluated before the first `resume`.
    package init(of trust: PeerTrust, by evaluator: TrustEvaluator, at time: UnixTime) {
        self.trust = trust
        self.time = time
        remainingChecks = evaluator.checks[...]
    }

    /// Performs checks until the next one has to wait for the network, for roots that have not been read, or for the program's
    /// closure. Uses the cache of `revocation`, but not its fetcher.
    package mutating func resume(revocation: RevocationAccess = .none) -> Step {
        resume(revocation: revocation, mayReadRoots: false)
    }

    private mutating func resume(revocation: RevocationAccess, mayReadRoots: Bool) -> Step {
        while let check = remainingChecks.first {
            switch check {
            case .local(let check):
                let wouldReadRoots = path == nil && check.needsRoots && !trust.store.isLoaded
                if wouldReadRoots && !mayReadRoots { return .needsWorker }
                // A local check may use cached answers about revocation, but must not wait for the network.
                if let failure = perform(check, .cached(revocation.cache)) {
                    return .finished(.failure(failure))
                }
                remainingChecks.removeFirst()
            case .fetching: return .needsWorker
            case .custom(let check): return .asks(check, trust)
            }
        }
        return .finished(.success(TrustVerdict(reusableUntil: reusableUntil)))
    }

    /// Continues like `resume`, but reads the roots and waits for the network if a check needs that. Blocks: never call it on an
    /// event loop's thread.
    package mutating func resumeOnWorker(revocation: RevocationAccess) -> Step {
        while case .fetching(let check)? = remainingChecks.first {
            reusableUntil = nil
            if let failure = check.failure(of: trust, on: currentPath(), at: time, access: revocation) {
                return .finished(.failure(failure))
            }
            remainingChecks.removeFirst()
        }
        return resume(revocation: revocation, mayReadRoots: true)
    }

    /// Continues like `resume` after the step `asks`, with the reply of the program's closure.
    package mutating func answer(
        _ reply: Result<Void, TrustFailure>, revocation: RevocationAccess = .none
    ) -> Step {
        guard case .custom? = remainingChecks.first else {
            preconditionFailure("an answer that nobody has asked for")
        }
        if case .failure(let failure) = reply { return .finished(.failure(failure)) }
        reusableUntil = nil
        remainingChecks.removeFirst()
        return resume(revocation: revocation)
    }

    /// Performs a check; returns its failure, or nil if it passes.
    private mutating func perform(_ check: LocalTrustCheck, _ access: RevocationAccess) -> TrustFailure? {
        switch check {
        case .anchors(let anchors):
            trust.store = anchors.store
            // The path ends at one of the previous anchors, so later checks need a new path.
            path = nil
            return nil
        case .validation(let validation):
            let path = currentPath()
            let host = validation == .chainAndHost ? trust.host : nil
            let failure = path.failure(of: trust, under: .server(host: host), at: time, revocation: access)
            if let failure { return failure }
            let stapleEnd = RevocationCheck.stapleEnd(of: trust, on: path, at: time)
            // `stapleEnd` is nil if the leaf requires no stapled response.
            reusableUntil = reusableUntil.map { min($0, path.validUntil, stapleEnd ?? $0) }
            return nil
        case .certificatePins(let pins):
            guard !pins.isEmpty else { return .noPins }
            let chain = currentPath().linkedCertificates
            // One pinned certificate suffices.
            guard pins.isDisjoint(with: chain) else { return nil }
            return .certificateNotPinned(
                expected: pins.map(\.pinText).sorted(), found: chain.map(\.pinText))
        case .keyPins(let pins):
            guard !pins.isEmpty else { return .noPins }
            let chainPins = currentPath().linkedCertificates.compactMap { $0.publicKey?.pin }
            // One pinned key suffices.
            guard pins.isDisjoint(with: chainPins) else { return nil }
            return .keyNotPinned(
                expected: pins.map(\.description).sorted(), found: chainPins.map(\.description))
        case .revocation(let check):
            reusableUntil = nil
            return check.failure(of: trust, on: currentPath(), at: time, access: access)
        }
    }

    /// Returns the validated path for the current anchors. Builds it on first use.
    private mutating func currentPath() -> TrustPath {
        if let path { return path }
        let path = TrustPath(of: trust, at: time)
        self.path = path
        return path
    }
}

extension Certificate {
    /// The certificate as error messages about pins show it: its subject and its SHA-256.
    var pinText: String {
        "\(subject) (SHA-256 \(fingerprint))"
    }
}
