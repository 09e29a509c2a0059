// SPDX-License-Identifier: MIT

/// What an issuer says about a certificate.
enum RevocationStatus: Sendable, Hashable {
    case good
    case revoked(at: UnixTime?, reason: String?)
}
