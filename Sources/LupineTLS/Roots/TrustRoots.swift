// SPDX-License-Identifier: MIT

/// Describes which certificates are trusted without further proof.
///
/// Only a description: nothing is read before a `TrustStore` is created from it.
public struct TrustRoots: Sendable, Hashable {
    /// Whether the system's roots are used: `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the distribution's bundle, else OpenSSL's
    /// default.
    public var includesSystem: Bool
    /// PEM bundles to read.
    public var files: [String]
    /// Directories whose PEM and DER files are read.
    public var directories: [String]
    /// Certificates that are given directly; they need not be self-signed.
    public var certificates: [Certificate]

    /// Creates a description.
    public init(
        includesSystem: Bool = true, files: [String] = [], directories: [String] = [],
        certificates: [Certificate] = []
    ) {
        self.includesSystem = includesSystem
        self.files = files
        self.directories = directories
        self.certificates = certificates
    }

    /// The system's roots.
    public static let system = TrustRoots()
    /// No roots: every chain is refused, unless an evaluator sets its own anchors.
    public static let none = TrustRoots(includesSystem: false)

    /// Only these certificates.
    public static func certificates(_ certificates: [Certificate]) -> TrustRoots {
        TrustRoots(includesSystem: false, certificates: certificates)
    }

    /// Identifies these roots, in other processes too.
    ///
    /// A digest of this description and of the state of its files, so that it changes when a file is replaced. For the system's
    /// roots, the state is that of the time they were read, if they have been. Blocks to query the state of each file, but reads
    /// no file.
    package var name: String {
        if isPlainSystem { return SystemRoots.name }
        var parts = [includesSystem ? SystemRoots.name : ""]
        parts += files.sorted().map { "file " + CertificateFile.version($0) }
        parts += directories.sorted().flatMap { ["directory"] + CertificateFile.version(folder: $0) }
        parts += certificates.map(\.fingerprint.description).sorted()
        return SHA256Digest.of(parts.joined(separator: "\0").utf8.map { $0 }).description
    }

    /// Whether it describes the system's roots and nothing else.
    var isPlainSystem: Bool {
        includesSystem && files.isEmpty && directories.isEmpty && certificates.isEmpty
    }
}
