// SPDX-License-Identifier: MIT

/// Why a request could not be authenticated.
public enum AuthenticationError: Error {
    /// There is no credential.
    case missingCredential
    /// The credential was refreshed too often in too short a time.
    case excessiveRefresh
}
