// SPDX-License-Identifier: MIT

/// The reason why roots could not be loaded. If one of the configured files or folders cannot be read, none of the configured
/// roots are used.
public enum TrustRootsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A bundle or directory of the configuration cannot be read, or has invalid contents.
    case unusable(path: String, CertificateError)
    /// The directory contains no certificate.
    case empty(path: String)
    /// The system has no roots at any of these locations.
    case noSystemRoots(tried: [String])

    public var description: String {
        switch self {
        case .unusable(let path, let error): "the trusted roots in \(path) cannot be used: \(error)"
        case .empty(let path): "\(path) holds no certificate that could be trusted"
        case .noSystemRoots(let tried):
            "this system has no trusted roots (looked at \(tried.joined(separator: ", "))); install its "
                + "ca-certificates package, set SSL_CERT_FILE, or give roots in the configuration"
        }
    }
}
