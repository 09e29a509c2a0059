// SPDX-License-Identifier: MIT

/// What an evaluation has come to, as the older functions tell it.
public enum SecTrustResultType: UInt32, Sendable {
    /// There has been no evaluation since the trust was made or changed.
    case invalid = 0
    /// Trusted, because of an anchor that the program has set.
    case proceed = 1
    /// Refused by the user. Never said here.
    case deny = 3
    /// Trusted, because of an anchor of the system.
    case unspecified = 4
    /// Not trusted for a reason that another anchor, date or name could remove.
    case recoverableTrustFailure = 5
    /// Not trusted, and nothing helps: revoked, or a certificate that does not hold.
    case fatalTrustFailure = 6
    /// The evaluation itself has failed. Never said here.
    case otherError = 7
}
