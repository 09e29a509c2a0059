// SPDX-License-Identifier: MIT

/// The reason why a request could not be authenticated.
public enum AuthenticationError: Error {
    /// There is no credential.
    case missingCredential
    /// A refresh was needed, but the limit of `AuthenticationInterceptor.RefreshWindow` was already reached.
    case excessiveRefresh
}
