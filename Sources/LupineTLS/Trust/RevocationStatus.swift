// SPDX-License-Identifier: MIT

/// What an issuer says about a certificate.
enum RevocationStatus: Sendable, Hashable {
    case good
    case revoked(at: UnixTime?, reason: String?)

    /// The name of a reason (RFC 5280 §5.3.1); nil when none is given.
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

/// From when until when a signed answer counts.
struct RevocationWindow: Sendable, Hashable {
    let from: UnixTime
    let until: UnixTime

    /// The times of an answer, widened by the skew; without the next update it counts for a day.
    init(from begin: UnixTime, until end: UnixTime?) throws(RevocationProblem) {
        if let end, end < begin { throw .malformed }
        from = begin.adding(-OCSPAnswer.skew)
        until = (end ?? begin.adding(OCSPAnswer.ageWithoutNextUpdate)).adding(OCSPAnswer.skew)
    }

    func contains(_ time: UnixTime) -> Bool { from <= time && time <= until }
}
