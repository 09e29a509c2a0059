// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL
internal import Glibc
internal import Synchronization

/// The locations of the system's trusted roots.
///
/// The environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR` (a list separated by colons) replace all other locations, as with
/// OpenSSL; the files have to exist. Without them, the first existing bundle of a Linux distribution is used, or else OpenSSL's
/// default bundle.
struct SystemRoots {
    /// `SSL_CERT_FILE`, when it is set and not empty.
    var file: String?
    /// The paths in `SSL_CERT_DIR`.
    var directories: [String] = []
    /// The bundles to try; the first that can be opened is read.
    var bundles = SystemRoots.distributionBundles

    /// The bundles of Debian and its derivatives, of Fedora and its derivatives (an old and a new path), of SUSE and of Alpine.
    static let distributionBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Returns the locations according to the process's environment. It is called only once per process, because `getenv` races
    /// with `setenv` in other code.
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
        /// The name that the roots had when they were read (`SystemRoots.name`, a digest of the state of their files).
        let name: String

        fileprivate init(_ roots: SystemRoots) {
            do throws(TrustRootsError) {
                // `roots.name` is an autoclosure, evaluated repeatedly to notice a change of the files.
                let result = try RootSource.readConsistently(roots.name) { () throws(TrustRootsError) in
                    try roots.load()
                }
                (index, name) = (.success(result.content), result.name)
            } catch { (index, name) = (.failure(error), roots.name) }
        }
    }

    /// The locations according to the process's environment, which is read once.
    private static let environmentRoots = fromEnvironment()
    /// Contains the same object as `shared` once the roots have been read. Unlike `shared`, it can be accessed without reading
    /// them.
    private static let sharedIfRead = AtomicLazyReference<ReadResult>()
    /// The result of reading the process's roots. The first access reads them, and blocks.
    static let shared = sharedIfRead.storeIfNil(ReadResult(environmentRoots))

    /// Identifies the process's roots. Before they are read, this is the current name; afterwards, the name that they had when
    /// they were read.
    static var name: String { sharedIfRead.load()?.name ?? environmentRoots.name }

    /// Identifies these roots by a digest of their locations and of the state of the files there.
    var name: String {
        var descriptions: [String] = []
        if file != nil || !directories.isEmpty {
            descriptions = [file.map(CertificateFile.version) ?? ""]
            descriptions += directories.flatMap { ["directory"] + CertificateFile.version(folder: $0) }
        } else {
            descriptions = bundles.map(CertificateFile.version)
        }
        return SHA256Digest.of(Array(descriptions.joined(separator: "\0").utf8)).description
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
                // Usually the file does not exist, because it is that of another distribution.
                continue
            }
        }
        throw .noSystemRoots(tried: bundles)
    }

    /// Returns the value of an environment variable; nil if it is not set, empty or not UTF-8.
    private static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value),
            !text.isEmpty
        else { return nil }
        return text
    }
}
