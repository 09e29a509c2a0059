// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL
internal import Glibc
internal import Synchronization

/// Where the system keeps its trusted roots.
///
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` (a list with colons) replace every other place, as they do for OpenSSL; what they
/// name has to be there. Otherwise the first distribution's bundle that exists is taken, and last OpenSSL's own.
struct SystemRoots {
    /// `SSL_CERT_FILE`, when it is set and not empty.
    var file: String?
    /// The parts of `SSL_CERT_DIR`.
    var directories: [String] = []
    /// Bundles to look for, the first that can be opened is read.
    var bundles = SystemRoots.distributionBundles

    /// Debian and its kin; Fedora and its kin, old and new; SUSE; Alpine.
    static let distributionBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// As the process' environment says. `getenv` races with a `setenv` elsewhere; it is called once per process.
    static func fromEnvironment() -> SystemRoots {
        var roots = SystemRoots()
        roots.file = value(of: "SSL_CERT_FILE")
        roots.directories = (value(of: "SSL_CERT_DIR") ?? "").split(separator: ":").map(String.init)
        if let own = unsafe X509_get_default_cert_file() { unsafe roots.bundles.append(String(cString: own)) }
        return roots
    }

    /// What the process has read.
    final class Reading: Sendable {
        let index: Result<RootIndex, TrustRootsError>
        let name: String

        fileprivate init(_ roots: SystemRoots) {
            do throws(TrustRootsError) {
                let found = try RootSource.reading(roots.name) { () throws(TrustRootsError) in
                    try roots.load()
                }
                (index, name) = (.success(found.content), found.name)
            } catch { (index, name) = (.failure(error), roots.name) }
        }
    }

    private static let ofProcess = fromEnvironment()
    private static let published = AtomicLazyReference<Reading>()
    /// The roots as the process' environment says, read once.
    static let reading = published.storeIfNil(Reading(ofProcess))

    /// What tells them from others: their name as they were read; before that, as their files are now.
    static var name: String { published.load()?.name ?? ofProcess.name }

    /// What tells these roots from others: where they are read from, and the state of the files there.
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

    /// The certificates found. Blocks while it reads them.
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
                continue
            }
        }
        throw .noSystemRoots(tried: bundles)
    }

    private static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value),
            !text.isEmpty
        else { return nil }
        return text
    }
}
