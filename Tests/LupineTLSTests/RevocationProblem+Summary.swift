// SPDX-License-Identifier: MIT

@testable import LupineTLS

/// Returns the status that `body` returns, or the problem that it throws, as text for tables.
func summary(_ body: () throws(RevocationProblem) -> RevocationStatus) -> String {
    do throws(RevocationProblem) {
        switch try body() {
        case .good: return "good"
        case .revoked(let date, let reason): return "revoked \(date?.seconds ?? -1) \(reason ?? "-")"
        }
    } catch {
        return error.caseName
    }
}

extension RevocationProblem {
    /// The name of the case, with its status if it has one.
    var caseName: String {
        switch self {
        case .noSource: "noSource"
        case .notFetched: "notFetched"
        case .malformed: "malformed"
        case .responderRefused(let status): "responderRefused \(status)"
        case .badSignature: "badSignature"
        case .otherCertificate: "otherCertificate"
        case .outdated: "outdated"
        case .unknownCertificate: "unknownCertificate"
        case .tooLarge(let limit, _): "tooLarge \(limit)"
        case .unsupported: "unsupported"
        }
    }
}
