// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The path that was built from a peer's certificates, and all of its problems.
///
/// One run of OpenSSL's path validation (RFC 5280 §6) finds all problems: the callback records each problem and lets the run
/// continue. Any number of policies can then be evaluated without validating again. `failure(of:under:at:revocation:)` decides
/// which problems count under a policy, and which of them is the most serious.
struct TrustPath: Sendable {
    /// A problem that OpenSSL found.
    struct Problem: Sendable, Hashable {
        /// The `X509_V_ERR_` number.
        let code: Int32
        /// The certificate of the path that it concerns, counted from the leaf.
        let depth: Int
    }

    /// The leaf and the issuers that were found by name, ending with the anchor or the last issuer that was found.
    let built: [Certificate]
    /// All problems, in the order in which they were found.
    let problems: [Problem]
    /// Whether the last certificate is an anchor.
    let isAnchored: Bool
    /// The total cost of the certificates on all paths that were tried (`Certificate.signatureCost`).
    private(set) var work = 0
    /// The error of roots that could not be read and might have completed the path; nil if the path is anchored.
    private(set) var rootsFailure: TrustRootsError?

    /// The part of the path whose signatures are valid (I-12.5), without issuers that match only by name.
    var linked: [Certificate] {
        var count = built.count
        for problem in problems {
            if problem.isAboutSignature {
                count = min(count, problem.depth + 1)
            } else if problem.code == X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY {
                // OpenSSL reports the issuer's depth, not that of the certificate that it cannot verify.
                count = min(count, max(problem.depth, 1))
            }
        }
        return Array(built.prefix(count))
    }

    /// Builds and validates the path, with OpenSSL's own clock if `time` is nil: for callers that ignore problems of dates.
    init(of trust: PeerTrust, at time: UnixTime?) {
        guard let leaf = trust.certificates.first else {
            self.init(built: [], problems: [], isAnchored: false)
            return
        }
        guard TrustPath.comparisons(in: trust.certificates + trust.intermediates) <= TrustPath.comparisonLimit
        else {
            // Becomes `TrustFailure.nameNotPermitted`.
            let problem = Problem(code: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, depth: 0)
            self.init(built: [leaf], problems: [problem], isAnchored: false)
            return
        }
        let sent = trust.certificates.dropFirst() + trust.intermediates
        // The certificates among which OpenSSL may find issuers: those whose keys are fast enough (`signatureCost`).
        var candidates = sent.filter { $0.signatureCost != nil }
        // OpenSSL uses the first issuer that matches by name and never backtracks. If that issuer does not lead to an anchor, the
        // next run omits it: there may be another certificate of that name, cross-signed or with the right key.
        let anchors = trust.store.anchors(for: trust.certificates + trust.intermediates)
        let store = anchors.handle
        var path = TrustPath(leaf: leaf, candidates: candidates, store: store, time: time)
        var best = path
        var work = path.cost
        for _ in 0..<TrustPath.alternativeLimit where work < TrustPath.workLimit {
            guard let omitted = path.issuerToOmit, candidates.contains(omitted) else { break }
            candidates.removeAll { $0 == omitted }
            path = TrustPath(leaf: leaf, candidates: candidates, store: store, time: time)
            work += path.cost
            if path.isSound || path.linked.count > best.linked.count { best = path }
        }
        // If no certificate was left out or omitted, the costly search is not needed.
        if candidates.count < sent.count, !best.isAnchored, let end = best.built.last,
            sent.contains(where: { $0.signatureCost == nil && $0.subject == end.issuer })
        {
            // Reports that the issuer's key is too slow, rather than that the issuer is missing.
            let problem = Problem(
                code: X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM, depth: best.built.count - 1)
            let kept = best.problems.filter { !$0.isAboutAnchoring }
            best = TrustPath(built: best.built, problems: kept + [problem], isAnchored: false)
        }
        self = best
        self.work = work
        if !isAnchored { rootsFailure = anchors.failure }
    }

    /// The cost of verifying the signatures of this path.
    private var cost: Int { built.reduce(0) { $0 + ($1.signatureCost ?? 1) } }

    /// The most comparisons of names with name constraints (RFC 5280 §4.2.1.10) for one chain: OpenSSL compares each name with
    /// the constraints of each issuer above it, even if none of them is trusted.
    static let comparisonLimit = 1 << 17

    /// The most comparisons that these certificates can cause: all their names with all their constraints.
    private static func comparisons(in certificates: [Certificate]) -> Int {
        let constraints = certificates.map { unsafe lupine_count_name_constraints($0.handle.pointer) }
        let sum = constraints.reduce(0, +)
        if sum == 0 { return 0 }
        let names = certificates.map { unsafe lupine_count_names($0.handle.pointer) }.reduce(0, +)
        let (product, overflow) = sum.multipliedReportingOverflow(by: names)
        return overflow ? .max : product
    }

    /// The most issuers that are omitted, one after the other, because they do not lead to an anchor.
    static let alternativeLimit = 8
    /// The most certificates between the leaf and the anchor; real chains have at most three. Each costs the loop's thread a
    /// signature verification, with a key that the peer may have chosen to be slow.
    static let intermediateLimit = 10
    /// The total cost (`work`) from which no other path is tried.
    static let workLimit = 24

    /// Whether signatures link the path to an anchor.
    private var isSound: Bool { isAnchored && linked.count == built.count }

    /// The issuer to omit in the next attempt; nil when the path is linked to an anchor.
    private var issuerToOmit: Certificate? {
        if isSound { return nil }
        let linked = linked.count
        if linked < built.count { return built[linked] }
        return built.count > 1 ? built.last : nil
    }

    private init(built: [Certificate], problems: [Problem], isAnchored: Bool) {
        self.built = built
        self.problems = problems
        self.isAnchored = isAnchored
    }

    private init(
        leaf: Certificate, candidates: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?
    ) {
        let collector = ProblemCollector()
        let run = TrustPath.run(
            leaf: leaf, candidates: candidates, store: store, time: time, collector: collector)
        guard let anchor = run.anchor else {
            self.init(built: run.built, problems: collector.problems, isAnchored: false)
            return
        }
        // Certificates after the anchor do not belong to the path, and the anchor's own signature is not checked.
        let problems = collector.problems.filter { problem in
            problem.depth < anchor || problem.depth == anchor && !problem.isAboutSignature
        }
        self.init(built: Array(run.built[...anchor]), problems: problems, isAnchored: true)
    }

    /// Collects the problems that the callback reports.
    private final class ProblemCollector {
        var problems: [Problem] = []
    }

    /// Runs OpenSSL's path validation once. Returns the certificates, and the index of the anchor among them; nil without one.
    private static func run(
        leaf: Certificate, candidates: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?,
        collector: ProblemCollector
    ) -> (built: [Certificate], anchor: Int?) {
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
        // Any anchor ends a chain, and a trusted issuer is preferred to one that was sent.
        unsafe _ = X509_VERIFY_PARAM_set_flags(
            parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        unsafe X509_VERIFY_PARAM_set_depth(parameters, Int32(TrustPath.intermediateLimit))
        // Problems with this purpose count only under a server policy.
        unsafe _ = X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        if let time { unsafe X509_VERIFY_PARAM_set_time(parameters, Int(time.seconds)) }
        unsafe _ = X509_STORE_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(collector).toOpaque())
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
        let outcome = withExtendedLifetime((collector, candidates)) { unsafe X509_verify_cert(context) }
        defer { OpenSSLErrors.clear() }
        guard outcome == 1, let chain = unsafe X509_STORE_CTX_get0_chain(context) else {
            // OpenSSL failed without calling the callback, for example without memory, and may not have verified any signature.
            // So the path consists of the leaf only.
            let code = unsafe X509_STORE_CTX_get_error(context)
            collector.problems.append(
                Problem(code: code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, depth: 0))
            return ([leaf], nil)
        }
        let built = unsafe Certificate.all(in: chain)
        // The first trusted certificate: a leaf that is an anchor itself may have issuers after it.
        let anchor = unsafe Int(X509_STORE_CTX_get_num_untrusted(context))
        let isAnchored =
            built.indices.contains(anchor)
            && !collector.problems.contains { $0.isAboutAnchoring }
        return (built, isAnchored ? anchor : nil)
    }
}

extension TrustPath.Problem {
    /// Whether a certificate is not signed by the issuer that was found for it.
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
