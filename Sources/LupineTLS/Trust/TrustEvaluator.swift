// SPDX-License-Identifier: MIT

/// How servers are judged: a value that is compared, so that a connection trusted under one evaluator is never lent to a
/// request with another.
///
/// An evaluator does nothing by itself: `TrustEvaluation` walks through its checks for one peer. Two custom evaluators
/// are equal only when one is a copy of the other.
public struct TrustEvaluator: Sendable, Hashable {
    /// The steps, in order; the first that fails is the verdict.
    package let checks: [TrustCheck]

    private init(_ checks: [TrustCheck]) { self.checks = checks }

    /// The configured roots and the host's name.
    public static let `default` = system()

    /// The configured roots; the host's name only when asked for.
    public static func system(checksHost: Bool = true) -> TrustEvaluator {
        TrustEvaluator([.local(.validation(checksHost ? .chainAndHost : .chain))])
    }

    /// A certificate of the chain has to be one of these: the leaf, an intermediate or the root.
    ///
    /// With `acceptsSelfSigned` they are also the only anchors: the configured roots count no longer.
    public static func pinnedCertificates(
        _ certificates: [Certificate], acceptsSelfSigned: Bool = false, validatesChain: Bool = true,
        checksHost: Bool = true
    ) -> TrustEvaluator {
        var checks: [TrustCheck] = []
        guard !certificates.isEmpty else { return TrustEvaluator([.local(.certificatePins([]))]) }
        if acceptsSelfSigned { checks.append(.local(.anchors(TrustAnchors(certificates)))) }
        checks += TrustEvaluator.validation(chain: validatesChain, host: checksHost)
        return TrustEvaluator(checks + [.local(.certificatePins(Set(certificates)))])
    }

    /// A key of the chain has to be one of these; more than one makes the others backup pins.
    public static func pinnedKeys(
        _ pins: [PublicKeyPin], validatesChain: Bool = true, checksHost: Bool = true
    ) -> TrustEvaluator {
        guard !pins.isEmpty else { return TrustEvaluator([.local(.keyPins([]))]) }
        return TrustEvaluator(
            TrustEvaluator.validation(chain: validatesChain, host: checksHost) + [.local(.keyPins(Set(pins)))]
        )
    }

    /// No certificate of the chain but its anchor may be revoked. `lists` are asked in any case.
    public static func revocation(
        _ options: RevocationOptions = .any, lists: [RevocationList] = [], validatesChain: Bool = true,
        checksHost: Bool = true
    ) -> TrustEvaluator {
        let check = RevocationCheck(options, lists: lists)
        return TrustEvaluator(
            TrustEvaluator.validation(chain: validatesChain, host: checksHost)
                + [check.reachesNetwork ? .fetching(check) : .local(.revocation(check))])
    }

    /// Each in order; the first refusal counts. Anchors that one has set stay set for those behind it.
    public static func composite(_ evaluators: [TrustEvaluator]) -> TrustEvaluator {
        TrustEvaluator(evaluators.flatMap(\.checks))
    }

    /// Everybody is taken for who they say they are. For tests alone.
    public static let disabled = TrustEvaluator([])

    /// Whatever the closure replies, on whatever thread and once.
    ///
    /// The closure is called on one of a few threads that are there for this alone, never on an event loop, and may block: it
    /// holds up the connection that it is asked about, and others with such a closure once all threads are taken. The time for the
    /// handshake runs meanwhile. A connection that is given up before its turn comes is not asked about; a reply after that is
    /// dropped. The shutdown of a client with event loops of its own waits until the closure has returned, so the closure must
    /// not wait for that.
    ///
    /// - Parameter body: Gets the peer and the closure for the verdict. Never to reply, and to let go of the closure, is to refuse.
    public static func custom(
        _ body: @escaping @Sendable (PeerTrust, @escaping CustomTrustCheck.Reply) -> Void
    ) -> TrustEvaluator {
        TrustEvaluator([.custom(CustomTrustCheck(body))])
    }

    /// Whether every check is CPU time alone once the roots have been read, so that a loop's thread may do all of them.
    package var isLocal: Bool {
        checks.allSatisfy {
            switch $0 {
            case .local: true
            case .fetching, .custom: false
            }
        }
    }

    /// Whether it certainly judges by the roots of the configuration. Nobody knows what a closure of the program's asks for.
    package var asksForRoots: Bool {
        for check in checks {
            switch check {
            case .local(.anchors): return false
            case .local(let check) where check.asksForRoots: return true
            case .fetching: return true
            case .local, .custom: break
            }
        }
        return false
    }

    /// Whether code of the program's is called.
    package var asksProgram: Bool {
        checks.contains { if case .custom = $0 { true } else { false } }
    }

    /// Whether whoever passes has passed the default evaluation, too, under the roots of the configuration.
    package var includesDefault: Bool {
        for check in checks {
            switch check {
            case .local(.validation(.chainAndHost)): return true
            // From here on other roots count.
            case .local(.anchors): return false
            case .local, .fetching, .custom: break
            }
        }
        return false
    }

    /// The keys of which the chain has to have one of each set; nil for an evaluator that asks for anything else but these
    /// and the default evaluation.
    package var requiredKeys: [Set<PublicKeyPin>]? {
        var required: [Set<PublicKeyPin>] = []
        for check in checks {
            switch check {
            case .local(.keyPins(let pins)): required.append(pins)
            case .local(.validation(.chainAndHost)): break
            case .local, .fetching, .custom: return nil
            }
        }
        return required
    }

    /// Whether nothing is checked at all.
    package var checksNothing: Bool { checks.isEmpty }

    /// Evaluates at once, for evaluators without a custom check. Blocks when the network is asked: never on a loop's thread.
    package func evaluate(
        _ trust: PeerTrust, at time: UnixTime, revocation: RevocationAccess = .none
    ) -> Result<TrustVerdict, TrustFailure> {
        var evaluation = TrustEvaluation(of: trust, by: self, at: time)
        var step = evaluation.resume(revocation: .cached(revocation.cache))
        while true {
            switch step {
            case .finished(let result): return result
            case .needsWorker: step = evaluation.resumeOnWorker(revocation: revocation)
            case .asks: preconditionFailure("a custom check is asked through TrustEvaluation")
            }
        }
    }

    /// Host validation includes everything that default validation looks at, so one check does for both.
    private static func validation(chain: Bool, host: Bool) -> [TrustCheck] {
        switch (chain, host) {
        case (_, true): [.local(.validation(.chainAndHost))]
        case (true, false): [.local(.validation(.chain))]
        case (false, false): []
        }
    }
}
