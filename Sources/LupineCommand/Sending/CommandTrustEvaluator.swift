// SPDX-License-Identifier: MIT

internal import Lupine

/// Evaluates the trust of every server according to the options, and records the presented certificate chains for `--certs`. The
/// library calls it on the session's root queue.
final class CommandTrustEvaluator: ServerTrustEvaluating {
    private let pinEvaluator: PublicKeyPinsTrustEvaluator?
    /// Whether `-k` accepts every certificate.
    private let isInsecure: Bool
    private let recordsChains: Bool
    private let recordedTrusts = Guarded<[(host: String, trust: SecTrust)]>([])

    init(pins: [String], isInsecure: Bool, recordsChains: Bool) throws {
        self.isInsecure = isInsecure
        self.recordsChains = recordsChains
        do {
            // With `-k`, the pin evaluator checks only the pins.
            pinEvaluator =
                pins.isEmpty
                ? nil
                : try PublicKeyPinsTrustEvaluator(
                    pins: pins, performDefaultValidation: !isInsecure, validateHost: !isInsecure)
        } catch {
            throw UsageError(
                "--pin needs sha256/ and 44 characters of BASE64, as --certs prints them: \(error)")
        }
    }

    func evaluate(_ trust: SecTrust, forHost host: String) throws {
        if recordsChains { recordedTrusts.withLock { $0.append((host, trust)) } }
        // Unless `-k` is given, the pin evaluator also validates the chain and the host.
        if let pinEvaluator { return try pinEvaluator.evaluate(trust, forHost: host) }
        if isInsecure { return }
        try trust.af.performDefaultValidation(forHost: host)
        try trust.af.performValidation(forHost: host)
    }

    /// The recorded chains in the order of the evaluations, without duplicates.
    ///
    /// A trust builds its chain when its certificates are first read. They are read here and not in `evaluate`, so that requests
    /// do not wait for it.
    var presentedChains: [(host: String, certificates: [SecCertificate])] {
        var chains: [(host: String, certificates: [SecCertificate])] = []
        for (host, trust) in recordedTrusts.withLock({ $0 }) {
            let certificates = trust.af.certificates
            if !chains.contains(where: { $0.host == host && $0.certificates == certificates }) {
                chains.append((host, certificates))
            }
        }
        return chains
    }
}

/// Uses one evaluator for all hosts, including those of redirects.
final class AllHostsTrustManager: ServerTrustManager, @unchecked Sendable {
    private let evaluator: CommandTrustEvaluator

    init(_ evaluator: CommandTrustEvaluator) {
        self.evaluator = evaluator
        // The table stays empty, since the method below is overridden.
        super.init(allHostsMustBeEvaluated: false, evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        evaluator
    }
}
