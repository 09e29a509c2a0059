// SPDX-License-Identifier: MIT

/// The text for users: the problem, the certificate, and a remedy. The enclosing error names the host.
extension TrustFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noCertificate: "the server presented no certificate"
        case .hostMismatch(let host, let names):
            names.isEmpty
                ? "the certificate names no host, so it is not for \(host)"
                : "the certificate is for \(TrustFailure.list(names)), not for \(host)"
        case .expired(let subject, let since):
            "the certificate of \(subject) expired on \(since); it has to be renewed, unless this clock is wrong"
        case .notYetValid(let subject, let until):
            "the certificate of \(subject) is not valid before \(until); this clock may be wrong"
        case .rootsUnusable(let error): error.description
        case .issuerMissing(let subject, let issuer):
            "the certificate of \(subject) was issued by \(issuer), whose certificate was neither sent by the server nor "
                + "is it trusted; the server has to send it, or it has to be supplied here"
        case .untrustedRoot(let subject): "the chain ends at \(subject), which is no trusted root"
        case .selfSigned(let subject):
            "the certificate of \(subject) is self-signed and not trusted; make it an anchor if it is yours"
        case .badSignature(let subject):
            "the signature of the certificate of \(subject) does not fit its issuer's key"
        case .notAnAuthority(let subject):
            "\(subject) has issued a certificate of the chain and may not issue any"
        case .pathTooLong(let subject): "the chain is longer than \(subject) allows below itself"
        case .nameNotPermitted(let subject):
            "a name of the certificate of \(subject) lies outside what one of its issuers may issue for"
        case .wrongUsage(let subject):
            "the certificate of \(subject) is not for this use (extended key usage)"
        case .weakKey(let subject, let bits): "the key of \(subject) has \(bits) bits, which is too short"
        case .weakSignature(let subject, let algorithm):
            "the certificate of \(subject) is signed with \(algorithm), which is too weak"
        case .unknownCriticalExtension(let subject):
            "the certificate of \(subject) has a critical extension that is not understood here"
        case .revoked(let subject, let date, let reason):
            "the certificate of \(subject) was revoked\(date.map { " on \($0)" } ?? "")\(reason.map { " (\($0))" } ?? "")"
        case .revocationUnknown(let subject, let problem):
            "nobody could say whether the certificate of \(subject) is revoked, and an answer is required: \(problem)"
        case .stapleMissing(let subject):
            "the certificate of \(subject) demands a stapled OCSP response, and the server sent none"
        case .certificateNotPinned(let expected, let found):
            "no certificate of the chain is pinned; expected one of \(TrustFailure.list(expected)), found "
                + "\(TrustFailure.list(found))"
        case .keyNotPinned(let expected, let found):
            "no key of the chain is pinned; expected one of \(TrustFailure.list(expected)), found "
                + "\(TrustFailure.list(found))"
        case .noPins: "there is no pin to compare the chain with"
        case .refused(let reason): "refused by the caller's own evaluation: \(reason)"
        case .invalidChain(let subject, let code, let reason):
            "the certificate of \(subject) does not hold: \(reason) (X509 error \(code))"
        }
    }

    /// Joins the first ten names, and adds the number of the others: a certificate of the peer may have any number of names.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(10).joined(separator: ", ")
        return names.count > 10 ? "\(shown) and \(names.count - 10) more" : names.isEmpty ? "none" : shown
    }
}
