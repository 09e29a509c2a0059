// SPDX-License-Identifier: MIT

internal import Lupine

/// Judges every server as the switches say, and keeps the chains that it was shown. On the session's root queue.
final class TrustJudge: ServerTrustEvaluating {
    private let pins: PublicKeyPinsTrustEvaluator?
    private let isInsecure: Bool
    private let chains = Guarded<[(host: String, certificates: [SecCertificate])]>([])

    init(pins: [String], isInsecure: Bool) throws {
        self.isInsecure = isInsecure
        do {
            self.pins =
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
        let certificates = trust.af.certificates
        chains.withLock { chains in
            if !chains.contains(where: { $0.host == host && $0.certificates == certificates }) {
                chains.append((host, certificates))
            }
        }
        if let pins { return try pins.evaluate(trust, forHost: host) }
        if isInsecure { return }
        try trust.af.performDefaultValidation(forHost: host)
        try trust.af.performValidation(forHost: host)
    }

    /// The chains in the order in which they came.
    var presented: [(host: String, certificates: [SecCertificate])] { chains.withLock { $0 } }
}

/// Has one judge for all hosts, whichever a redirect leads to.
final class TrustOfAllHosts: ServerTrustManager, @unchecked Sendable {
    private let judge: TrustJudge

    init(_ judge: TrustJudge) {
        self.judge = judge
        super.init(allHostsMustBeEvaluated: false, evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? { judge }
}
