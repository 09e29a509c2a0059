// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL
internal import Glibc
internal import Synchronization

/// The locations of the system's trusted roots.
///
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` (a list separated by colons) replace all other locations, as with OpenSSL, and have to
/// exist. Otherwise the first existing bundle of a distribution is used, and last OpenSSL's default.
struct SystemRoots {
    /// `SSL_CERT_FILE`, when it is set and not empty.
    var file: String?
    /// The parts of `SSL_CERT_DIR`.
    var directories: [String] = []
    /// The bundles to try; the first that can be opened is read.
    var bundles = SystemRoots.distributionBundles

    /// Debian and derivatives; Fedora and derivatives, old and new; SUSE; Alpine.
    static let distributionBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Returns the locations that the process's environment names. `getenv` races with `setenv` in other code, so this is called
    /// once per process.
    static func fromEnvironment() -> SystemRoots {
        var roots = SystemRoots()
        roots.file = value(of: "SSL_CERT_FILE")
        roots.directories = (value(of: "SSL_CERT_DIR") ?? "").split(separator: ":").map(String.init)
        if let bundle = unsafe X509_get_default_cert_file() {
            unsafe roots.bundles.append(String(cString: bundle))
        }
        return roots
    }

    /// The result of reading the system's roots.
    final class ReadResult: Sendable {
        let index: Result<RootIndex, TrustRootsError>
        /// The roots' name (`SystemRoots.name`, a fingerprint of their files) while they were read.
        let name: String

        fileprivate init(_ roots: SystemRoots) {
            do throws(TrustRootsError) {
                let found = try RootSource.readConsistently(roots.name) { () throws(TrustRootsError) in
                    try roots.load()
                }
                (index, name) = (.success(found.content), found.name)
            } catch { (index, name) = (.failure(error), roots.name) }
        }
    }

    private static let environmentRoots = fromEnvironment()
    /// Contains `shared` once it has been read, so that `name` can look without causing the reading.
    private static let sharedIfRead = AtomicLazyReference<ReadResult>()
    /// The roots that the process's environment names. The first access reads them, and blocks.
    static let shared = sharedIfRead.storeIfNil(ReadResult(environmentRoots))

    /// Identifies the process's roots: the name at the time they were read; before that, the current name.
    static var name: String { sharedIfRead.load()?.name ?? environmentRoots.name }

    /// Identifies these roots: by their locations and the state of the files there.
    var name: String {
        var parts: [String] = []
        if file != nil || !directories.isEmpty {
            parts = [file.map(CertificateFile.version) ?? ""]
            parts += directories.flatMap { ["directory"] + CertificateFile.version(folder: $0) }
        } else {
            parts = bundles.map(CertificateFile.version)
        }
        return SHA256Digest.of(Array(parts.joined(separator: "\0").utf8)).description
    }

    /// Reads the certificates. Blocks.
    func load() throws(TrustRootsError) -> RootIndex {
        var reader = RootReader()
        if file != nil || !directories.isEmpty {
            if let file { try reader.read(file: file) }
            for directory in directories { try reader.read(folder: directory) }
            return reader.index
        }
        for bundle in bundles {
            do throws(TrustRootsError) {
                try reader.read(file: bundle)
                return reader.index
            } catch .unusable(_, .unreadable) {
                // The file does not exist on this distribution.
                continue
            }
        }
        throw .noSystemRoots(tried: bundles)
    }

    /// The value of an environment variable; nil if it is not set, empty or not UTF-8.
    private static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value),
            !text.isEmpty
        else { return nil }
        return text
    }
}
