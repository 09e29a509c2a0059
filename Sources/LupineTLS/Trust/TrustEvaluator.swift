// SPDX-License-Identifier: MIT

/// Describes how servers are evaluated. The library compares evaluators, and never uses a connection whose server was trusted
/// under one evaluator for a request with a different one.
///
/// An evaluator does nothing by itself: `TrustEvaluation` performs its checks for one peer. Two custom evaluators are equal only
/// when one is a copy of the other.
public struct TrustEvaluator: Sendable, Hashable {
    /// The checks, in order. The first failure refuses the peer, and ends the evaluation.
    package let checks: [TrustCheck]

    private init(_ checks: [TrustCheck]) { self.checks = checks }

    /// Requires that the chain ends at a configured root and that the certificate is valid for the host.
    public static let `default` = system()

    /// Requires that the chain ends at a configured root and, with `checksHost`, that the certificate is valid for the host.
    public static func system(checksHost: Bool = true) -> TrustEvaluator {
        TrustEvaluator([.local(.validation(checksHost ? .chainAndHost : .chain))])
    }

    /// Requires that the chain contains one of these certificates: the leaf, an intermediate or the root.
    ///
    /// With `acceptsSelfSigned` they are also the only anchors: the configured roots are not used. `checksHost` includes
    /// validating the chain, even if `validatesChain` is false.
    public static func pinnedCertificates(
        _ certificates: [Certificate], acceptsSelfSigned: Bool = false, validatesChain: Bool = true,
        checksHost: Bool = true
    ) -> TrustEvaluator {
        var checks: [TrustCheck] = []
        // The check of an empty set refuses every server.
        guard !certificates.isEmpty else { return TrustEvaluator([.local(.certificatePins([]))]) }
        if acceptsSelfSigned { checks.append(.local(.anchors(TrustAnchors(certificates)))) }
        checks += TrustEvaluator.validation(chain: validatesChain, host: checksHost)
        return TrustEvaluator(checks + [.local(.certificatePins(Set(certificates)))])
    }

    /// Requires that the chain contains one of these keys; several pins serve as backup pins for each other. `checksHost`
    /// includes validating the chain, even if `validatesChain` is false.
    public static func pinnedKeys(
        _ pins: [PublicKeyPin], validatesChain: Bool = true, checksHost: Bool = true
    ) -> TrustEvaluator {
        // The check of an empty set refuses every server.
        guard !pins.isEmpty else { return TrustEvaluator([.local(.keyPins([]))]) }
        return TrustEvaluator(
            TrustEvaluator.validation(chain: validatesChain, host: checksHost) + [.local(.keyPins(Set(pins)))]
        )
    }

    /// Requires that no certificate of the chain except the anchor is revoked. `lists` are used whatever the options are.
    /// `checksHost` includes validating the chain, even if `validatesChain` is false.
    public static func revocation(
        _ options: RevocationOptions = .any, lists: [RevocationList] = [], validatesChain: Bool = true,
        checksHost: Bool = true
    ) -> TrustEvaluator {
        let check = RevocationCheck(options, lists: lists)
        return TrustEvaluator(
            TrustEvaluator.validation(chain: validatesChain, host: checksHost)
                + [check.reachesNetwork ? .fetching(check) : .local(.revocation(check))])
    }

    /// Performs several evaluators in order; the first failure counts. Anchors that one sets stay in effect for later ones.
    public static func composite(_ evaluators: [TrustEvaluator]) -> TrustEvaluator {
        TrustEvaluator(evaluators.flatMap(\.checks))
    }

    /// Accepts every server. For tests only.
    public static let disabled = TrustEvaluator([])

    /// Lets the closure decide. The closure replies once, on any thread.
    ///
    /// The closure is called on one of a few threads that exist only for this purpose, never on an event loop's thread. It may
    /// block. Blocking delays the connection whose server it evaluates, and once all these threads are busy, other connections
    /// with a custom check too. The handshake timeout continues meanwhile. If a connection ends before a thread is free, the
    /// closure is not called for that connection; if it ends later, the reply is ignored. Shutting down a client that has its
    /// own event loops waits until the closure has returned, so the closure must not wait for the shutdown.
    ///
    /// - Parameter body: Receives the peer and the reply closure. Releasing the reply closure without calling it refuses the
    ///   peer.
    public static func custom(
        _ body: @escaping @Sendable (PeerTrust, @escaping CustomTrustCheck.Reply) -> Void
    ) -> TrustEvaluator {
        TrustEvaluator([.custom(CustomTrustCheck(body))])
    }

    /// Whether all checks take only CPU time once the roots have been read, so that an event loop's thread may perform them.
    package var isLocal: Bool {
        checks.allSatisfy {
            switch $0 {
            case .local: true
            case .fetching, .custom: false
            }
        }
    }

    /// Whether the checks certainly use the roots of the configuration. False for a custom check, which may use them or not.
    package var needsRoots: Bool {
        for check in checks {
            switch check {
            // The checks after this one use its anchors in place of the configuration's roots.
            case .local(.anchors): return false
            case .local(let check) where check.needsRoots: return true
            case .fetching: return true
            case .local, .custom: break
            }
        }
        return false
    }

    /// Whether one of the checks calls a closure of the program.
    package var asksProgram: Bool {
        checks.contains { if case .custom = $0 { true } else { false } }
    }

    /// Whether a peer that passes has also passed the default evaluation under the configuration's roots.
    package var includesDefault: Bool {
        for check in checks {
            switch check {
            case .local(.validation(.chainAndHost)): return true
            // The checks after this one use its anchors in place of the configuration's roots.
            case .local(.anchors): return false
            case .local, .fetching, .custom: break
            }
        }
        return false
    }

    /// The sets of pins: the chain has to contain a key of each set. Nil for an evaluator with checks other than pins and the
    /// default evaluation.
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

    /// Whether there are no checks, so that every server is accepted.
    package var checksNothing: Bool { checks.isEmpty }

    /// Evaluates a peer synchronously. Blocks to read the roots and for network queries: never call it on an event loop's thread.
    /// The evaluator must not have a custom check.
    package func evaluate(
        _ trust: PeerTrust, at time: UnixTime, revocation: RevocationAccess = .none
    ) -> Result<TrustVerdict, TrustFailure> {
        var evaluation = TrustEvaluation(of: trust, by: self, at: time)
        // `resume` uses only the cache; `resumeOnWorker` uses the network too.
        var step = evaluation.resume(revocation: .cached(revocation.cache))
        while true {
            switch step {
            case .finished(let result): return result
            case .needsWorker: step = evaluation.resumeOnWorker(revocation: revocation)
            case .asks: preconditionFailure("a custom check is asked through TrustEvaluation")
            }
        }
    }

    /// Returns the check for these two options, or none. Validating the host includes validating the chain, so one check suffices
    /// for both.
    private static func validation(chain: Bool, host: Bool) -> [TrustCheck] {
        switch (chain, host) {
        case (_, true): [.local(.validation(.chainAndHost))]
        case (true, false): [.local(.validation(.chain))]
        case (false, false): []
        }
    }
}
