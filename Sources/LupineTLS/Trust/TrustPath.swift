// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The path that was built from a peer's certificates, and everything that is wrong with it.
///
/// One run of OpenSSL's path validation (RFC 5280 §6) finds all problems, whatever policy is asked afterwards: the
/// callback notes each and lets the run go on. So a composite evaluation validates once. What counts as a problem, and
/// which is the most serious, is decided by `verdict`.
struct TrustPath: Sendable {
    /// One complaint of OpenSSL's.
    struct Problem: Sendable, Hashable {
        /// Its `X509_V_ERR_` number.
        let code: Int32
        /// At which certificate of the path, counted from the leaf.
        let depth: Int
    }

    /// The leaf and the issuers that were found for it by name, the anchor or the last that was found at the end.
    let built: [Certificate]
    /// All complaints, in the order in which they were found.
    let problems: [Problem]
    /// Whether the last certificate is trusted as it is.
    let isAnchored: Bool
    /// What the certificates on all paths that were tried have cost (`Certificate.signatureCost`).
    private(set) var work = 0
    /// Why roots that might have ended the path could not be had; nil where it is anchored all the same.
    private(set) var rootsFailure: TrustRootsError?

    /// The part of the path whose signatures fit (I-12.5): an issuer that only bears the right name is not of it.
    var linked: [Certificate] {
        var count = built.count
        for problem in problems {
            if problem.isAboutSignature {
                count = min(count, problem.depth + 1)
            } else if problem.code == X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY {
                count = min(count, max(problem.depth, 1))
            }
        }
        return Array(built.prefix(count))
    }

    /// Builds and validates.
    init(of trust: PeerTrust, at time: UnixTime?) {
        guard let leaf = trust.certificates.first else {
            self.init(built: [], problems: [], isAnchored: false)
            return
        }
        guard TrustPath.comparisons(in: trust.certificates + trust.intermediates) <= TrustPath.comparisonLimit
        else {
            let problem = Problem(code: X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, depth: 0)
            self.init(built: [leaf], problems: [problem], isAnchored: false)
            return
        }
        let sent = trust.certificates.dropFirst() + trust.intermediates
        var others = sent.filter { $0.signatureCost != nil }
        // OpenSSL takes the first issuer that fits by name and does not turn back. When that leads nowhere, the next
        // run leaves it out: there may be another one, cross-signed or with the right key.
        let anchors = trust.store.anchors(for: trust.certificates + trust.intermediates)
        let store = anchors.handle
        var path = TrustPath(leaf: leaf, others: others, store: store, time: time)
        var best = path
        var work = path.cost
        for _ in 0..<TrustPath.detourLimit where work < TrustPath.workLimit {
            guard let wrong = path.wrongTurn, others.contains(wrong) else { break }
            others.removeAll { $0 == wrong }
            path = TrustPath(leaf: leaf, others: others, store: store, time: time)
            work += path.cost
            if path.isSound || path.linked.count > best.linked.count { best = path }
        }
        if others.count < sent.count, !best.isAnchored, let end = best.built.last,
            sent.contains(where: { $0.signatureCost == nil && $0.subject == end.issuer })
        {
            // Which it is, and not that it is missing.
            let problem = Problem(
                code: X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM, depth: best.built.count - 1)
            let others = best.problems.filter { !$0.isAboutAnchoring }
            best = TrustPath(built: best.built, problems: others + [problem], isAnchored: false)
        }
        self = best
        self.work = work
        if !isAnchored { rootsFailure = anchors.failure }
    }

    private var cost: Int { built.reduce(0) { $0 + ($1.signatureCost ?? 1) } }

    /// How often names are compared with constraints at most, in all certificates that were sent: OpenSSL compares each name of each
    /// with the constraints of each issuer above it, also where nobody vouches for any of them.
    static let comparisonLimit = 1 << 17

    private static func comparisons(in certificates: [Certificate]) -> Int {
        let constraints = certificates.map { unsafe lupine_count_name_constraints($0.handle.pointer) }
        let sum = constraints.reduce(0, +)
        if sum == 0 { return 0 }
        let names = certificates.map { unsafe lupine_count_names($0.handle.pointer) }.reduce(0, +)
        let (product, overflow) = sum.multipliedReportingOverflow(by: names)
        return overflow ? .max : product
    }

    /// How many issuers that lead nowhere are left out, one after the other.
    static let detourLimit = 8
    /// How many certificates may stand between the leaf and the anchor; chains in use have three at most. Each costs the
    /// loop's thread a signature, with a key that the peer has chosen to be slow.
    static let intermediateLimit = 10
    /// After how much work on paths no other way is tried.
    static let workLimit = 24

    /// Whether signatures link it to an anchor.
    private var isSound: Bool { isAnchored && linked.count == built.count }

    /// The issuer that this path would be better off without; nil when it is sound up to an anchor.
    private var wrongTurn: Certificate? {
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
        leaf: Certificate, others: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?
    ) {
        let notes = Notes()
        let run = TrustPath.run(leaf: leaf, others: others, store: store, time: time, notes: notes)
        guard let anchor = run.anchor else {
            self.init(built: run.built, problems: notes.problems, isAnchored: false)
            return
        }
        // What lies behind the anchor is not of the path, and nobody signs for the anchor.
        let problems = notes.problems.filter { problem in
            problem.depth < anchor || problem.depth == anchor && !problem.isAboutSignature
        }
        self.init(built: Array(run.built[...anchor]), problems: problems, isAnchored: true)
    }

    /// What the callback writes into.
    private final class Notes {
        var problems: [Problem] = []
    }

    private static func run(
        leaf: Certificate, others: [Certificate], store: OpenSSLHandle<StoreObject>, time: UnixTime?,
        notes: Notes
    ) -> (built: [Certificate], anchor: Int?) {
        guard let context = unsafe X509_STORE_CTX_new(), let untrusted = unsafe lupine_sk_X509_new() else {
            preconditionFailure("OpenSSL is out of memory")
        }
        defer {
            unsafe X509_STORE_CTX_free(context)
            unsafe lupine_sk_X509_free(untrusted)
        }
        // The stack borrows: `others` outlives it.
        for other in others { unsafe _ = lupine_sk_X509_push(untrusted, other.handle.pointer) }
        OpenSSLErrors.clear()
        guard unsafe X509_STORE_CTX_init(context, store.pointer, leaf.handle.pointer, untrusted) == 1
        else {
            notes.problems.append(Problem(code: X509_V_ERR_UNSPECIFIED, depth: 0))
            return ([leaf], nil)
        }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        // Any anchor ends a chain, and a trusted issuer is preferred to one that was sent.
        unsafe _ = X509_VERIFY_PARAM_set_flags(
            parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        unsafe X509_VERIFY_PARAM_set_depth(parameters, Int32(TrustPath.intermediateLimit))
        unsafe _ = X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
        if let time { unsafe X509_VERIFY_PARAM_set_time(parameters, Int(time.seconds)) }
        unsafe _ = X509_STORE_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(notes).toOpaque())
        unsafe X509_STORE_CTX_set_verify_cb(context) { passed, context in
            guard passed == 0, let context = unsafe context,
                let notes = unsafe X509_STORE_CTX_get_ex_data(context, 0)
            else { return 1 }
            let problem = unsafe Problem(
                code: X509_STORE_CTX_get_error(context),
                depth: Int(max(X509_STORE_CTX_get_error_depth(context), 0)))
            unsafe Unmanaged<Notes>.fromOpaque(notes).takeUnretainedValue().problems.append(problem)
            return 1
        }
        let outcome = withExtendedLifetime((notes, others)) { unsafe X509_verify_cert(context) }
        defer { OpenSSLErrors.clear() }
        guard outcome == 1, let chain = unsafe X509_STORE_CTX_get0_chain(context) else {
            // OpenSSL gave up without asking, such as for want of memory, and may not have come to the signatures:
            // nothing but the leaf is known to be linked.
            let code = unsafe X509_STORE_CTX_get_error(context)
            notes.problems.append(Problem(code: code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, depth: 0))
            return ([leaf], nil)
        }
        let built = unsafe Certificate.all(in: chain)
        // The first of the trusted ones: a leaf that is its own anchor may have issuers behind it.
        let anchor = unsafe Int(X509_STORE_CTX_get_num_untrusted(context))
        let isAnchored =
            built.indices.contains(anchor)
            && !notes.problems.contains { $0.isAboutAnchoring }
        return (built, isAnchored ? anchor : nil)
    }
}

extension TrustPath.Problem {
    /// Whether it says that a certificate is not signed by the issuer that was found for it.
    var isAboutSignature: Bool {
        switch code {
        case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: true
        default: false
        }
    }

    /// Whether it says that the path reaches no anchor.
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
