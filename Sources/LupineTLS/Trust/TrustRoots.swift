// SPDX-License-Identifier: MIT

/// Which certificates are trusted without further proof.
///
/// A description and no more: nothing is read before a `TrustStore` is made of it.
public struct TrustRoots: Sendable, Hashable {
    /// Those of the system: `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the distribution's bundle, else OpenSSL's own default.
    public var includesSystem: Bool
    /// PEM bundles to read.
    public var files: [String]
    /// Directories whose PEM and DER files are read.
    public var directories: [String]
    /// Certificates given as they are; they need not be self-signed.
    public var certificates: [Certificate]

    /// A set of roots.
    public init(
        includesSystem: Bool = true, files: [String] = [], directories: [String] = [],
        certificates: [Certificate] = []
    ) {
        self.includesSystem = includesSystem
        self.files = files
        self.directories = directories
        self.certificates = certificates
    }

    /// The system's.
    public static let system = TrustRoots()
    /// None at all: every chain is refused, unless an evaluator brings anchors of its own.
    public static let none = TrustRoots(includesSystem: false)

    /// Nothing but these certificates.
    public static func certificates(_ certificates: [Certificate]) -> TrustRoots {
        TrustRoots(includesSystem: false, certificates: certificates)
    }

    /// What tells these roots from others, also in another process: a digest of which they are, and of the state of their files, so
    /// that it is another one when a file has been replaced; the system's as they were read, if they have been. It blocks for a look
    /// at each file; none is read.
    package var name: String {
        if isPlainSystem { return SystemRoots.name }
        var parts = [includesSystem ? SystemRoots.name : ""]
        parts += files.sorted().map { "file " + CertificateFile.version($0) }
        parts += directories.sorted().flatMap { ["directory"] + CertificateFile.version(folder: $0) }
        parts += certificates.map(\.fingerprint.description).sorted()
        return SHA256Digest.of(parts.joined(separator: "\0").utf8.map { $0 }).description
    }

    /// Whether it asks for the system's roots and for nothing else.
    var isPlainSystem: Bool {
        includesSystem && files.isEmpty && directories.isEmpty && certificates.isEmpty
    }
}
