// SPDX-License-Identifier: MIT

/// The result of an evaluation, in the form of the older functions.
public enum SecTrustResultType: UInt32, Sendable {
    /// The trust was not evaluated since it was created or changed.
    case invalid = 0
    /// Trusted, because of an anchor that the program has set.
    case proceed = 1
    /// Refused by the user. The library does not use this value.
    case deny = 3
    /// Trusted, because of an anchor of the system.
    case unspecified = 4
    /// Not trusted for a reason that another anchor, date or name could remove.
    case recoverableTrustFailure = 5
    /// Not trusted, whatever anchor, date and name are used: a certificate is revoked or invalid.
    case fatalTrustFailure = 6
    /// The evaluation itself failed. The library does not use this value.
    case otherError = 7
}
