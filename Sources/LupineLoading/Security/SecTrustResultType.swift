// SPDX-License-Identifier: MIT

/// The result of an evaluation, in the form of the older functions.
public enum SecTrustResultType: UInt32, Sendable {
    /// There was no evaluation since the trust was created or changed.
    case invalid = 0
    /// Trusted, because of an anchor that the program has set.
    case proceed = 1
    /// Refused by the user. Not used here.
    case deny = 3
    /// Trusted, because of an anchor of the system.
    case unspecified = 4
    /// Not trusted for a reason that another anchor, date or name could remove.
    case recoverableTrustFailure = 5
    /// Not trusted, without a remedy: a certificate is revoked or invalid.
    case fatalTrustFailure = 6
    /// The evaluation itself failed. Not used here.
    case otherError = 7
}
