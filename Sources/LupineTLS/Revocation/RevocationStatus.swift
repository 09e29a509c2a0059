// SPDX-License-Identifier: MIT

/// The revocation status of a certificate.
enum RevocationStatus: Sendable, Hashable {
    /// The certificate is not revoked.
    case good
    /// The issuer has revoked the certificate. The reason is the name of its code.
    case revoked(at: UnixTime?, reason: String?)

    /// Returns the name of a reason code (RFC 5280 §5.3.1); nil for a negative code, which means that there is none.
    static func reason(_ code: Int) -> String? {
        switch code {
        case ..<0: nil
        case 0: "unspecified"
        case 1: "keyCompromise"
        case 2: "cACompromise"
        case 3: "affiliationChanged"
        case 4: "superseded"
        case 5: "cessationOfOperation"
        case 6: "certificateHold"
        case 8: "removeFromCRL"
        case 9: "privilegeWithdrawn"
        case 10: "aACompromise"
        default: "reason \(code)"
        }
    }
}

/// The period in which a signed answer is valid.
struct RevocationValidity: Sendable, Hashable {
    let from: UnixTime
    let until: UnixTime

    /// Creates the validity from the times of an answer, thisUpdate and nextUpdate. Without nextUpdate the answer is valid for
    /// `OCSPResponse.defaultValidity`. `OCSPResponse.clockSkew` extends the period at both ends.
    init(from start: UnixTime, until end: UnixTime?) throws(RevocationProblem) {
        if let end, end < start { throw .malformed }
        from = start.adding(-OCSPResponse.clockSkew)
        until = (end ?? start.adding(OCSPResponse.defaultValidity)).adding(OCSPResponse.clockSkew)
    }

    /// Whether the answer is valid at this time.
    func contains(_ time: UnixTime) -> Bool { from <= time && time <= until }
}
