// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The path from a peer's leaf certificate towards an anchor (a trusted certificate), with all problems of the path.
///
/// One run of OpenSSL's path validation (RFC 5280 §6) finds all problems: the callback records each problem and lets the run
/// continue. Any number of policies can then be evaluated without another run. `failure(of:under:at:revocation:)` decides
/// which problems count under a policy, and which of them is the most serious.
struct TrustPath: Sendable {
    /// A problem of the path that OpenSSL's path validation has reported.
    struct Problem: Sendable, Hashable {
        /// The `X509_V_ERR_` number.
        let code: Int32
        /// The position of the affected certificate on the path; the leaf has depth 0.
        let depth: Int
    }

    /// The leaf, then each issuer that OpenSSL found by name. The last certificate is the anchor, or has no known issuer.
    let certificates: [Certificate]
    /// All problems, in the order in which they were found.
    let problems: [Problem]
    /// Whether the last certificate is an anchor.
    let isAnchored: Bool
    /// The total cost of verifying the signatures on all paths that were tried (`Certificate.signatureCost`).
    private(set) var totalCost = 0
    /// The error of roots that could not be read; such roots might have completed the path. Nil if the path is anchored.
    private(set) var rootsFailure: TrustRootsError?

    /// The certificates of the path up to the last valid signature. An issuer that matches only by name is not among them.
    ///
    /// This is the chain that evaluations report (rule I-12.5).
    var linkedCertificates: [Certificate] {
        var count = certificates.count
        for problem in problems {
            if problem.isAboutSignature {
                // The certificate whose signature is invalid is the last that counts.
                count = min(count, problem.depth + 1)
            } else if problem.code == X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY {
                // OpenSSL reports the issuer's depth, not that of the certificate that it cannot verify.
                count = min(count, max(problem.depth, 1))
            }
        }
        return Array(certificates.prefix(count))
    }

    /// Builds and validates the path of the trust's certificates.
    ///
    /// - Parameters:
    ///   - trust: The peer's certificates and the anchors.
    ///   - time: The time at which the certificates have to be valid. If it is nil, OpenSSL uses its own clock; the caller then
    ///     ignores the problems with dates.
    init(of trust: PeerTrust, at time: UnixTime?) {
        guard let leaf = trust.certificates.first else {
            self.init(certificates: [], problems: [], isAnchored: false)
            return
        }
        guard TrustPath.comparisons(in: trust.certificates + trust.intermediates) <= TrustPath.comparisonLimit
        else {
            // `TrustPath+Verdict.swift` translates this code to `TrustFailure.nameNotPermitted`.
            let problem = Problem(code: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, depth: 0)
            self.init(certificates: [leaf], problems: [problem], isAnchored: false)
            return
        }
        let intermediates = trust.certificates.dropFirst() + trust.intermediates
        // The certificates among which OpenSSL may find issuers: those whose keys are fast enough (`signatureCost`).
        var candidates = intermediates.filter { $0.signatureCost != nil }
        // OpenSSL uses the first issuer that matches by name and never backtracks. If that issuer does not lead to an anchor, the
        // next run omits that issuer: there may be another certificate of its name, cross-signed or with the right key.
        let anchors = trust.store.anchors(for: trust.certificates + trust.intermediates)
        let store = anchors.handle
        var path = TrustPath(leaf: leaf, candidates: candidates, store: store, time: time)
        var best = path
        var totalCost = path.cost
        for _ in 0..<TrustPath.omissionLimit where totalCost < TrustPath.costLimit {
            // Only a candidate can be omitted: the anchors stay in the store.
            guard let issuer = path.issuerToOmit, candidates.contains(issuer) else { break }
            candidates.removeAll { $0 == issuer }
            path = TrustPath(leaf: leaf, candidates: candidates, store: store, time: time)
            totalCost += path.cost
            if path.isSound || path.linkedCertificates.count > best.linkedCertificates.count { best = path }
        }
        // The first condition is cheap. It avoids the search below when every intermediate still is a candidate.
        if candidates.count < intermediates.count, !best.isAnchored, let end = best.certificates.last,
            intermediates.contains(where: { $0.signatureCost == nil && $0.subject == end.issuer })
        {
            // Reports that the issuer's key is too slow, rather than that the issuer is missing.
            let problem = Problem(
                code: X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM, depth: best.certificates.count - 1)
            let otherProblems = best.problems.filter { !$0.isAboutAnchoring }
            best = TrustPath(
                certificates: best.certificates, problems: otherProblems + [problem], isAnchored: false)
        }
        self = best
        self.totalCost = totalCost
        if !isAnchored { rootsFailure = anchors.failure }
    }

    /// The cost of verifying the signatures of this path. Only the leaf and the anchor can have a key that is too slow for
    /// `signatureCost`; such a key counts as 1.
    private var cost: Int { certificates.reduce(0) { $0 + ($1.signatureCost ?? 1) } }

    /// The most comparisons of names with name constraints (RFC 5280 §4.2.1.10) for one chain: OpenSSL compares each name with
    /// the constraints of each issuer above it, even if none of them is trusted.
    static let comparisonLimit = 1 << 17

    /// Returns the most comparisons that these certificates can cause: all their names with all their constraints.
    private static func comparisons(in certificates: [Certificate]) -> Int {
        let constraints = certificates.map { unsafe lupine_count_name_constraints($0.handle.pointer) }
        let sum = constraints.reduce(0, +)
        if sum == 0 { return 0 }
        let names = certificates.map { unsafe lupine_count_names($0.handle.pointer) }.reduce(0, +)
        let (product, overflow) = sum.multipliedReportingOverflow(by: names)
        return overflow ? .max : product
    }

    /// The most issuers that `init(of:at:)` omits, one after the other, because they do not lead to an anchor.
    static let omissionLimit = 8
    /// The most certificates between the leaf and the anchor; real chains have at most three. Each costs the event loop's thread
    /// a signature verification, with a key that the peer may have chosen to be slow.
    static let intermediateLimit = 10
    /// Once `totalCost` has reached this value, no other path is tried. An ordinary signature costs 1.
    static let costLimit = 24

    /// Whether signatures link the path to an anchor.
    private var isSound: Bool { isAnchored && linkedCertificates.count == certificates.count }

    /// The issuer to omit in the next attempt: the first with a wrong key, otherwise the last of the path. Nil when signatures
    /// link the path to an anchor, or the path consists of the leaf only.
    private var issuerToOmit: Certificate? {
        if isSound { return nil }
        let linkedCount = linkedCertificates.count
        if linkedCount < certificates.count { return certificates[linkedCount] }
        return certificates.count > 1 ? certificates.last : nil
    }

    private init(certificates: [Certificate], problems: [Problem], isAnchored: Bool) {
        self.certificates = certificates
        self.problems = problems
        self.isAnchored = isAnchored
    }

    /// Builds and validates one path, whose issuers are `candidates` and the anchors in `store`.
    private init(
        leaf: Certificate, candidates: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?
    ) {
        let collector = ProblemCollector()
        let (certificates, anchorIndex) = TrustPath.validate(
            leaf: leaf, candidates: candidates, store: store, time: time, collector: collector)
        guard let anchorIndex else {
            self.init(certificates: certificates, problems: collector.problems, isAnchored: false)
            return
        }
        // Certificates after the anchor do not belong to the path, and the anchor's own signature does not matter.
        let problems = collector.problems.filter { problem in
            problem.depth < anchorIndex || problem.depth == anchorIndex && !problem.isAboutSignature
        }
        self.init(certificates: Array(certificates[...anchorIndex]), problems: problems, isAnchored: true)
    }

    /// Collects the problems that OpenSSL reports to its verification callback.
    private final class ProblemCollector {
        var problems: [Problem] = []
    }

    /// Runs OpenSSL's path validation once, and adds the problems to `collector`. Returns the certificates of the path and the
    /// index of the anchor among them. The index is nil if the path reaches no anchor.
    private static func validate(
        leaf: Certificate, candidates: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?,
        collector: ProblemCollector
    ) -> (certificates: [Certificate], anchorIndex: Int?) {
        guard let context = unsafe X509_STORE_CTX_new(), let untrusted = unsafe lupine_sk_X509_new() else {
            preconditionFailure("OpenSSL is out of memory")
        }
        defer {
            unsafe X509_STORE_CTX_free(context)
            unsafe lupine_sk_X509_free(untrusted)
        }
        // The stack does not retain its elements: `candidates` outlives it.
        for candidate in candidates { unsafe _ = lupine_sk_X509_push(untrusted, candidate.handle.pointer) }
        OpenSSLErrors.clear()
        guard unsafe X509_STORE_CTX_init(context, store.pointer, leaf.handle.pointer, untrusted) == 1
        else {
            collector.problems.append(Problem(code: X509_V_ERR_UNSPECIFIED, depth: 0))
            return ([leaf], nil)
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        // PARTIAL_CHAIN: any anchor ends a chain, even one that is not self-signed. TRUSTED_FIRST: OpenSSL prefers a trusted
        // issuer to one that the peer sent.
        unsafe _ = X509_VERIFY_PARAM_set_flags(
            parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        unsafe X509_VERIFY_PARAM_set_depth(parameters, Int32(TrustPath.intermediateLimit))
        // OpenSSL reports certificates that are not for servers. Only `TrustPolicy.server` counts these problems.
        unsafe _ = X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        if let time { unsafe X509_VERIFY_PARAM_set_time(parameters, Int(time.seconds)) }
        unsafe _ = X509_STORE_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(collector).toOpaque())
        // The result 1 lets the validation continue after a problem.
        unsafe X509_STORE_CTX_set_verify_cb(context) { passed, context in
            guard passed == 0, let context = unsafe context,
                let collector = unsafe X509_STORE_CTX_get_ex_data(context, 0)
            else { return 1 }
            let problem = unsafe Problem(
                code: X509_STORE_CTX_get_error(context),
                depth: Int(max(X509_STORE_CTX_get_error_depth(context), 0)))
            unsafe Unmanaged<ProblemCollector>.fromOpaque(collector).takeUnretainedValue()
                .problems.append(problem)
            return 1
        }
        let result = withExtendedLifetime((collector, candidates)) { unsafe X509_verify_cert(context) }
        defer { OpenSSLErrors.clear() }
        guard result == 1, let chain = unsafe X509_STORE_CTX_get0_chain(context) else {
            // OpenSSL failed without calling the callback, for example because memory was exhausted, and may have verified no
            // signature. So the path consists of the leaf only.
            let code = unsafe X509_STORE_CTX_get_error(context)
            collector.problems.append(
                Problem(code: code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, depth: 0))
            return ([leaf], nil)
        }
        let certificates = unsafe Certificate.all(in: chain)
        // The first trusted certificate. It need not be the last: a leaf that is itself an anchor may have issuers after it.
        let anchorIndex = unsafe Int(X509_STORE_CTX_get_num_untrusted(context))
        let isAnchored =
            certificates.indices.contains(anchorIndex)
            && !collector.problems.contains { $0.isAboutAnchoring }
        return (certificates, isAnchored ? anchorIndex : nil)
    }
}

extension TrustPath.Problem {
    /// Whether a certificate's signature does not fit the key of the issuer that OpenSSL found for it.
    var isAboutSignature: Bool {
        switch code {
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: true
        default: false
        }
    }

    /// Whether the path reaches no anchor.
    var isAboutAnchoring: Bool {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED:
            true
        default: false
        }
    }
}
