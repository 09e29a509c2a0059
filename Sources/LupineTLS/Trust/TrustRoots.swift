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

    /// Whether it asks for the system's roots and for nothing else.
    var isPlainSystem: Bool {
        includesSystem && files.isEmpty && directories.isEmpty && certificates.isEmpty
    }
}

/// Why roots could not be loaded. A store is never silently empty or half filled.
public enum TrustRootsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be opened or read.
    case unreadable(path: String, reason: String)
    /// A certificate of the file, counted from one, is broken.
    case malformed(path: String, certificate: Int, reason: String)
    /// The file or directory holds no certificate.
    case empty(path: String)
    /// The system has no roots at any of these places.
    case noSystemRoots(tried: [String])

    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "trusted roots in \(path) cannot be read: \(reason)"
        case .malformed(let path, let number, let reason):
            "certificate \(number) of the trusted roots in \(path) is malformed: \(reason)"
        case .empty(let path): "\(path) holds no certificate that could be trusted"
        case .noSystemRoots(let tried):
            "this system has no trusted roots (looked at \(tried.joined(separator: ", "))); install its "
                + "ca-certificates package, set SSL_CERT_FILE, or give roots in the configuration"
        }
    }
}
