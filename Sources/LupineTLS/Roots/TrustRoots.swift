// SPDX-License-Identifier: MIT

/// Describes which certificates are trusted without further proof.
///
/// Only a description: creating it reads no file. A `TrustStore` that is created from it reads the files on first use.
public struct TrustRoots: Sendable, Hashable {
    /// Whether the system's roots are used: `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the distribution's bundle, else OpenSSL's
    /// default.
    public var includesSystem: Bool
    /// PEM bundles to read.
    public var files: [String]
    /// Directories whose PEM and DER files are read.
    public var directories: [String]
    /// Further trusted certificates, which need not be self-signed.
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

    /// Identifies these roots. Equal roots have the same name in all processes.
    ///
    /// The name is a digest of this description and of the state of the files, so that it changes when a file is replaced. If the
    /// process has read the system's roots, their state is that at the time of reading. Blocks to query the state of each file,
    /// but reads no file.
    package var name: String {
        if isPlainSystem { return SystemRoots.name }
        var descriptions = [includesSystem ? SystemRoots.name : ""]
        descriptions += files.sorted().map { "file " + CertificateFile.version($0) }
        descriptions += directories.sorted().flatMap { ["directory"] + CertificateFile.version(folder: $0) }
        descriptions += certificates.map(\.fingerprint.description).sorted()
        return SHA256Digest.of(Array(descriptions.joined(separator: "\0").utf8)).description
    }

    /// Whether these are the system's roots and no others.
    var isPlainSystem: Bool {
        includesSystem && files.isEmpty && directories.isEmpty && certificates.isEmpty
    }
}
