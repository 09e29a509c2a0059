// SPDX-License-Identifier: MIT

/// The revocation status of a certificate.
enum RevocationStatus: Sendable, Hashable {
    case good
    case revoked(at: UnixTime?, reason: String?)

    /// The name of a reason code (RFC 5280 §5.3.1); nil for a negative code, which means that there is none.
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

    /// Creates a window from the times of an answer, extended by the skew; without nextUpdate the answer is valid for a day.
    init(from begin: UnixTime, until end: UnixTime?) throws(RevocationProblem) {
        if let end, end < begin { throw .malformed }
        from = begin.adding(-OCSPResponse.clockSkew)
        until = (end ?? begin.adding(OCSPResponse.defaultValidity)).adding(OCSPResponse.clockSkew)
    }

    func contains(_ time: UnixTime) -> Bool { from <= time && time <= until }
}
