// SPDX-License-Identifier: MIT

/// The reason why a request could not be authenticated.
public enum AuthenticationError: Error {
    /// There is no credential.
    case missingCredential
    /// The credential was refreshed too often within the refresh window.
    case excessiveRefresh
}
