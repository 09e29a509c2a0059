// SPDX-License-Identifier: MIT

/// Which certificates are trusted without further proof.
public struct TrustRoots: Sendable {
    /// Those of the system: `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the distribution's bundle, else OpenSSL's own default.
    public var includesSystem: Bool
    /// PEM bundles to read.
    public var files: [String]
    /// Certificates given as they are; they need not be self-signed.
    public var certificates: [Certificate]

    /// A set of roots.
    public init(includesSystem: Bool = true, files: [String] = [], certificates: [Certificate] = []) {
        self.includesSystem = includesSystem
        self.files = files
        self.certificates = certificates
    }

    /// The system's.
    public static let system = TrustRoots()
}
